/// Decodes one block of a sequential scan (T.81 F.2.2): the difference to the last DC coefficient, then runs of zeros
/// and coefficients.
enum SequentialBlock {
    /// How the blocks of a component are coded.
    struct Coding {
        let dc: JPEGHuffmanTable
        let ac: JPEGHuffmanTable
        let dequantiser: Dequantiser
    }

    private typealias Entry = JPEGHuffmanTable.Entry

    /// Decodes a block that is zero so far, dequantised. The positions of all its coefficients, or-ed, for the transform;
    /// negative for a code that is none, and for coefficients past the block's last.
    ///
    /// Not inlined: with but this to do, the compiler keeps the bits and all else in registers.
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
                // Sixteen zeros; some writers end a block with more than it has positions for.
                index = min(index &+ 16, 63)
            } else {
                // The end of the block, or no code at all.
                if entry == 0 { return -1 }
                break
            }
        }
        return index < 64 ? positions : -1
    }

    /// As `decode`, but passes over all coefficients save the first.
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

    /// T.81 F.2.2.1. False for a code that is none.
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

/// Puts each coefficient, given by its zigzag position, where it belongs in the block, and multiplies it by its step
/// (T.81 A.3.4).
struct Dequantiser {
    /// Of each zigzag position: the position in the block in the lowest six bits, the step above eight, so that one load brings
    /// both.
    let entries: [UInt32]

    init(steps: [UInt16]) {
        entries = (0..<64).map { UInt32(Zigzag.natural[$0]) | UInt32(steps[$0]) << 8 }
    }

    /// Stores the coefficient `zigzag`, of which only the low six bits count, and answers its position; `entries` are a
    /// dequantiser's. Products wrap at 16 bits: those of sound files fit.
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
