import TestTraits
import Testing

@testable import Films

@Suite("DocumentGrammar", .bounded)
struct DocumentGrammarTests {
    @Test("a media type decides the grammar, or has none")
    func types() {
        let named: [(String, DocumentGrammar?)] = [
            ("application/json", .json), ("application/problem+json", .json), ("Application/XML", .xml),
            ("text/xml", .xml), ("application/soap+xml", .xml), ("image/svg+xml", nil),
            ("application/octet-stream", nil), ("text/plain", nil), ("application/json-seq", nil),
        ]
        for (type, grammar) in named { #expect(DocumentGrammar(mediaType: type) == grammar, "\(type)") }
    }

    @Test(
        "a well-formed document passes, whatever its content",
        arguments: [
            (DocumentGrammar.json, "null"), (.json, "\u{FEFF} [1, {\"a\": \"\\u00e9\"}] \n"),
            (.xml, "<a/>"), (.xml, "\u{FEFF}<?xml version=\"1.0\"?>\n<!-- c --><a b='c'><![CDATA[<]]></a>"),
        ])
    func whole(grammar: DocumentGrammar, text: String) throws {
        try grammar.check(Array(text.utf8))
    }

    @Test(
        "a malformed document does not pass",
        arguments: [
            (DocumentGrammar.json, ""), (.json, " \n"), (.json, "{\"a\":1,}"), (.json, "[1] 2"),
            (.json, "{\"a\":\"\u{0}\"}"), (.json, "<a/>"), (.xml, ""), (.xml, "<a>"), (.xml, "<a></b>"),
            (.xml, "<a/><b/>"), (.xml, "<!DOCTYPE a><a/>"), (.xml, "{}"), (.xml, "<a>\u{0}</a>"),
            (.xml, "<?xml version='1.0' encoding='ISO-8859-1'?><a/>"), (.xml, "text"),
        ])
    func broken(grammar: DocumentGrammar, text: String) {
        #expect(throws: CatalogueError.self, "\(text)") { try grammar.check(Array(text.utf8)) }
    }

    @Test("the error names the invalid UTF-8")
    func encoding() {
        for grammar in [DocumentGrammar.json, .xml] {
            #expect(throws: CatalogueError.notUTF8(offset: 3)) {
                try grammar.check(Array("<a>".utf8) + [0xE9] + Array("</a>".utf8))
            }
        }
    }

    @Test("a document of a hundred thousand elements is checked without keeping them")
    func many() throws {
        let count = 100_000
        let bytes = Array("<a>".utf8) + Array(repeating: Array("<b c='d'>e</b>".utf8), count: count).joined()
        try DocumentGrammar.xml.check(bytes + Array("</a>".utf8))
        #expect(throws: CatalogueError.self) { try DocumentGrammar.xml.check(bytes) }
    }
}
