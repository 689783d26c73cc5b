import FoundationEssentials
import HTTPSemantics

/// The body of an answer as text for a person, if it is text.
enum ReadableText {
    /// The text; nil if the body is not text, or has a charset that is not supported. (The system's converters had
    /// security holes more than once, and the web uses UTF-8.)
    ///
    /// The charset comes from a byte order mark, else from the media type. Without either, the body must be UTF-8
    /// without control characters. Pass the text through `TerminalText.visible` before showing it on a terminal.
    static func text(of bytes: [UInt8], type: String?) -> String? {
        let type = type.flatMap { ContentType($0) }
        let marks: [([UInt8], String.Encoding)] = [
            ([0xEF, 0xBB, 0xBF], .utf8), ([0xFF, 0xFE], .utf16LittleEndian), ([0xFE, 0xFF], .utf16BigEndian),
        ]
        if let (mark, encoding) = marks.first(where: { bytes.starts(with: $0.0) }) {
            return String(bytes: bytes.dropFirst(mark.count), encoding: encoding)
        }
        guard let type, isText(type.mediaType) else {
            return type == nil || type?.mediaType == "application/octet-stream" ? unlabelled(bytes) : nil
        }
        switch type.parameters["charset"]?.lowercased() {
        case nil:
            return String(validating: bytes, as: UTF8.self) ?? String(bytes: bytes, encoding: .isoLatin1)
        case "utf-8", "utf8", "us-ascii", "ascii": return String(decoding: bytes, as: UTF8.self)
        case "iso-8859-1", "latin1", "windows-1252", "cp1252":
            return String(bytes: bytes, encoding: .isoLatin1)
        case "utf-16le": return String(bytes: bytes, encoding: .utf16LittleEndian)
        // The default is big endian (RFC 2781 section 4.3).
        case "utf-16", "utf-16be": return String(bytes: bytes, encoding: .utf16BigEndian)
        default: return nil
        }
    }

    private static func isText(_ type: String) -> Bool {
        let others = [
            "application/json", "application/xml", "application/javascript", "application/x-ndjson",
            "application/x-www-form-urlencoded", "image/svg+xml",
        ]
        return type.hasPrefix("text/") || type.hasSuffix("+json") || type.hasSuffix("+xml")
            || others.contains(type)
    }

    private static func unlabelled(_ bytes: [UInt8]) -> String? {
        let layout: [UInt8] = [0x09, 0x0A, 0x0C, 0x0D]
        guard bytes.allSatisfy({ ($0 >= 0x20 && $0 != 0x7F) || layout.contains($0) }) else { return nil }
        return String(validating: bytes, as: UTF8.self)
    }
}
