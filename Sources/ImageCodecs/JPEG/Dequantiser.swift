/// The 64 coefficients of a block, row by row (T.81 A.3.3).
typealias CoefficientBlock = InlineArray<64, Int16>

/// Puts each coefficient, given by its zigzag place, where it belongs in the block, and multiplies it by its step
/// (T.81 A.3.4).
struct Dequantiser {
    /// Of each zigzag place: the place in the block in the lowest six bits, the step above eight, so that one load brings
    /// both.
    let entries: [UInt32]

    init(steps: [UInt16]) {
        entries = (0..<64).map { UInt32(Zigzag.natural[$0]) | UInt32(steps[$0]) << 8 }
    }

    /// Stores the coefficient `zigzag`, of which only the low six bits count, and answers its place; `entries` are a
    /// dequantiser's. Products wrap at 16 bits: those of sound files fit.
    @inline(__always)
    static func store(
        _ value: Int32, at zigzag: Int, in block: inout CoefficientBlock, _ entries: Span<UInt32>
    ) -> Int32 {
        let entry = entries[zigzag & 63]
        let place = Int(entry & 63)
        block[place] = Int16(truncatingIfNeeded: value &* Int32(truncatingIfNeeded: entry &>> 8))
        return Int32(truncatingIfNeeded: place)
    }
}
