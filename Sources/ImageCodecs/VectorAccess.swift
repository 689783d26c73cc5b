// Vectors from and to neighbouring elements. Each has one check of its range, after which the compiler makes a
// single load or store of the lanes.

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
        for lane in 0..<4 { self[index + lane] = vector[lane] }
    }

    /// Copies eight bytes that may overlap those they are copied to: all are read before one is written.
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

    /// Stores 32 numbers of 16 bits, the lower byte of each first.
    @inline(__always)
    mutating func store(_ vector: SIMD32<UInt16>, at index: Int) {
        precondition(index >= 0 && index <= count - 64)
        storeLanes(of: vector.lowHalf.lowHalf, at: index)
        storeLanes(of: vector.lowHalf.highHalf, at: index + 16)
        storeLanes(of: vector.highHalf.lowHalf, at: index + 32)
        storeLanes(of: vector.highHalf.highHalf, at: index + 48)
    }

    /// With no check of its own ahead of those of the elements.
    @inline(__always)
    private mutating func storeLanes(of vector: SIMD8<UInt16>, at index: Int) {
        for lane in 0..<8 {
            self[index + 2 * lane] = UInt8(truncatingIfNeeded: vector[lane])
            self[index + 2 * lane + 1] = UInt8(truncatingIfNeeded: vector[lane] &>> 8)
        }
    }
}

// Vectors made lane by lane. In a debug build the standard library's operators on vectors are generic code that is
// not specialised: one takes 200 to 2,400 ns, and a decoder made of them is 600 times as slow as in a release build.
// Lanes made by these functions take a tenth of that. In a release build the compiler makes the same vector
// instructions of both.

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

/// The products of two vectors, those of each two neighbours summed: one instruction on most machines, provided that it is
/// written like this, and that the compiler knows neither vector.
@inline(__always)
func pairProducts(_ a: SIMD8<Int16>, _ b: SIMD8<Int16>) -> SIMD4<Int32> {
    let products =
        lanes { Int32(truncatingIfNeeded: a[$0]) } &* lanes { Int32(truncatingIfNeeded: b[$0]) }
    return SIMD4(products[0], products[2], products[4], products[6])
        &+ SIMD4(products[1], products[3], products[5], products[7])
}
