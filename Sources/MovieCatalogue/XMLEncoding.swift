/// Turns XML in other encodings into UTF-8, before anything is checked or parsed. So no encoding can hide a text from the
/// checks that the parser would see.
///
///     FE FF 00 3C 00 3F …                                  UTF-16 with a byte order mark (XML 1.0, clause 4.3.3)
///     <?xml version="1.0" encoding="ISO-8859-1"?>           read as Windows-1252, which has all of its characters
enum XMLEncoding {
    /// The encodings of one byte each that a declaration may name.
    private static let latin: Set = [
        "iso-8859-1", "iso8859-1", "iso_8859-1", "latin1", "windows-1252", "cp1252",
    ]

    /// The document in UTF-8, without its declaration, which no longer holds; nil if it is in no other encoding. Line
    /// numbers stay.
    static func utf8(_ bytes: [UInt8]) -> [UInt8]? {
        if bytes.starts(with: [0xFE, 0xFF]) { return wide(bytes) { $0 << 8 | $1 } }
        if bytes.starts(with: [0xFF, 0xFE]) { return wide(bytes) { $1 << 8 | $0 } }
        guard let declaration = Declaration(bytes), latin.contains(declaration.encoding ?? "") else {
            return nil
        }
        var text: [UInt8] = []
        text.reserveCapacity(bytes.count + bytes.count / 8)
        for byte in bytes {
            guard byte >= 0x80 else {
                text.append(byte)
                continue
            }
            let index = Int(byte) - 0x80
            let scalar =
                index < HTMLText.windows1252.count ? HTMLText.windows1252[index] : Unicode.Scalar(byte)
            text += Array(String(scalar).utf8)
        }
        return declaration.removed(from: text)
    }

    /// UTF-16. Units that are no text become U+FFFD.
    private static func wide(_ bytes: [UInt8], _ unit: (UInt16, UInt16) -> UInt16) -> [UInt8] {
        let units = stride(from: 2, to: bytes.count - 1, by: 2).map {
            unit(UInt16(bytes[$0]), UInt16(bytes[$0 + 1]))
        }
        // Half a unit at the end is no text either.
        let end = bytes.count % 2 == 0 ? "" : "\u{FFFD}"
        let text = Array((String(decoding: units, as: UTF16.self) + end).utf8)
        guard let declaration = Declaration(text), declaration.encoding?.hasPrefix("utf-16") == true else {
            return text
        }
        return declaration.removed(from: text)
    }

    /// The declaration at the beginning of a document (XML 1.0, clause 2.8).
    private struct Declaration {
        /// In lowercase; nil if it names none.
        let encoding: String?
        private let range: Range<Int>

        /// The longest declaration that is looked for, in bytes.
        private static let limit = 256

        init?(_ bytes: [UInt8]) {
            let beginning = bytes.prefix(Self.limit)
            guard let start = beginning.firstIndex(where: { !$0.isWhitespace }),
                beginning[start...].starts(with: Array("<?xml".utf8)),
                let end = beginning.firstRange(of: Array("?>".utf8))
            else { return nil }
            range = start..<end.upperBound
            let words = String(decoding: beginning[start..<end.lowerBound], as: UTF8.self)
                .split { $0.isWhitespace || $0 == "=" || $0 == "\"" || $0 == "'" }
            encoding = words.firstIndex(of: "encoding").flatMap { index in
                index + 1 < words.count ? words[index + 1].lowercased() : nil
            }
        }

        /// The text with white space in place of the declaration, which is ASCII.
        func removed(from text: [UInt8]) -> [UInt8] {
            var text = text
            for index in range where text[index] != UInt8(ascii: "\n") { text[index] = UInt8(ascii: " ") }
            return text
        }
    }
}
