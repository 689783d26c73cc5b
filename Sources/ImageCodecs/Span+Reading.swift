/// Reads multi-byte values of a file; nil past the end.
extension Span<UInt8> {
    func byte(at offset: Int) -> UInt8? {
        offset >= 0 && offset < count ? self[offset] : nil
    }

    func bigEndian16(at offset: Int) -> Int? {
        littleEndian16(at: offset).map { Int(UInt16(truncatingIfNeeded: $0).byteSwapped) }
    }

    func bigEndian32(at offset: Int) -> Int? {
        littleEndian32(at: offset).map { Int(UInt32(truncatingIfNeeded: $0).byteSwapped) }
    }

    func littleEndian16(at offset: Int) -> Int? { littleEndian(2, at: offset) }

    func littleEndian24(at offset: Int) -> Int? { littleEndian(3, at: offset) }

    func littleEndian32(at offset: Int) -> Int? { littleEndian(4, at: offset) }

    @inline(__always)
    private func littleEndian(_ length: Int, at offset: Int) -> Int? {
        guard offset >= 0, offset <= count - length else { return nil }
        var number = 0
        for index in 0..<length { number |= Int(self[offset + index]) &<< (8 * index) }
        return number
    }

    /// Eight bytes as one number, with one range check and one load. They must exist.
    @inline(__always)
    func bigEndianWord(at offset: Int) -> UInt64 { littleEndianWord(at: offset).byteSwapped }

    /// Like `bigEndianWord(at:)`, with the lowest byte first.
    @inline(__always)
    func littleEndianWord(at offset: Int) -> UInt64 {
        let block = extracting(offset..<offset &+ 8)
        let low =
            UInt64(block[0]) | UInt64(block[1]) &<< 8 | UInt64(block[2]) &<< 16 | UInt64(block[3]) &<< 24
        let high =
            UInt64(block[4]) | UInt64(block[5]) &<< 8 | UInt64(block[6]) &<< 16 | UInt64(block[7]) &<< 24
        return low | high &<< 32
    }

    /// Whether `text` is at `offset`.
    func hasBytes(_ text: MagicNumber, at offset: Int = 0) -> Bool {
        guard offset >= 0, offset <= count - text.count else { return false }
        for index in 0..<text.count where self[offset + index] != text[index] { return false }
        return true
    }
}

/// The bytes of a number in a file.
extension FixedWidthInteger {
    var littleEndianBytes: [UInt8] {
        stride(from: 0, to: Self.bitWidth, by: 8).map { UInt8(truncatingIfNeeded: self >> $0) }
    }

    var bigEndianBytes: [UInt8] { littleEndianBytes.reversed() }
}

/// A magic number of up to 16 bytes, from text or bytes. Stored inline, because every file is compared with many.
struct MagicNumber: ExpressibleByStringLiteral, ExpressibleByArrayLiteral {
    private var content = InlineArray<16, UInt8>(repeating: 0)
    private(set) var count = 0

    init(stringLiteral text: String) { text.utf8.forEach { append($0) } }

    init(arrayLiteral elements: UInt8...) { elements.forEach { append($0) } }

    private mutating func append(_ byte: UInt8) {
        precondition(count < content.count, "a magic number has up to 16 bytes")
        content[count] = byte
        count += 1
    }

    subscript(index: Int) -> UInt8 { content[index] }

    var bytes: [UInt8] { (0..<count).map { self[$0] } }
}
