/// Percent-encoding of addresses and forms (RFC 3986 section 2.1).
package enum PercentEncoding {
    /// The bytes that a text stands for, decoded exactly once; nil where a percent sign is not followed by two hexadecimal
    /// digits.
    /// - Parameter plusIsSpace: as in forms and queries.
    package static func decoded(_ text: some Sequence<UInt8>, plusIsSpace: Bool = false) -> [UInt8]? {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(text.underestimatedCount)
        var rest = text.makeIterator()
        while let byte = rest.next() {
            switch byte {
            case UInt8(ascii: "%"):
                guard let high = rest.next()?.hexadecimalValue, let low = rest.next()?.hexadecimalValue else {
                    return nil
                }
                bytes.append(high << 4 | low)
            case UInt8(ascii: "+") where plusIsSpace: bytes.append(0x20)
            default: bytes.append(byte)
            }
        }
        return bytes
    }

    /// As above, as text; nil also where the bytes are no UTF-8.
    package static func decodedText(_ text: some Sequence<UInt8>, plusIsSpace: Bool = false) -> String? {
        decoded(text, plusIsSpace: plusIsSpace).flatMap { String(validating: $0, as: UTF8.self) }
    }

    /// A text as one segment of a path or one value of a query: all but unreserved characters are encoded (RFC 3986 section
    /// 2.3).
    package static func encoded(_ text: String) -> String { encoded(text, except: isUnreserved) }

    /// An address as it may stand in a header: encoded is what is no visible character of ASCII.
    package static func visible(_ address: String) -> String {
        encoded(address) { $0 > 0x20 && $0 < 0x7F && $0 != UInt8(ascii: "\"") }
    }

    private static func encoded(_ text: String, except isKept: (UInt8) -> Bool) -> String {
        if text.utf8.allSatisfy(isKept) { return text }
        var bytes: [UInt8] = []
        let digits = Array("0123456789ABCDEF".utf8)
        for byte in text.utf8 {
            if isKept(byte) {
                bytes.append(byte)
            } else {
                bytes += [UInt8(ascii: "%"), digits[Int(byte >> 4)], digits[Int(byte & 15)]]
            }
        }
        return String(decoding: bytes, as: UTF8.self)
    }

    private static func isUnreserved(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"): true
        case UInt8(ascii: "-"), UInt8(ascii: "."), UInt8(ascii: "_"), UInt8(ascii: "~"): true
        default: byte.isDigit
        }
    }
}
