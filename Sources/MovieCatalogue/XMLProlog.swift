/// What has to be known of an XML document before a parser sees it, from bytes alone.
enum XMLProlog {
    /// The document without its declaration and without what could make the parser work without end. Lines stay
    /// where they are.
    static func checked(_ bytes: ArraySlice<UInt8>) throws(CatalogueError) -> [UInt8] {
        let text = try withoutDeclaration(bytes)
        try checkTags(text)
        return text
    }

    /// The declaration (XML 1.0, clause 2.8) as white space. It could name an encoding, and the parser would read
    /// by it what was checked as UTF-8: HZ drops a tilde and a line end from the middle of a DOCTYPE.
    private static func withoutDeclaration(_ bytes: ArraySlice<UInt8>) throws(CatalogueError) -> [UInt8] {
        var text = Array(bytes)
        guard let start = text.firstIndex(where: { !$0.isWhitespace }),
            text[start...].starts(with: Array("<?xml".utf8)),
            text[start...].dropFirst(5).first?.isWhitespace == true,
            let end = text.firstRange(of: Array("?>".utf8))
        else { return text }
        let words = String(decoding: text[start..<end.lowerBound], as: UTF8.self)
            .split { $0.isWhitespace || $0 == "=" || $0 == "\"" || $0 == "'" }
        if let index = words.firstIndex(of: "encoding"), index + 1 < words.count,
            !["utf-8", "utf8", "us-ascii", "ascii"].contains(words[index + 1].lowercased())
        {
            throw .unsupportedEncoding(name: String(words[index + 1]), line: line(of: start, in: text))
        }
        for index in start..<end.upperBound where text[index] != UInt8(ascii: "\n") {
            text[index] = UInt8(ascii: " ")
        }
        return text
    }

    /// A DOCTYPE is refused wherever it stands: to tell one in a comment would take the parser it is kept from.
    /// A tag ends before the next `<`, so it has no more attributes than there are `=` before that.
    private static func checkTags(_ text: [UInt8]) throws(CatalogueError) {
        let doctype = Array("<!DOCTYPE".utf8)
        var attributes = 0
        for index in text.indices {
            switch text[index] {
            case UInt8(ascii: "<"):
                attributes = 0
                if text[index...].starts(with: doctype) {
                    throw .doctypeRefused(line: line(of: index, in: text))
                }
            case UInt8(ascii: "="):
                attributes += 1
                guard attributes <= XMLReader.maximumAttributes else {
                    throw .tooLarge(limit: XMLReader.maximumAttributes, unit: "attributes of an element")
                }
            default: break
            }
        }
    }

    private static func line(of offset: Int, in text: [UInt8]) -> Int {
        text[..<offset].count { $0 == UInt8(ascii: "\n") } + 1
    }
}
