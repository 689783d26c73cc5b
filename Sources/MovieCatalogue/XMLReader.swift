import Foundation
import FoundationXML

/// An XML element with its content, and the line where its start tag ends.
package struct XMLElement: Sendable {
    let name: String
    let attributes: [String: String]
    let line: Int
    var children: [XMLElement] = []
    /// The element's own text, without its children's.
    var text = ""
    /// Where it stands in its parent's text: after this many bytes of UTF-8.
    var offset = 0

    /// The first child with this name.
    func child(_ name: String) -> XMLElement? { children.first { $0.name == name } }
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
        let offset = open.last?.text.utf8.count ?? 0
        open.append(
            XMLElement(name: name, attributes: attributes, line: parser.lineNumber, offset: offset))
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
        if keepsContent, !open.isEmpty {
            open[open.count - 1].text += String(decoding: data, as: UTF8.self)
        }
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
