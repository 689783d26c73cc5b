/// Percent-encoding of URLs and forms (RFC 3986 section 2.1).
package enum PercentEncoding {
    /// Decodes a text exactly once; nil if a percent sign is not followed by two hexadecimal digits.
    /// - Parameter plusIsSpace: true for forms and queries.
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

    /// As above, as text; nil also if the bytes are not UTF-8.
    package static func decodedText(_ text: some Sequence<UInt8>, plusIsSpace: Bool = false) -> String? {
        decoded(text, plusIsSpace: plusIsSpace).flatMap { String(validating: $0, as: UTF8.self) }
    }

    /// Encodes a path segment or a query value: all except the unreserved characters (RFC 3986 section 2.3).
    package static func encoded(_ text: String) -> String { encoded(text, except: isUnreserved) }

    /// Encodes a URL for a header: all bytes except visible ASCII, and quotation marks.
    package static func visible(_ address: String) -> String {
        encoded(address) { $0 > 0x20 && $0 < 0x7F && $0 != UInt8(ascii: "\"") }
    }

    /// Encodes all bytes except unreserved characters; the bytes need not be UTF-8.
    package static func encoded(_ bytes: [UInt8]) -> String { encoded(bytes, except: isUnreserved) }

    private static func encoded(_ text: String, except isKept: (UInt8) -> Bool) -> String {
        text.utf8.allSatisfy(isKept) ? text : encoded(Array(text.utf8), except: isKept)
    }

    private static func encoded(_ typed: [UInt8], except isKept: (UInt8) -> Bool) -> String {
        var bytes: [UInt8] = []
        let digits = Array("0123456789ABCDEF".utf8)
        for byte in typed {
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
