import Foundation
import FoundationXML
import SystemSupport
import TestTraits
import Testing

@testable import Films

/// Compares the reader with Foundation's, which is libxml2, on documents made of the pieces that XML is made of.
@Suite("XMLReader beside FoundationXML", .bounded)
struct XMLReferenceTests {
    static let pieces = [
        "<a>", "</a>", "<b", "</b>", "<p:c>", "</p:c>", ">", "/>", "<", "&", ";", " ", "\n", "\r\n", "\r",
        "\t",
        " x='1'", " y=\"2\"", " p:z='3'", " q:z='4'", " xmlns='urn:d'", " xmlns:p='urn:p'",
        " xmlns:q='urn:p'",
        " x=\"<\"", " x='a&lt;\t\r\nb'", "='", "'", "\"", "text", "é🎬", "\u{1}", "\u{FFFE}", "\u{7F}",
        "\u{85}",
        "&amp;", "&#65;", "&#x41;", "&#X41;", "&#xD;", "&#0;", "&#xFFFE;", "&#1114112;", "&nbsp;", "&a",
        "]]>",
        "<![CDATA[", "<![CDATA[<b>&x;]]>", "<!--", "-->", "<!-- c -->", "<!-- -- -->", "<?pi d?>", "<?", "?>",
        "<?XML v?>", "<é·/>", "<·/>", "<a.b-c/>", "<-a/>", "<a:b:c/>", "<:a/>", "<a:/>", "<xml:a/>",
        "<!ELEMENT b>",
        " xml:lang='de'", "<a xmlns:p='urn:p'>", "<a xmlns:p='urn:p' xmlns:q='urn:p'><b", "</b></a>",
        "</a></a>",
    ]

    /// What it reads: names, attributes in the order of their names, texts.
    static func tree(_ element: Films.XMLElement) -> String {
        let attributes = element.attributes.sorted { $0.key < $1.key }.map { "\($0)=\($1.debugDescription)" }
        return "<\(element.name) \(attributes)>\(element.text.debugDescription)"
            + element.children.map(tree).joined() + "</>"
    }

    @Test("both read the same from a document, or both refuse it")
    func same() {
        var random = SeededNumbers(seed: 7)
        var accepted = 0
        for _ in 0..<5_000 {
            let count = Int.random(in: 1...8, using: &random)
            let middle = (0..<count).map { _ in Self.pieces.randomElement(using: &random) ?? "" }.joined()
            let text = Bool.random(using: &random) ? "<a>\(middle)</a>" : "<a \(middle)></a>"
            // Foundation's parser ends the process at an instruction without content, and keeps the carriage
            // returns of CDATA, which are line ends (XML 1.0, 2.11).
            if text.contains(/<\?[^\s?]+\?>/) || text.contains("<![CDATA[") && text.utf8.contains(0x0D) {
                continue
            }
            let ours = (try? XMLReader.read(Array(text.utf8)[...])).map(Self.tree)
            let theirs = FoundationReader.read(text).map(Self.tree)
            #expect(ours == theirs, "\(text.debugDescription)")
            if ours != nil { accepted += 1 }
        }
        #expect(accepted > 300)
    }
}

/// Reads a document with Foundation's parser.
private final class FoundationReader: NSObject, XMLParserDelegate {
    private var open: [Films.XMLElement] = []
    private var root: Films.XMLElement?
    private var hasFailed = false

    static func read(_ text: String) -> Films.XMLElement? {
        let reader = FoundationReader()
        let parser = XMLParser(data: Data(text.utf8))
        parser.delegate = reader
        guard parser.parse(), !reader.hasFailed, reader.open.isEmpty else { return nil }
        return reader.root
    }

    func parser(
        _ parser: XMLParser, didStartElement name: String, namespaceURI _: String?, qualifiedName _: String?,
        attributes: [String: String]
    ) {
        open.append(Films.XMLElement(name: name, attributes: attributes, line: parser.lineNumber))
    }

    func parser(
        _: XMLParser, didEndElement name: String, namespaceURI _: String?, qualifiedName _: String?
    ) {
        guard let element = open.popLast(), element.name == name else {
            hasFailed = true
            return
        }
        if open.isEmpty { root = element } else { open[open.count - 1].children.append(element) }
    }

    func parser(_: XMLParser, foundCharacters text: String) {
        if !open.isEmpty { open[open.count - 1].text += text }
    }

    func parser(_ parser: XMLParser, foundCDATA data: Data) {
        self.parser(parser, foundCharacters: String(decoding: data, as: UTF8.self))
    }

    func parser(_: XMLParser, parseErrorOccurred _: any Error) { hasFailed = true }
}
