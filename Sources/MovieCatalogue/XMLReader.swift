/// An XML element with what it holds, and the line of its start tag.
struct XMLElement: Sendable {
    let name: String
    let attributes: [String: String]
    let line: Int
    var children: [XMLElement] = []
    /// The element's own text, without that of its children.
    var text = ""

    /// The last child called `name`, as the last of two JSON members counts.
    func child(_ name: String) -> XMLElement? { children.last { $0.name == name } }
}

/// Reads XML 1.0 (fifth edition) without document types, from bytes that are valid UTF-8.
///
/// Written here rather than taken from FoundationXML for three reasons measured or seen on Linux: that parser
/// accepted mismatched tags, it expands the entities of a DOCTYPE, and loading it (with libxml2 and ICU) costs
/// every start of a program 2.3 ms even when no XML is read.
struct XMLReader {
    private var scanner: ByteScanner
    private var open: [XMLElement] = []
    private var root: XMLElement?
    private var elements = 0

    /// The root element of the document `scanner` stands at.
    static func read(_ scanner: ByteScanner) throws(CatalogueError) -> XMLElement {
        var reader = XMLReader(scanner: scanner)
        return try reader.document()
    }

    private init(scanner: ByteScanner) { self.scanner = scanner }

    private mutating func document() throws(CatalogueError) -> XMLElement {
        while !scanner.isAtEnd {
            if scanner.next == UInt8(ascii: "<") { try markup() } else { try text() }
        }
        if let unclosed = open.last {
            throw malformed("<\(unclosed.name)> of line \(unclosed.line) is not closed")
        }
        guard let root else { throw malformed("there is no element") }
        return root
    }

    private mutating func markup() throws(CatalogueError) {
        if scanner.take("<!--") {
            try skipComment()
        } else if scanner.take("<![CDATA[") {
            try characterData()
        } else if scanner.starts(with: "<!DOCTYPE") {
            throw .doctypeRefused(line: scanner.line)
        } else if scanner.take("<?") {
            try processingInstruction()
        } else if scanner.take("</") {
            try endTag()
        } else if scanner.take("<!") {
            throw malformed("a declaration that does not belong here")
        } else {
            try startTag()
        }
    }

    /// Clause 3.1: `<name attribute="value" other='value'>`, or the same ending in `/>`.
    private mutating func startTag() throws(CatalogueError) {
        let line = scanner.line
        scanner.skip(1)
        guard root == nil else { throw malformed("something follows the root element") }
        let name = try self.name()
        elements += 1
        guard elements <= Document.maximumValues else {
            throw .tooLarge(limit: Document.maximumValues, unit: "elements")
        }
        guard open.count < Document.maximumDepth else {
            throw malformed("nested deeper than \(Document.maximumDepth) levels")
        }
        let (attributes, isEmpty) = try attributesAndEnd(of: name)
        open.append(XMLElement(name: name, attributes: attributes, line: line))
        if isEmpty { close() }
    }

    private mutating func attributesAndEnd(of element: String) throws(CatalogueError) -> (
        [String: String], Bool
    ) {
        var attributes: [String: String] = [:]
        while true {
            let isSeparated = !scanner.take(while: \.isWhitespace).isEmpty
            if scanner.take("/>") { return (attributes, true) }
            if scanner.take(UInt8(ascii: ">")) { return (attributes, false) }
            guard !scanner.isAtEnd else { throw malformed("the tag <\(element) is not closed") }
            guard isSeparated else { throw malformed("expected a space before an attribute of <\(element)>") }
            let name = try self.name()
            scanner.skipWhitespace()
            guard scanner.take(UInt8(ascii: "=")) else { throw malformed("expected = after \(name)") }
            scanner.skipWhitespace()
            guard attributes.updateValue(try attributeValue(), forKey: name) == nil else {
                throw malformed("<\(element)> has two attributes \(name)")
            }
        }
    }

    private mutating func attributeValue() throws(CatalogueError) -> String {
        guard let quote = scanner.next, quote == UInt8(ascii: "\"") || quote == UInt8(ascii: "'") else {
            throw malformed("expected a value in quotes")
        }
        scanner.skip(1)
        var value = ""
        while !scanner.take(quote) {
            let range = scanner.take { $0 != quote && $0 != UInt8(ascii: "&") && $0 != UInt8(ascii: "<") }
            value += try characters(range, inAttribute: true)
            switch scanner.next {
            case UInt8(ascii: "&"): value.unicodeScalars.append(try reference())
            case UInt8(ascii: "<"): throw malformed("< in a value; write &lt;")
            case nil: throw malformed("a value is not closed")
            default: break
            }
        }
        return value
    }

    private mutating func endTag() throws(CatalogueError) {
        let name = try self.name()
        scanner.skipWhitespace()
        guard scanner.take(UInt8(ascii: ">")) else { throw malformed("</\(name) is not closed") }
        guard let element = open.last else { throw malformed("</\(name)> closes nothing") }
        guard element.name == name else {
            throw malformed("</\(name)> closes <\(element.name)> of line \(element.line)")
        }
        close()
    }

    private mutating func close() {
        guard let element = open.popLast() else { return }
        if open.isEmpty { root = element } else { open[open.count - 1].children.append(element) }
    }

    /// Text between tags; outside the root element only white space may stand.
    private mutating func text() throws(CatalogueError) {
        if scanner.next == UInt8(ascii: "&") {
            let line = scanner.line
            append(String(try reference()))
            guard !open.isEmpty else {
                throw .malformedXML(reason: "text outside the root element", line: line)
            }
            return
        }
        if open.isEmpty {
            scanner.skipWhitespace()
            guard scanner.isAtEnd || scanner.next == UInt8(ascii: "<") else {
                throw malformed("text outside the root element")
            }
            return
        }
        let range = scanner.take { $0 != UInt8(ascii: "<") && $0 != UInt8(ascii: "&") }
        guard !scanner.contains("]]>", in: range) else { throw malformed("]]> in text") }
        append(try characters(range))
    }

    private mutating func characterData() throws(CatalogueError) {
        guard !open.isEmpty else { throw malformed("text outside the root element") }
        guard let range = scanner.take(through: "]]>") else { throw malformed("<![CDATA[ is not closed") }
        append(try characters(range))
    }

    private mutating func append(_ text: String) {
        guard !open.isEmpty else { return }
        open[open.count - 1].text += text
    }

    private mutating func skipComment() throws(CatalogueError) {
        guard scanner.take(through: "--") != nil else { throw malformed("<!-- is not closed") }
        guard scanner.take(UInt8(ascii: ">")) else { throw malformed("-- inside a comment") }
    }

    /// Clause 2.6, and the declaration of clause 2.8, of which only the encoding matters here.
    private mutating func processingInstruction() throws(CatalogueError) {
        let line = scanner.line
        let target = try name()
        guard let range = scanner.take(through: "?>") else { throw malformed("<?\(target) is not closed") }
        guard target == "xml", let encoding = Self.encoding(declaredIn: scanner.text(range)) else { return }
        guard ["utf-8", "utf8", "us-ascii", "ascii"].contains(encoding.lowercased()) else {
            throw .unsupportedEncoding(name: encoding, line: line)
        }
    }

    /// The value of `encoding="..."` in the declaration.
    private static func encoding(declaredIn declaration: String) -> String? {
        let parts = declaration.split { $0.isWhitespace || $0 == "=" || $0 == "\"" || $0 == "'" }
        guard let index = parts.firstIndex(of: "encoding"), index + 1 < parts.count else { return nil }
        return String(parts[index + 1])
    }

    /// Clause 2.3; beyond ASCII every character counts as part of a name.
    private mutating func name() throws(CatalogueError) -> String {
        let underscore = UInt8(ascii: "_")
        let colon = UInt8(ascii: ":")
        guard let first = scanner.next,
            first.isLetter || first == underscore || first == colon || first >= 0x80
        else { throw malformed("expected a name") }
        return scanner.text(
            scanner.take {
                $0.isLetter || $0.isDigit || $0 >= 0x80 || $0 == underscore || $0 == colon
                    || $0 == UInt8(ascii: "-") || $0 == UInt8(ascii: ".")
            })
    }

    /// Clause 4.1 and 4.6: a character by number, or one of the five names that need no declaration.
    private mutating func reference() throws(CatalogueError) -> Unicode.Scalar {
        scanner.skip(1)
        let body = scanner.text(scanner.take { $0.isLetter || $0.isDigit || $0 == UInt8(ascii: "#") })
        guard scanner.take(UInt8(ascii: ";")) else { throw malformed("& that is no reference; write &amp;") }
        switch body {
        case "amp": return "&"
        case "lt": return "<"
        case "gt": return ">"
        case "quot": return "\""
        case "apos": return "'"
        default: break
        }
        let isHexadecimal = body.hasPrefix("#x")
        guard body.hasPrefix("#"),
            let number = UInt32(body.dropFirst(isHexadecimal ? 2 : 1), radix: isHexadecimal ? 16 : 10),
            let scalar = Unicode.Scalar(number), Self.isAllowed(scalar)
        else { throw malformed("&\(body); is unknown") }
        return scalar
    }

    /// The text of a range, its line ends as line feeds (clause 2.11), or its white space as spaces, as it is in
    /// the value of an attribute (clause 3.3.3). Every character must be allowed (clause 2.2).
    private func characters(_ range: Range<Int>, inAttribute: Bool = false) throws(CatalogueError) -> String {
        let bytes = scanner.bytes[range]
        guard bytes.contains(where: { $0 < 0x20 || $0 == 0xEF }) else { return scanner.text(range) }
        var text: [UInt8] = []
        text.reserveCapacity(range.count)
        for index in range {
            switch bytes[index] {
            case UInt8(ascii: "\r"), UInt8(ascii: "\n"), UInt8(ascii: "\t"):
                let isSecondOfPair =
                    bytes[index] == UInt8(ascii: "\n") && bytes[..<index].last == UInt8(ascii: "\r")
                if isSecondOfPair { continue }
                let isTab = bytes[index] == UInt8(ascii: "\t")
                text.append(inAttribute ? UInt8(ascii: " ") : isTab ? UInt8(ascii: "\t") : UInt8(ascii: "\n"))
            case 0..<0x20: throw malformed("a control character")
            // U+FFFE and U+FFFF, which are no characters.
            case 0xEF where bytes[(index + 1)...].starts(with: [0xBF, 0xBE]): throw malformed("U+FFFE")
            case 0xEF where bytes[(index + 1)...].starts(with: [0xBF, 0xBF]): throw malformed("U+FFFF")
            case let byte: text.append(byte)
            }
        }
        return String(decoding: text, as: UTF8.self)
    }

    /// Clause 2.2.
    private static func isAllowed(_ scalar: Unicode.Scalar) -> Bool {
        scalar.value >= 0x20 && scalar.value != 0xFFFE && scalar.value != 0xFFFF
            || scalar == "\t" || scalar == "\n" || scalar == "\r"
    }

    private func malformed(_ reason: String) -> CatalogueError {
        .malformedXML(reason: reason, line: scanner.line)
    }
}
