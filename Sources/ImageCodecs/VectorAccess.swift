// Loads and stores of vectors. Each checks its range once, so the compiler can use a single instruction.

extension Span<UInt8> {
    @inline(__always)
    func vector8(at index: Int) -> SIMD8<UInt8> {
        let lanes = extracting(index..<index &+ 8)
        return SIMD8(lanes[0], lanes[1], lanes[2], lanes[3], lanes[4], lanes[5], lanes[6], lanes[7])
    }

    @inline(__always)
    func vector4(at index: Int) -> SIMD4<UInt8> {
        let lanes = extracting(index..<index &+ 4)
        return SIMD4(lanes[0], lanes[1], lanes[2], lanes[3])
    }
}

extension MutableSpan<UInt8> {
    @inline(__always)
    mutating func store(_ vector: SIMD4<UInt8>, at index: Int) {
        precondition(index >= 0 && index <= count - 4)
        for lane in 0..<4 { self[index &+ lane] = vector[lane] }
    }

    /// Copies eight bytes between ranges that may overlap: reads all before writing any.
    @inline(__always)
    mutating func copyEight(from source: Int, to target: Int) {
        precondition(source >= 0 && source <= count - 8 && target >= 0 && target <= count - 8)
        var lanes = SIMD8<UInt8>()
        for lane in 0..<8 { lanes[lane] = self[source + lane] }
        for lane in 0..<8 { self[target + lane] = lanes[lane] }
    }

    @inline(__always)
    mutating func store(_ vector: SIMD8<UInt8>, at index: Int) {
        precondition(index >= 0 && index <= count - 8)
        for lane in 0..<8 { self[index + lane] = vector[lane] }
    }

    /// Stores 32 numbers of 16 bits in little-endian order.
    @inline(__always)
    mutating func store(_ vector: SIMD32<UInt16>, at index: Int) {
        precondition(index >= 0 && index <= count - 64)
        storeLanes(of: vector.lowHalf.lowHalf, at: index)
        storeLanes(of: vector.lowHalf.highHalf, at: index + 16)
        storeLanes(of: vector.highHalf.lowHalf, at: index + 32)
        storeLanes(of: vector.highHalf.highHalf, at: index + 48)
    }

    /// No range check before those of the elements.
    @inline(__always)
    private mutating func storeLanes(of vector: SIMD8<UInt16>, at index: Int) {
        for lane in 0..<8 {
            self[index + 2 * lane] = UInt8(truncatingIfNeeded: vector[lane])
            self[index + 2 * lane + 1] = UInt8(truncatingIfNeeded: vector[lane] &>> 8)
        }
    }
}

extension Span<Int16> {
    @inline(__always)
    func vector8(at index: Int) -> SIMD8<Int16> {
        let part = extracting(index..<index &+ 8)
        return SIMD8(part[0], part[1], part[2], part[3], part[4], part[5], part[6], part[7])
    }
}

// Builds vectors lane by lane. In debug builds the standard library's vector operators are unspecialised generic code:
// one takes 200 to 2,400 ns, which makes a decoder 600 times slower than in release builds. These functions take a
// tenth of that. In release builds both compile to the same vector instructions.

@inline(__always)
func lanes(_ lane: (Int) -> Int16) -> SIMD8<Int16> {
    SIMD8(lane(0), lane(1), lane(2), lane(3), lane(4), lane(5), lane(6), lane(7))
}

@inline(__always)
func lanes(_ lane: (Int) -> UInt16) -> SIMD8<UInt16> {
    SIMD8(lane(0), lane(1), lane(2), lane(3), lane(4), lane(5), lane(6), lane(7))
}

@inline(__always)
func lanes(_ lane: (Int) -> Int32) -> SIMD8<Int32> {
    SIMD8(lane(0), lane(1), lane(2), lane(3), lane(4), lane(5), lane(6), lane(7))
}

@inline(__always)
func lanes(_ lane: (Int) -> UInt8) -> SIMD8<UInt8> {
    SIMD8(lane(0), lane(1), lane(2), lane(3), lane(4), lane(5), lane(6), lane(7))
}

@inline(__always)
func widened(_ vector: SIMD8<UInt8>) -> SIMD8<UInt16> {
    lanes { UInt16(truncatingIfNeeded: vector[$0]) }
}

/// The lanes of the lower halves of two vectors in turns.
@inline(__always)
func interleavedLow<Lane>(_ a: SIMD8<Lane>, _ b: SIMD8<Lane>) -> SIMD8<Lane> {
    SIMD8(a[0], b[0], a[1], b[1], a[2], b[2], a[3], b[3])
}

/// The lanes of the upper halves of two vectors in turns.
@inline(__always)
func interleavedHigh<Lane>(_ a: SIMD8<Lane>, _ b: SIMD8<Lane>) -> SIMD8<Lane> {
    SIMD8(a[4], b[4], a[5], b[5], a[6], b[6], a[7], b[7])
}

/// Limits each lane to `range`, in the two instructions of a minimum and a maximum. These operators are always inlined.
/// The standard library's `clamped` is not: after some uses in a module every use is two calls, with all vectors saved
/// around them.
@inline(__always)
func clamped(_ vector: SIMD8<Int16>, to range: ClosedRange<Int16>) -> SIMD8<Int16> {
    let (lowest, highest) = (SIMD8(repeating: range.lowerBound), SIMD8(repeating: range.upperBound))
    let raised = vector.replacing(with: lowest, where: vector .< lowest)
    return raised.replacing(with: highest, where: raised .> highest)
}

/// Multiplies two vectors and adds neighbouring products. Most machines do that in one instruction, if it is written
/// like this and neither vector is a compile-time constant.
@inline(__always)
func pairProducts(_ a: SIMD8<Int16>, _ b: SIMD8<Int16>) -> SIMD4<Int32> {
    let products =
        lanes { Int32(truncatingIfNeeded: a[$0]) } &* lanes { Int32(truncatingIfNeeded: b[$0]) }
    return SIMD4(products[0], products[2], products[4], products[6])
        &+ SIMD4(products[1], products[3], products[5], products[7])
}
