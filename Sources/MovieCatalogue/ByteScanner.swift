/// A position in UTF-8 text that knows its line. Reading past the end yields nil, never a trap.
struct ByteScanner {
    let bytes: [UInt8]
    private(set) var offset: Int
    private(set) var line = 1
    private var lineStart: Int

    /// Starts at `offset`, which is past a byte order mark if there is one.
    init(_ bytes: [UInt8], from offset: Int = 0) {
        self.bytes = bytes
        self.offset = offset
        lineStart = offset
    }

    /// The column of the next byte, from 1.
    var column: Int { offset - lineStart + 1 }
    var isAtEnd: Bool { offset >= bytes.count }
    var next: UInt8? { offset < bytes.count ? bytes[offset] : nil }

    /// Takes the next byte.
    mutating func advance() -> UInt8? {
        guard let byte = next else { return nil }
        offset += 1
        if byte == UInt8(ascii: "\n") {
            line += 1
            lineStart = offset
        }
        return byte
    }

    /// Takes the next byte if it is `byte`.
    mutating func take(_ byte: UInt8) -> Bool {
        guard next == byte else { return false }
        _ = advance()
        return true
    }

    /// Takes `text` if it is what comes next.
    mutating func take(_ text: StaticString) -> Bool {
        guard starts(with: text) else { return false }
        skip(text.utf8CodeUnitCount)
        return true
    }

    func starts(with text: StaticString) -> Bool {
        text.description.utf8.elementsEqual(bytes[offset...].prefix(text.utf8CodeUnitCount))
    }

    mutating func skip(_ count: Int) {
        for _ in 0..<count { _ = advance() }
    }

    /// Takes bytes while `belongs` holds and returns where they are.
    @inline(__always) @discardableResult
    mutating func take(while belongs: (UInt8) -> Bool) -> Range<Int> {
        let start = offset
        while offset < bytes.count {
            let byte = bytes[offset]
            guard belongs(byte) else { break }
            offset += 1
            if byte == UInt8(ascii: "\n") {
                line += 1
                lineStart = offset
            }
        }
        return start..<offset
    }

    /// Takes everything before the next `end`, and `end` itself; nil, at the end of the text, if there is none.
    mutating func take(through end: StaticString) -> Range<Int>? {
        let end = Array(end.description.utf8)
        let start = offset
        while !isAtEnd {
            if next == end.first, bytes[offset...].starts(with: end) {
                let found = start..<offset
                skip(end.count)
                return found
            }
            _ = advance()
        }
        return nil
    }

    mutating func skipWhitespace() {
        take { $0.isWhitespace }
    }

    /// Whether `text` stands in a range that was taken.
    func contains(_ text: StaticString, in range: Range<Int>) -> Bool {
        let text = Array(text.description.utf8)
        return bytes[range].indices.contains {
            bytes[$0] == text.first && bytes[$0..<range.upperBound].starts(with: text)
        }
    }

    /// The text of a range that was taken.
    func text(_ range: Range<Int>) -> String { String(decoding: bytes[range], as: UTF8.self) }
}

extension UInt8 {
    /// Space, tab, line feed or carriage return: the white space of JSON and of XML.
    var isWhitespace: Bool { self == 0x20 || self == 0x09 || self == 0x0A || self == 0x0D }
    var isDigit: Bool { self >= UInt8(ascii: "0") && self <= UInt8(ascii: "9") }
    var isLetter: Bool { (self | 0x20) >= UInt8(ascii: "a") && (self | 0x20) <= UInt8(ascii: "z") }

    /// The value of a hexadecimal digit, or nil.
    var hexValue: UInt32? {
        switch self {
        case UInt8(ascii: "0")...UInt8(ascii: "9"): UInt32(self - UInt8(ascii: "0"))
        case UInt8(ascii: "a")...UInt8(ascii: "f"): UInt32(self - UInt8(ascii: "a") + 10)
        case UInt8(ascii: "A")...UInt8(ascii: "F"): UInt32(self - UInt8(ascii: "A") + 10)
        default: nil
        }
    }
}
