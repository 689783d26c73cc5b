/// The eight rows or columns of a block, for the transforms.
struct BlockLines {
    /// Eight neighbouring values.
    typealias Line = SIMD8<Int16>
    typealias WideLine = SIMD8<Int32>

    var l0, l1, l2, l3, l4, l5, l6, l7: Line

    @inline(__always)
    init(_ l0: Line, _ l1: Line, _ l2: Line, _ l3: Line, _ l4: Line, _ l5: Line, _ l6: Line, _ l7: Line) {
        (self.l0, self.l1, self.l2, self.l3) = (l0, l1, l2, l3)
        (self.l4, self.l5, self.l6, self.l7) = (l4, l5, l6, l7)
    }

    /// Transposes the block, in three rounds of interleaving.
    @inline(__always)
    mutating func transpose() {
        interleave()
        interleave()
        interleave()
    }

    /// One of the three rounds of a transposition.
    @inline(__always)
    mutating func interleave() {
        let (a0, a1, a2, a3) = (Self.low(l0, l4), Self.high(l0, l4), Self.low(l1, l5), Self.high(l1, l5))
        let (a4, a5, a6, a7) = (Self.low(l2, l6), Self.high(l2, l6), Self.low(l3, l7), Self.high(l3, l7))
        (l0, l1, l2, l3) = (a0, a1, a2, a3)
        (l4, l5, l6, l7) = (a4, a5, a6, a7)
    }

    @inline(__always)
    private static func low(_ a: Line, _ b: Line) -> Line {
        Line(a[0], b[0], a[1], b[1], a[2], b[2], a[3], b[3])
    }

    @inline(__always)
    private static func high(_ a: Line, _ b: Line) -> Line {
        Line(a[4], b[4], a[5], b[5], a[6], b[6], a[7], b[7])
    }
}
