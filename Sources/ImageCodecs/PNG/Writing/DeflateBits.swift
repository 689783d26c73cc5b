/// Packs bits as DEFLATE wants them, the first into the lowest bit of each byte (RFC 1951 section 3.1.1).
struct DeflateBits {
    private(set) var bytes: [UInt8] = []
    private var bits: UInt64 = 0
    private var count = 0

    /// Appends the lowest `length` bits of a number, 32 at most.
    @inline(__always)
    mutating func append(_ value: Int, length: Int) {
        bits |= UInt64(truncatingIfNeeded: value) &<< UInt64(truncatingIfNeeded: count)
        count &+= length
        while count >= 8 {
            bytes.append(UInt8(truncatingIfNeeded: bits))
            bits &>>= 8
            count &-= 8
        }
    }

    /// Fills up the last byte with zeros.
    mutating func alignToByte() {
        if count > 0 { append(0, length: 8 - count) }
    }

    mutating func append(bytes more: some Sequence<UInt8>) { bytes.append(contentsOf: more) }
}
