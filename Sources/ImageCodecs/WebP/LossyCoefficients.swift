/// Reads the coefficients of a block (RFC 6386 section 13).
enum LossyCoefficients {
    /// The kinds of blocks, in the order of the probabilities: luma whose DC is apart, these DCs, chroma, luma.
    enum Kind {
        static let lumaWithoutDC = 0
        static let lumaDC = 1
        static let chroma = 2
        static let luma = 3
    }

    /// Reads the coefficients of a block from position `first` on, and stores them times their steps.
    /// - Parameter context: how many of the blocks above and to the left have coefficients.
    /// - Returns: the position after the last coefficient that is not 0; `first` without any.
    @inline(__always)
    static func read(
        _ bits: inout LossyBits, in file: Span<UInt8>, _ probabilities: Span<UInt8>, kind: Int, context: Int,
        _ steps: LossySegment.Steps, first: Int, into block: inout MutableSpan<Int16>, at start: Int,
        zigzag: Span<UInt8>
    ) -> Int {
        let base = kind &* LossyHeader.kindStride
        let decisions = LossyTables.decisions
        var position = first
        var index = base &+ position &* LossyHeader.positionStride &+ context &* decisions
        while position < 16 {
            guard bits.read(probabilities[index], in: file) else { return position }
            while !bits.read(probabilities[index &+ 1], in: file) {
                position &+= 1
                if position == 16 { return 16 }
                index = base &+ position &* LossyHeader.positionStride
            }
            let next = base &+ (position &+ 1) &* LossyHeader.positionStride
            var value: Int32 = 1
            if bits.read(probabilities[index &+ 2], in: file) {
                if bits.read(probabilities[index &+ 3], in: file) {
                    (value, bits) = large(bits, in: file, probabilities, index)
                } else if bits.read(probabilities[index &+ 4], in: file) {
                    value = bits.read(probabilities[index &+ 5], in: file) ? 4 : 3
                } else {
                    value = 2
                }
                index = next &+ 2 &* decisions
            } else {
                index = next &+ decisions
            }
            let signed = bits.signed(value, in: file) &* (position > 0 ? steps.ac : steps.dc)
            block[start &+ Int(zigzag[position])] = Int16(truncatingIfNeeded: signed)
            position &+= 1
        }
        return 16
    }

    /// A magnitude above 4.
    @inline(never)
    private static func large(
        _ bits: LossyBits, in file: Span<UInt8>, _ probabilities: Span<UInt8>, _ index: Int
    ) -> (Int32, LossyBits) {
        var reader = bits
        let value = large(&reader, in: file, probabilities, index)
        return (value, reader)
    }

    @inline(__always)
    private static func large(
        _ bits: inout LossyBits, in file: Span<UInt8>, _ probabilities: Span<UInt8>, _ index: Int
    ) -> Int32 {
        @inline(__always) func bit(_ probability: UInt8) -> Int32 { bits.read(probability, in: file) ? 1 : 0 }
        if bit(probabilities[index &+ 6]) == 0 {
            if bit(probabilities[index &+ 7]) == 0 { return 5 &+ bit(159) }
            let high = 2 &* bit(165)
            return 7 &+ high &+ bit(145)
        }
        let high = bit(probabilities[index &+ 8])
        let category = 2 &* high &+ bit(probabilities[index &+ 9 &+ Int(high)])
        var value: Int32 = 0
        for probability in LossyTables.extraBits[Int(category)] { value = 2 &* value &+ bit(probability) }
        return value &+ 3 &+ 8 &<< category
    }
}
