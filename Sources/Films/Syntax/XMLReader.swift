import Foundation
import FoundationEssentials
import FoundationXML

/// An XML element with its content. Its name and those of its attributes are as written; a namespace is that of the
/// nearest declaration (Namespaces in XML 1.0, section 6), since the prefixes may differ between documents.
///
///     <s:Body xmlns:s="http://schemas.xmlsoap.org/soap/envelope/"><Film xmlns="urn:marquee:films">…</Film></s:Body>
package struct XMLElement: Sendable {
    /// The name as written, with its prefix.
    let name: String
    /// The attributes by their names as written.
    let attributes: [String: String]
    /// The line where the start tag ends, from 1.
    let line: Int
    package var children: [XMLElement] = []
    /// The element's own text, without its children's.
    package var text = ""
    /// Where it stands in its parent's text: after this many bytes of UTF-8.
    var offset = 0
    fileprivate var scope = XMLScope.outside
    /// Whether the element declares too many namespaces. Its own declarations count for nothing then.
    private var hasTooManyNamespaces = false

    /// Reads the root element of a UTF-8 document. Refuses a DOCTYPE, and too many namespaces.
    package init(parsing bytes: [UInt8]) throws(CatalogueError) {
        guard case .xml(let root) = try Document(parsing: bytes) else {
            throw .malformedXML(reason: "it does not begin with an element", line: 1)
        }
        try root.checkNamespaces()
        self = root
    }

    /// Throws `.tooLarge` if the element, or one in it, declares too many namespaces.
    /// - Parameter depth: how deep to look. Default: in all elements.
    func checkNamespaces(depth: Int = .max) throws(CatalogueError) {
        if hasTooManyNamespaces {
            throw .tooLarge(limit: XMLScope.maximumNamespaces, unit: "namespaces around an element")
        }
        guard depth > 0 else { return }
        for child in children { try child.checkNamespaces(depth: depth - 1) }
    }

    init(name: String, attributes: [String: String] = [:], line: Int, text: String = "") {
        (self.name, self.attributes, self.line, self.text) = (name, attributes, line, text)
    }

    fileprivate mutating func declareNamespaces(inside parent: XMLElement?) {
        let outer = parent?.scope ?? .outside
        let inner = outer.inside(attributes)
        scope = inner ?? outer
        hasTooManyNamespaces = inner == nil
    }

    /// The end of the name's prefix; nil without one. Nearly all names have none.
    private var colon: String.Index? { name.utf8.firstIndex(of: UInt8(ascii: ":")) }

    /// The name without its prefix.
    package var localName: String { colon.map { String(name[name.utf8.index(after: $0)...]) } ?? name }

    /// Empty for a name without a namespace.
    package var namespace: String {
        colon.map { scope.namespaces[String(name[..<$0])] ?? "" } ?? scope.defaultNamespace
    }

    /// The value of an attribute. A name without a prefix has no namespace.
    package func attribute(_ name: String, in namespace: String = "") -> String? {
        if namespace.isEmpty { return name == "xmlns" ? nil : attributes[name] }
        return attributes.first { written, _ in
            let (prefix, local) = Self.split(written)
            return local == name && !prefix.isEmpty && scope.namespaces[prefix] == namespace
        }?.value
    }

    /// The first child with this name, in the element's namespace or in none.
    package func child(_ name: String) -> XMLElement? {
        let index = children.indices.first { index in
            let written = children[index].name
            // Only a longer name can have a prefix.
            guard written == name || written.utf8.count > name.utf8.count && children[index].localName == name
            else { return false }
            return owns(children[index])
        }
        return index.map { children[$0] }
    }

    /// Whether a child is in the element's namespace, or in none.
    func owns(_ child: XMLElement) -> Bool {
        // Most children share the scope.
        if child.scope === scope, child.colon == nil, colon == nil { return true }
        let namespace = child.namespace
        return namespace.isEmpty || namespace == self.namespace
    }

    /// An address in the element, made absolute if `xml:base` says how; otherwise as written. Nil if it is blank.
    func address(_ written: String?) -> String? {
        guard let written = written?.trimmed, !written.isEmpty else { return nil }
        guard let base = scope.base else { return written }
        return URL(string: written, relativeTo: base)?.absoluteString ?? written
    }

    private static func split(_ name: String) -> (prefix: String, local: String) {
        guard let colon = name.utf8.firstIndex(of: UInt8(ascii: ":")) else { return ("", name) }
        return (String(name[..<colon]), String(name[name.utf8.index(after: colon)...]))
    }
}

/// What an element inherits from those around it. Elements without declarations share that of their parent.
private final class XMLScope: Sendable {
    /// The namespaces by prefix.
    let namespaces: [String: String]
    /// That of names without a prefix.
    let defaultNamespace: String
    /// The address that relative addresses start from (XML Base, section 4); nil for the document's own.
    let base: URL?

    /// A limit, because each element with declarations copies the outer ones.
    static let maximumNamespaces = 100

    /// Outside the root element.
    static let outside = XMLScope(["": "", "xml": "http://www.w3.org/XML/1998/namespace"], nil)

    private init(_ namespaces: [String: String], _ base: URL?) {
        (self.namespaces, self.base) = (namespaces, base)
        defaultNamespace = namespaces[""] ?? ""
    }

    /// The scope inside an element with these attributes; nil if there are too many namespaces.
    func inside(_ attributes: [String: String]) -> XMLScope? {
        guard attributes.keys.contains(where: { $0.hasPrefix("xml") }) else { return self }
        var (namespaces, base) = (namespaces, base)
        for (name, value) in attributes {
            if name == "xmlns" {
                namespaces[""] = value
            } else if name.hasPrefix("xmlns:") {
                namespaces[String(name.dropFirst(6))] = value
            } else if name == "xml:base" {
                base = URL(string: value.trimmed, relativeTo: self.base)?.absoluteURL ?? self.base
            }
        }
        return namespaces.count <= Self.maximumNamespaces ? XMLScope(namespaces, base) : nil
    }
}

/// Builds elements with Foundation's parser. That parser can return true for truncated documents and mismatched tags,
/// so the reader also checks the reported errors and the elements still open.
final class XMLReader: XMLParserDelegate {
    /// The deepest nesting of elements; a catalogue needs four.
    static let maximumDepth = 64
    /// The most attributes of an element: the parser compares each with all earlier ones.
    static let maximumAttributes = 1000

    private let maximumElements: Int
    private let keepsContent: Bool
    private var open: [XMLElement] = []
    private var root: XMLElement?
    private var elements = 0
    private var failure: CatalogueError?

    private init(maximumElements: Int, keepsContent: Bool) {
        self.maximumElements = maximumElements
        self.keepsContent = keepsContent
    }

    /// Reads the root element of a UTF-8 document without NUL. White space may precede the declaration.
    /// - Parameter keepsContent: false drops the content of the root, when only well-formedness matters.
    static func read(
        _ bytes: ArraySlice<UInt8>, maximumElements: Int = Document.maximumValues, keepsContent: Bool = true
    ) throws(CatalogueError) -> XMLElement {
        let text = try XMLProlog.checked(bytes)
        let reader = XMLReader(maximumElements: maximumElements, keepsContent: keepsContent)
        // libxml2 fails with an internal error for a single chunk above 10 MB.
        let parser = XMLParser(stream: InputStream(data: Data(text)))
        parser.delegate = reader
        let isParsed = parser.parse()
        if let failure = reader.failure { throw failure }
        // The parser reads documents of fewer than four bytes as empty, without an error.
        guard isParsed, parser.parserError == nil, reader.open.isEmpty, let root = reader.root else {
            throw .malformedXML(reason: "there is no element", line: max(parser.lineNumber, 1))
        }
        return root
    }

    func parser(
        _ parser: XMLParser, didStartElement name: String, namespaceURI: String?, qualifiedName: String?,
        attributes: [String: String]
    ) {
        elements += 1
        guard elements <= maximumElements else {
            return fail(parser, .tooLarge(limit: maximumElements, unit: "elements"))
        }
        guard open.count < Self.maximumDepth else {
            return fail(parser, "nested deeper than \(Self.maximumDepth) levels")
        }
        var element = XMLElement(name: name, attributes: attributes, line: parser.lineNumber)
        element.offset = open.last?.text.utf8.count ?? 0
        element.declareNamespaces(inside: open.last)
        open.append(element)
    }

    func parser(
        _ parser: XMLParser, didEndElement name: String, namespaceURI: String?, qualifiedName: String?
    ) {
        guard failure == nil else { return }
        guard let element = open.popLast(), element.name == name else {
            return fail(parser, "</\(name)> does not match the open element")
        }
        if open.isEmpty {
            root = element
        } else if keepsContent {
            open[open.count - 1].children.append(element)
        }
    }

    func parser(_ parser: XMLParser, foundCharacters text: String) {
        if keepsContent, !open.isEmpty { open[open.count - 1].text += text }
    }

    func parser(_ parser: XMLParser, foundCDATA data: Data) {
        self.parser(parser, foundCharacters: String(decoding: data, as: UTF8.self))
    }

    func parser(_ parser: XMLParser, parseErrorOccurred error: any Error) {
        let code = (error as NSError).code
        fail(parser, reason(code) ?? "error \(code) of libxml2")
    }

    private func fail(_ parser: XMLParser, _ reason: String) {
        let column = parser.columnNumber
        fail(
            parser,
            .malformedXML(reason: reason, line: parser.lineNumber, column: column > 0 ? column : nil))
    }

    /// Keeps the first error, which has the position; later ones follow from it.
    private func fail(_ parser: XMLParser, _ error: CatalogueError) {
        guard failure == nil else { return }
        failure = error
        parser.abortParsing()
    }

    /// The parser reports numbers of libxml2's `xmlParserErrors`; the cases of `XMLParser.ErrorCode` have other
    /// numbers.
    private func reason(_ code: Int) -> String? {
        switch code {
        // DOCUMENT_EMPTY, DOCUMENT_END, TAG_NAME_MISMATCH, TAG_NOT_FINISHED
        case 4, 5, 76, 77:
            if let last = open.last {
                "<\(last.name)> of line \(last.line) is not closed"
            } else {
                root == nil ? "it does not begin with an element" : "unexpected text after the root element"
            }
        // INVALID_CHARREF, INVALID_CHAR
        case 8, 9: "an invalid character"
        // UNDECLARED_ENTITY
        case 26: "an undefined entity; write the character itself"
        // LT_IN_ATTRIBUTE
        case 38: "< in an attribute; write &lt;"
        // ATTRIBUTE_NOT_STARTED, ATTRIBUTE_NOT_FINISHED, ATTRIBUTE_WITHOUT_VALUE
        case 39, 40, 41: "an attribute without a value in quotes"
        // ATTRIBUTE_REDEFINED
        case 42: "a duplicate attribute"
        // COMMENT_NOT_FINISHED, HYPHEN_IN_COMMENT
        case 45, 80: "a comment that is not closed, or holds --"
        // MISPLACED_CDATA_END
        case 62: "]]> in text"
        // NAME_REQUIRED
        case 68: "expected a name; write & as &amp; and < as &lt;"
        // GT_REQUIRED
        case 73: "a tag is not closed"
        // NS_ERR_UNDEFINED_NAMESPACE
        case 201: "a prefix that is not declared; declare it with xmlns"
        default: nil
        }
    }
}

/// Checks the bytes of an XML document before the parser sees them.
enum XMLProlog {
    /// The document without its declaration. Refuses what would make the parser's work explode. Line numbers stay.
    static func checked(_ bytes: ArraySlice<UInt8>) throws(CatalogueError) -> [UInt8] {
        let text = try withoutDeclaration(bytes)
        try checkTags(text)
        return text
    }

    /// Replaces the declaration (XML 1.0, clause 2.8) by white space. The declaration could name another encoding than
    /// UTF-8. The parser would then read another text than the one checked: HZ removes a tilde and a line end from a
    /// DOCTYPE.
    private static func withoutDeclaration(_ bytes: ArraySlice<UInt8>) throws(CatalogueError) -> [UInt8] {
        var text = Array(bytes)
        guard let declaration = XMLDeclaration(text[...]),
            text[declaration.range].dropFirst(5).first?.isWhitespace == true
        else { return text }
        if let encoding = declaration.encoding,
            !["utf-8", "utf8", "us-ascii", "ascii"].contains(encoding.lowercased())
        {
            throw .unsupportedEncoding(
                name: encoding, line: line(of: declaration.range.lowerBound, in: text))
        }
        declaration.remove(from: &text)
        return text
    }

    /// Refuses a DOCTYPE anywhere, because only the parser could tell one in a comment, and limits the attributes of
    /// each tag by counting `=`. A tag ends at a `>` outside quotes, or before the next `<`.
    private static func checkTags(_ text: [UInt8]) throws(CatalogueError) {
        let doctype = Array("<!DOCTYPE".utf8)
        var attributes = 0
        var isInTag = false
        var quote: UInt8?
        for index in text.indices {
            switch text[index] {
            case UInt8(ascii: "<"):
                (attributes, isInTag, quote) = (0, true, nil)
                if text[index...].starts(with: doctype) {
                    throw .doctypeRefused(line: line(of: index, in: text))
                }
            case UInt8(ascii: ">") where quote == nil: isInTag = false
            case UInt8(ascii: "\""), UInt8(ascii: "'"):
                if quote == nil { quote = text[index] } else if quote == text[index] { quote = nil }
            case UInt8(ascii: "=") where isInTag:
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
        guard let declaration = XMLDeclaration(bytes.prefix(longestDeclaration)),
            latin.contains(declaration.encoding?.lowercased() ?? "")
        else { return nil }
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
        declaration.remove(from: &text)
        return text
    }

    /// UTF-16. Units that are no text become U+FFFD.
    private static func wide(_ bytes: [UInt8], _ unit: (UInt16, UInt16) -> UInt16) -> [UInt8] {
        let units = stride(from: 2, to: bytes.count - 1, by: 2).map {
            unit(UInt16(bytes[$0]), UInt16(bytes[$0 + 1]))
        }
        // Half a unit at the end is no text either.
        let end = bytes.count % 2 == 0 ? "" : "\u{FFFD}"
        var text = Array((String(decoding: units, as: UTF16.self) + end).utf8)
        guard let declaration = XMLDeclaration(text.prefix(longestDeclaration)),
            declaration.encoding?.lowercased().hasPrefix("utf-16") == true
        else { return text }
        declaration.remove(from: &text)
        return text
    }

    /// The longest declaration that is looked for, in bytes.
    private static let longestDeclaration = 256
}

/// The declaration at the beginning of a document (XML 1.0, clause 2.8).
private struct XMLDeclaration {
    /// As written; nil if it names none.
    let encoding: String?
    let range: Range<Int>

    init?(_ beginning: ArraySlice<UInt8>) {
        guard let start = beginning.firstIndex(where: { !$0.isWhitespace }),
            beginning[start...].starts(with: Array("<?xml".utf8)),
            let end = beginning.firstRange(of: Array("?>".utf8))
        else { return nil }
        range = start..<end.upperBound
        let words = String(decoding: beginning[start..<end.lowerBound], as: UTF8.self)
            .split { $0.isWhitespace || $0 == "=" || $0 == "\"" || $0 == "'" }
        encoding = words.firstIndex(of: "encoding").flatMap { index in
            index + 1 < words.count ? String(words[index + 1]) : nil
        }
    }

    /// Puts white space in place of the declaration, which is ASCII.
    func remove(from text: inout [UInt8]) {
        for index in range where text[index] != UInt8(ascii: "\n") { text[index] = UInt8(ascii: " ") }
    }
}
