/// Encodes the tokens of a scan as bits (T.81 F.1.2).
enum JPEGEntropyWriter {
    /// Assembles a file: the header, the scan with padding ones and a zero stuffed after each 0xFF (T.81 F.1.2.3), and
    /// EOI.
    ///
    /// - Parameter codes: the code of each table, in table order.
    static func file(
        _ header: [UInt8], _ symbols: borrowing JPEGSymbols, codes: [JPEGHuffmanCode]
    ) -> [UInt8] {
        // For each symbol its code, shifted for the bits that follow it, and the total number of bits.
        var entries = [UInt32](repeating: 0, count: codes.count * 256)
        var lengths = [UInt8](repeating: 0, count: codes.count * 256)
        let frequencies = symbols.frequencies
        var bits = 0
        for (table, code) in codes.enumerated() {
            code.forEach { symbol, code, length in
                let (index, following) = (table * 256 + symbol, UInt32(symbol & 15))
                entries[index] = code << following
                lengths[index] = UInt8(length + following)
                bits += Int(frequencies[index]) * Int(length + following)
            }
        }
        var bytes = [UInt8](repeating: 0, count: bits / 8 + 16)
        var output = bytes.mutableSpan
        let end = write(
            symbols.tokens.span.extracting(first: symbols.count), entries.span, lengths.span, into: &output)
        return file(header, bytes.span.extracting(first: end))
    }

    /// Writes the bits and returns the number of bytes.
    private static func write(
        _ tokens: Span<UInt32>, _ entries: Span<UInt32>, _ lengths: Span<UInt8>,
        into bytes: inout MutableSpan<UInt8>
    ) -> Int {
        precondition(entries.count == 1024 && lengths.count == 1024)
        // The lowest `count` bits of `bits` are not stored yet.
        var bits: UInt64 = 0
        var count: UInt64 = 0
        var position = 0
        // Two tokens at a time have at most 54 bits, beside fewer than 8 from before.
        for pair in 0..<tokens.count &>> 1 {
            let two = tokens.extracting(pair &<< 1..<pair &<< 1 &+ 2)
            append(two[0], entries, lengths, &bits, &count)
            append(two[1], entries, lengths, &bits, &count)
            bytes.storeBigEndian(bits &<< (64 &- count), at: position)
            position &+= Int(truncatingIfNeeded: count &>> 3)
            count &= 7
        }
        if tokens.count % 2 == 1 { append(tokens[tokens.count - 1], entries, lengths, &bits, &count) }
        // Pad the last byte with ones.
        bits = bits << (64 - count) | UInt64.max >> count
        bytes.storeBigEndian(bits, at: position)
        return position + Int(count + 7) / 8
    }

    @inline(__always)
    private static func append(
        _ token: UInt32, _ entries: Span<UInt32>, _ lengths: Span<UInt8>, _ bits: inout UInt64,
        _ count: inout UInt64
    ) {
        let symbol = JPEGSymbols.symbol(token)
        let length = UInt64(lengths[symbol])
        bits = bits &<< length | UInt64(entries[symbol] | token & 0xFFFF)
        count &+= length
    }

    @inline(never)
    private static func file(_ header: [UInt8], _ bytes: Span<UInt8>) -> [UInt8] {
        let start = header.count
        var file = header
        file.append(contentsOf: repeatElement(0, count: bytes.count + bytesAllOnes(bytes) + 2))
        var output = file.mutableSpan
        var target = start
        let words = bytes.count / 8
        for index in 0..<words {
            let word = bytes.bigEndianWord(at: index &* 8)
            if !EntropyBits.hasMarkerByte(word) {
                output.storeBigEndian(word, at: target)
                target &+= 8
                continue
            }
            for lane in 0..<8 {
                let byte = UInt8(truncatingIfNeeded: word &>> UInt64(56 &- 8 &* lane))
                output[target] = byte
                target &+= byte == 255 ? 2 : 1
            }
        }
        for index in words * 8..<bytes.count {
            output[target] = bytes[index]
            target += bytes[index] == 255 ? 2 : 1
        }
        output[target] = 0xFF
        output[target + 1] = 0xD9
        return file
    }

    /// The number of bytes that are 0xFF.
    private static func bytesAllOnes(_ bytes: Span<UInt8>) -> Int {
        var total = 0
        let words = bytes.count / 8
        for index in 0..<words {
            let word = bytes.littleEndianWord(at: index &* 8)
            guard EntropyBits.hasMarkerByte(word) else { continue }
            for lane in 0..<8 where word &>> UInt64(8 &* lane) & 255 == 255 { total &+= 1 }
        }
        for index in words * 8..<bytes.count where bytes[index] == 255 { total += 1 }
        return total
    }
}

extension MutableSpan<UInt8> {
    @inline(__always)
    fileprivate mutating func storeBigEndian(_ word: UInt64, at index: Int) {
        precondition(index >= 0 && index <= count - 8)
        for lane in 0..<8 {
            let shift = UInt64(truncatingIfNeeded: 56 &- 8 &* lane)
            self[index &+ lane] = UInt8(truncatingIfNeeded: word &>> shift)
        }
    }
}

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
