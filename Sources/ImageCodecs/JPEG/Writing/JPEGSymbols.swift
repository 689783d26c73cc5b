/// What the entropy coder writes, as it comes: symbols and the bits that follow each (T.81 F.1.2), and how often each
/// occurs, which makes the codes that they are written in.
struct JPEGSymbols {
    /// The code of a symbol: of four, each of 256 symbols.
    enum Table {
        static let count = 4
        @inline(__always)
        static func dc(_ component: Int) -> UInt32 { component == 0 ? 0 : 512 }
        @inline(__always)
        static func ac(_ component: Int) -> UInt32 { component == 0 ? 256 : 768 }
    }

    /// From the lowest bit: 8 bits of symbol, 2 of table, 6 free, 16 of what follows the code, as many of which count as
    /// the symbol's lowest four bits say.
    private(set) var tokens: [UInt32]
    private(set) var count = 0
    /// Of each table's symbols, how often they occur.
    private(set) var frequencies = [UInt32](repeating: 0, count: Table.count * 256)
    /// The last DC coefficient of each component.
    private var predictions: [Int32] = [0, 0, 0]

    /// - Parameter blocks: how many blocks there will be. Of most pictures each has fewer than ten tokens.
    init(blocks: Int) { tokens = [UInt32](repeating: 0, count: blocks * 10) }

    /// The tokens that a block may have: each coefficient, runs of zeros, its end.
    static let mostOfBlock = 68

    /// Makes room for so many more blocks.
    mutating func reserve(blocks: Int) {
        let needed = count + blocks * Self.mostOfBlock
        if needed > tokens.count {
            tokens.append(contentsOf: repeatElement(0, count: max(needed - tokens.count, tokens.count / 2)))
        }
    }

    /// Adds a block beyond the picture's edge: as the one before it, without any coefficient but the first.
    mutating func addEmptyBlock(of component: Int) {
        add(Table.dc(component))
        add(Table.ac(component))
    }

    private mutating func add(_ token: UInt32) {
        tokens[count] = token
        frequencies[Int(token & 1023)] += 1
        count += 1
    }

    /// Adds a block; `positions` has a bit for each coefficient that is not zero, in zigzag order. There must be room.
    mutating func add(_ coefficients: Span<Int16>, positions: UInt64, of component: Int) {
        let dc = Int32(coefficients[0])
        let difference = dc &- predictions[component]
        predictions[component] = dc
        count = Self.append(
            coefficients, positions, difference: difference, dc: Table.dc(component), ac: Table.ac(component),
            to: &tokens, at: count, &frequencies, Self.magnitudes.span)
    }

    /// Appends a block's tokens, and answers where the next one's begin.
    @inline(never)
    private static func append(
        _ coefficients: Span<Int16>, _ positions: UInt64, difference: Int32, dc: UInt32,
        ac: UInt32,
        to allTokens: inout [UInt32], at start: Int, _ allFrequencies: inout [UInt32],
        _ magnitudes: Span<UInt32>
    ) -> Int {
        var tokens = allTokens.mutableSpan
        var frequencies = allFrequencies.mutableSpan
        precondition(start >= 0 && start <= tokens.count - mostOfBlock && frequencies.count == 1024)
        precondition(coefficients.count == 64 && magnitudes.count == 4096)
        var next = start
        let first = magnitudes[Int(truncatingIfNeeded: difference &+ 2048) & 4095] | dc
        tokens[next] = first
        frequencies[Int(truncatingIfNeeded: first & 1023)] &+= 1
        next &+= 1

        var rest = positions & ~1
        var last = 0
        while rest != 0 {
            let position = rest.trailingZeroBitCount
            rest &= rest &- 1
            var run = position &- last &- 1
            last = position
            if run > 15 {
                for _ in 0..<run &>> 4 {
                    tokens[next] = ac | 0xF0
                    next &+= 1
                }
                frequencies[Int(truncatingIfNeeded: ac | 0xF0) & 1023] &+= UInt32(
                    truncatingIfNeeded: run &>> 4)
                run &= 15
            }
            let value = Int(coefficients[Int(Zigzag.natural[position & 63]) & 63])
            let token =
                magnitudes[(value &+ 2048) & 4095] | ac | UInt32(truncatingIfNeeded: run) &<< 4
            tokens[next] = token
            frequencies[Int(truncatingIfNeeded: token & 1023)] &+= 1
            next &+= 1
        }
        if last < 63 {
            tokens[next] = ac
            frequencies[Int(truncatingIfNeeded: ac & 1023)] &+= 1
            next &+= 1
        }
        return next
    }

    /// Of each value from -2048 to 2047 the token of a symbol with as many bits as it has, and these bits, of negative ones
    /// those of one less (T.81 F.1.2.1.1).
    private static let magnitudes: [UInt32] = (-2048..<2048).map { value in
        let length = UInt32(Int.bitWidth - abs(value).leadingZeroBitCount)
        let bits = UInt32(truncatingIfNeeded: value < 0 ? value - 1 : value) & (1 << length - 1)
        return bits << 16 | length
    }
}
