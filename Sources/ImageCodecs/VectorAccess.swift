// Vectors from and to neighbouring elements. Each has one check of its range, after which the compiler makes a
// single load or store of the lanes.

extension Span<UInt16> {
    @inline(__always)
    func vector8(at index: Int) -> SIMD8<UInt16> {
        let lanes = extracting(index..<index &+ 8)
        return SIMD8(lanes[0], lanes[1], lanes[2], lanes[3], lanes[4], lanes[5], lanes[6], lanes[7])
    }
}

extension Span<UInt8> {
    @inline(__always)
    func vector8(at index: Int) -> SIMD8<UInt8> {
        let lanes = extracting(index..<index &+ 8)
        return SIMD8(lanes[0], lanes[1], lanes[2], lanes[3], lanes[4], lanes[5], lanes[6], lanes[7])
    }
}

extension MutableSpan<UInt8> {
    @inline(__always)
    mutating func store(_ vector: SIMD8<UInt8>, at index: Int) {
        precondition(index >= 0 && index <= count - 8)
        for lane in 0..<8 { self[index + lane] = vector[lane] }
    }

    /// Stores eight numbers of 16 bits, the lower byte of each first.
    @inline(__always)
    mutating func store(_ vector: SIMD8<UInt16>, at index: Int) {
        precondition(index >= 0 && index <= count - 16)
        for lane in 0..<8 {
            self[index + 2 * lane] = UInt8(truncatingIfNeeded: vector[lane])
            self[index + 2 * lane + 1] = UInt8(truncatingIfNeeded: vector[lane] &>> 8)
        }
    }
}
