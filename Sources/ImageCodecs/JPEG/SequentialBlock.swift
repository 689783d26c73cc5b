/// Decodes one block of a sequential scan (T.81 F.2.2): the difference to the previous DC coefficient, then runs of
/// zeros and coefficients.
enum SequentialBlock {
    /// The coding of a component's blocks.
    struct Coding {
        let dc: JPEGHuffmanTable
        let ac: JPEGHuffmanTable
        let dequantiser: Dequantiser
    }

    private typealias Entry = JPEGHuffmanTable.Entry

    /// Decodes and dequantises a block, which must be zero before. Returns the bitwise or of its coefficients'
    /// positions, for the transform; negative for an invalid code or too many coefficients.
    ///
    /// Not inlined, so that the compiler keeps all values in registers.
    @inline(never)
    static func decode(
        _ block: inout CoefficientBlock, _ reader: inout EntropyBits, _ file: Span<UInt8>, _ coding: Coding,
        _ prediction: inout Int32
    ) -> Int32 {
        var bits = reader
        defer { reader = bits }
        let (ac, dequantiser) = (coding.ac.entries.span, coding.dequantiser.entries.span)
        guard decodeFirst(&bits, file, coding.dc.entries.span, &prediction) else { return -1 }
        var positions = Dequantiser.store(prediction, at: 0, in: &block, dequantiser)
        var index = 0
        while index < 63 {
            bits.refill(from: file)
            var entry = ac[bits.peek(JPEGHuffmanTable.rootBits)]
            if Entry.hasCoefficient(entry) {
                bits.skip(Entry.length(entry))
                index &+= Entry.advance(entry)
                positions |= Dequantiser.store(Entry.coefficient(entry), at: index, in: &block, dequantiser)
                continue
            }
            if entry & 0xFF == Entry.secondLevel { entry = bits.secondEntry(in: ac, after: entry) }
            bits.skip(Entry.length(entry))
            let symbol = Entry.symbol(entry)
            if symbol & 15 > 0 {
                index &+= symbol &>> 4 &+ 1
                positions |= Dequantiser.store(
                    bits.takeSigned(symbol & 15), at: index, in: &block, dequantiser)
            } else if symbol == 0xF0 {
                // A run of sixteen zeros. Some encoders write runs past the end of the block.
                index = min(index &+ 16, 63)
            } else {
                // End of block, or an invalid code.
                if entry == 0 { return -1 }
                break
            }
        }
        return index < 64 ? positions : -1
    }

    /// As `decode`, but skips all coefficients except DC.
    @inline(never)
    static func decodeFirst(
        _ block: inout CoefficientBlock, _ reader: inout EntropyBits, _ file: Span<UInt8>, _ coding: Coding,
        _ prediction: inout Int32
    ) -> Int32 {
        var bits = reader
        defer { reader = bits }
        let (ac, dequantiser) = (coding.ac.entries.span, coding.dequantiser.entries.span)
        guard decodeFirst(&bits, file, coding.dc.entries.span, &prediction) else { return -1 }
        let positions = Dequantiser.store(prediction, at: 0, in: &block, dequantiser)
        var index = 0
        while index < 63 {
            bits.refill(from: file)
            let entry = bits.entry(in: ac)
            if Entry.hasCoefficient(entry) {
                bits.skip(Entry.length(entry))
                index &+= Entry.advance(entry)
                continue
            }
            if entry == 0 { return -1 }
            let symbol = Entry.symbol(entry)
            bits.skip(Entry.length(entry) &+ symbol & 15)
            if symbol & 15 == 0, symbol != 0xF0 { break }
            index &+= symbol &>> 4 &+ 1
            if symbol == 0xF0 { index = min(index, 63) }
        }
        return index < 64 ? positions : -1
    }

    /// T.81 F.2.2.1. False for an invalid code.
    @inline(__always)
    private static func decodeFirst(
        _ bits: inout EntropyBits, _ file: Span<UInt8>, _ dc: Span<UInt32>, _ prediction: inout Int32
    ) -> Bool {
        bits.refill(from: file)
        let entry = bits.entry(in: dc)
        bits.skip(Entry.length(entry))
        if Entry.hasCoefficient(entry) {
            prediction &+= Entry.coefficient(entry)
        } else if Entry.symbol(entry) > 0 {
            prediction &+= bits.takeSigned(Entry.symbol(entry))
        }
        return entry != 0
    }
}

/// The 64 coefficients of a block, row by row (T.81 A.3.3).
typealias CoefficientBlock = InlineArray<64, Int16>

/// Moves coefficients from zigzag order to their place in the block, and multiplies them by their steps (T.81 A.3.4).
struct Dequantiser {
    /// For each zigzag index: the position in the block in the lowest six bits, and the step above eight, for a single
    /// load.
    let entries: [UInt32]

    init(steps: [UInt16]) {
        entries = (0..<64).map { UInt32(Zigzag.natural[$0]) | UInt32(steps[$0]) << 8 }
    }

    /// Stores the coefficient at `zigzag` (its low six bits count) and returns its position. `entries` belong to a
    /// dequantiser. Products wrap at 16 bits, which suffice for valid files.
    @inline(__always)
    static func store(
        _ value: Int32, at zigzag: Int, in block: inout CoefficientBlock, _ entries: Span<UInt32>
    ) -> Int32 {
        let entry = entries[zigzag & 63]
        let position = Int(entry & 63)
        block[position] = Int16(truncatingIfNeeded: value &* Int32(truncatingIfNeeded: entry &>> 8))
        return Int32(truncatingIfNeeded: position)
    }
}
