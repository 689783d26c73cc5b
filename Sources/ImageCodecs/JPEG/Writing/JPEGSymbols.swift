/// Collects the symbols and extra bits to encode (T.81 F.1.2), and the frequencies of symbols, which determine the
/// Huffman codes.
struct JPEGSymbols {
    /// The four Huffman tables of 256 symbols.
    enum Table {
        static let count = 4
        @inline(__always)
        static func dc(_ component: Int) -> UInt32 { component == 0 ? 0 : 2 }
        @inline(__always)
        static func ac(_ component: Int) -> UInt32 { component == 0 ? 1 : 3 }
    }

    /// From the lowest bit: 16 extra bits, 6 unused bits, 8 bits of symbol and 2 of table. The symbol's lowest four
    /// bits are the number of extra bits.
    private(set) var tokens: [UInt32] = []
    private(set) var count = 0
    /// The frequencies of each table's symbols.
    private(set) var frequencies = [UInt32](repeating: 0, count: Table.count * 256)
    /// The previous DC coefficient of each component.
    private var predictions: InlineArray<3, Int32> = [0, 0, 0]
    private let magnitudes = Self.magnitudes

    /// The index of a token's symbol among those of all tables.
    @inline(__always)
    static func symbol(_ token: UInt32) -> Int { Int(truncatingIfNeeded: token &>> 22) }

    /// The most tokens of a block: each coefficient, runs of zeros, end of block.
    private static let maximumBlockTokens = 68

    /// Reserves memory for the usual number of tokens in one piece of at least 160 kB, whose pages the system provides
    /// on first use. glibc raises its mmap threshold when such a piece is freed, and below twice that size it then
    /// keeps freed memory. With smaller pieces it returned the memory after every image, and page faults took a third
    /// of the time of a small one.
    init(blocks: Int) {
        tokens.reserveCapacity(max(blocks * 16, 40_960))
    }

    /// Makes room for more blocks.
    private mutating func reserve(blocks: Int) {
        let needed = count + blocks * Self.maximumBlockTokens
        guard needed > tokens.count else { return }
        tokens.append(contentsOf: repeatElement(0, count: needed + count / 8 - tokens.count))
    }

    /// Adds a row of MCUs, with one block for each of `components`. `transform` produces a block and returns a bit for
    /// each nonzero coefficient, in zigzag order. It returns nil for a block outside the image, which repeats the
    /// previous DC coefficient and has no AC coefficients.
    @inline(__always)
    mutating func addRow(
        units: Int, components: [Int],
        _ transform: (_ unit: Int, _ part: Int, inout CoefficientBlock) -> UInt64?
    ) {
        reserve(blocks: units * components.count)
        let magnitudes = magnitudes
        count = Self.add(
            units: units, components, transform, to: &tokens, at: count, &frequencies, &predictions,
            magnitudes.span)
    }

    @inline(__always)
    private static func add(
        units: Int, _ components: [Int],
        _ transform: (_ unit: Int, _ part: Int, inout CoefficientBlock) -> UInt64?,
        to allTokens: inout [UInt32], at start: Int, _ allFrequencies: inout [UInt32],
        _ allPredictions: inout InlineArray<3, Int32>, _ magnitudes: Span<UInt32>
    ) -> Int {
        var tokens = allTokens.mutableSpan
        var frequencies = allFrequencies.mutableSpan
        var predictions = allPredictions
        var block = CoefficientBlock(repeating: 0)
        var next = start
        for unit in 0..<units {
            for part in 0..<components.count {
                let component = components[part]
                let positions = transform(unit, part, &block)
                var difference: Int32 = 0
                if positions != nil {
                    difference = Int32(block[0]) &- predictions[component]
                    predictions[component] = Int32(block[0])
                }
                next = append(
                    block.span, positions ?? 0, difference: difference, dc: Table.dc(component),
                    ac: Table.ac(component), to: &tokens, at: next, &frequencies, magnitudes)
            }
        }
        allPredictions = predictions
        return next
    }

    /// Appends the tokens of a block and returns the end of them.
    @inline(__always)
    private static func append(
        _ coefficients: Span<Int16>, _ positions: UInt64, difference: Int32, dc: UInt32, ac: UInt32,
        to tokens: inout MutableSpan<UInt32>, at start: Int, _ frequencies: inout MutableSpan<UInt32>,
        _ magnitudes: Span<UInt32>
    ) -> Int {
        precondition(start >= 0 && start <= tokens.count - maximumBlockTokens && frequencies.count == 1024)
        precondition(coefficients.count == 64 && magnitudes.count == 4096)
        var next = start
        let first = magnitudes[Int(truncatingIfNeeded: difference) & 4095] | dc &<< 30
        tokens[next] = first
        frequencies[symbol(first)] &+= 1
        next &+= 1

        let table = ac &<< 30
        var rest = positions & ~1
        var last = 0
        while rest != 0 {
            let position = rest.trailingZeroBitCount
            rest &= rest &- 1
            var run = position &- last &- 1
            last = position
            if run > 15 {
                let sixteen = table | 0xF0 &<< 22
                for _ in 0..<run &>> 4 {
                    tokens[next] = sixteen
                    next &+= 1
                }
                frequencies[symbol(sixteen)] &+= UInt32(truncatingIfNeeded: run &>> 4)
                run &= 15
            }
            let value = Int(coefficients[Int(ForwardDCT.places[position & 63]) & 63])
            let token = magnitudes[value & 4095] | table | UInt32(truncatingIfNeeded: run) &<< 26
            tokens[next] = token
            frequencies[symbol(token)] &+= 1
            next &+= 1
        }
        if last < 63 {
            tokens[next] = table
            frequencies[symbol(table)] &+= 1
            next &+= 1
        }
        return next
    }

    /// The token for each value from 0 to 2047, then from -2048 to -1: the number of bits as the symbol, and the bits,
    /// for negative values those of the value minus 1 (T.81 F.1.2.1.1).
    private static let magnitudes: [UInt32] = (0..<4096).map { index in
        let value = index < 2048 ? index : index - 4096
        let length = UInt32(Int.bitWidth - abs(value).leadingZeroBitCount)
        let bits = UInt32(truncatingIfNeeded: value < 0 ? value - 1 : value) & (1 << length - 1)
        return length << 22 | bits
    }
}
