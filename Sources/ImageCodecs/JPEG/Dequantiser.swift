/// The 64 coefficients of a block, row by row (T.81 A.3.3).
typealias CoefficientBlock = InlineArray<64, Int16>

/// Puts each coefficient, given by its zigzag place, where it belongs in the block, and multiplies it by its step
/// (T.81 A.3.4).
struct Dequantiser {
    /// Place in the block in the lowest byte, step above, so that one load brings both.
    private var entries = InlineArray<64, UInt32>(repeating: 0)

    init(steps: [UInt16]) {
        for index in 0..<min(64, steps.count) {
            entries[index] = UInt32(Zigzag.natural[index]) | UInt32(steps[index]) << 8
        }
    }

    /// Stores the coefficient `zigzag`, of which only the low six bits count. Products wrap at 16 bits: those of
    /// sound files fit.
    @inline(__always)
    func store(_ value: Int32, at zigzag: Int, in block: inout CoefficientBlock) {
        let entry = entries[zigzag & 63]
        block[Int(entry & 63)] = Int16(truncatingIfNeeded: value &* Int32(truncatingIfNeeded: entry &>> 8))
    }
}
