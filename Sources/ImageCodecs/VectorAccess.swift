// Vectors from and to neighbouring elements. Each has one check of its range, after which the compiler makes a
// single load or store of the lanes.

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

    /// Stores four vectors behind one another.
    @inline(__always)
    mutating func store(
        _ first: SIMD8<UInt8>, _ second: SIMD8<UInt8>, _ third: SIMD8<UInt8>, _ fourth: SIMD8<UInt8>,
        at index: Int
    ) {
        precondition(index >= 0 && index <= count - 32)
        for lane in 0..<8 { self[index + lane] = first[lane] }
        for lane in 0..<8 { self[index + 8 + lane] = second[lane] }
        for lane in 0..<8 { self[index + 16 + lane] = third[lane] }
        for lane in 0..<8 { self[index + 24 + lane] = fourth[lane] }
    }
}
