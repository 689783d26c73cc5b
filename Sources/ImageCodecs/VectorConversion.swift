// Conversion of vectors to lanes of another width, of which the lowest bits are kept. The standard library's does the
// same by a loop that is not always inlined; spelt out, it becomes an instruction or two.

extension SIMD8 where Scalar: FixedWidthInteger {
    @inline(__always)
    init<Other: FixedWidthInteger>(lanesOf other: SIMD8<Other>) {
        self.init(
            Scalar(truncatingIfNeeded: other[0]), Scalar(truncatingIfNeeded: other[1]),
            Scalar(truncatingIfNeeded: other[2]), Scalar(truncatingIfNeeded: other[3]),
            Scalar(truncatingIfNeeded: other[4]), Scalar(truncatingIfNeeded: other[5]),
            Scalar(truncatingIfNeeded: other[6]), Scalar(truncatingIfNeeded: other[7]))
    }
}

extension SIMD4 where Scalar: FixedWidthInteger {
    @inline(__always)
    init<Other: FixedWidthInteger>(lanesOf other: SIMD4<Other>) {
        self.init(
            Scalar(truncatingIfNeeded: other[0]), Scalar(truncatingIfNeeded: other[1]),
            Scalar(truncatingIfNeeded: other[2]), Scalar(truncatingIfNeeded: other[3]))
    }
}
