import Testing

@testable import MovieCatalogue

@Suite("XMLReader", .timeLimit(.minutes(1)))
struct XMLReaderTests {
    private func read(_ text: String) throws(CatalogueError) -> XMLElement {
        try XMLReader.read(ByteScanner(Array(text.utf8)))
    }

    @Test(
        "text is what the document means, not how it is written",
        arguments: [
            ("<a>x &lt;&amp;&gt;&quot;&apos; y</a>", "x <&>\"' y"), ("<a>&#233;&#xE9;é</a>", "ééé"),
            ("<a><![CDATA[<b>&amp;]]]]></a>", "<b>&amp;]]"), ("<a>1<!-- 2 -->3<?pi 4?>5</a>", "135"),
            ("<a>one\r\ntwo\rthree</a>", "one\ntwo\nthree"), ("<a\n>\n</a\n>", "\n"), ("<a/>", ""),
        ])
    func text(written: String, value: String) throws {
        #expect(try read(written).text == value)
    }

    @Test("attributes are read in either quotes, with references and line ends resolved")
    func attributes() throws {
        let element = try read("<a b='\"1\"' c = \"x&amp;\ny\"\n d-e.f='' />")
        #expect(element.attributes == ["b": "\"1\"", "c": "x& y", "d-e.f": ""])
    }

    @Test("children keep their order and their lines")
    func children() throws {
        let element = try read("<a>\n<b/>\n<c><d/></c><b>2</b></a>")
        #expect(element.children.map(\.name) == ["b", "c", "b"])
        #expect(element.children.map(\.line) == [2, 3, 3])
        #expect(element.child("b")?.text == "2")
    }

    @Test("tags that do not match are refused with both names")
    func mismatch() {
        let error = thrown { () throws(CatalogueError) in _ = try read("<a>\n<b>\n</a></b>") }
        #expect(error == .malformedXML(reason: "</a> closes <b> of line 2", line: 3))
    }

    @Test(
        "what is not well formed is refused with its line",
        arguments: [
            ("<a>\n<b>", 2), ("<a></a>\n<b/>", 2), ("</a>", 1), ("<a></a></a>", 1), ("<a/>text", 1),
            ("x<a/>", 1),
            ("<a b=1/>", 1), ("<a b/>", 1), ("<a b='1'c='2'/>", 1), ("<a b='1' b='2'/>", 1),
            ("<a b='<'/>", 1),
            ("<a b='1", 1), ("<a", 1), ("< a/>", 1), ("<1/>", 1), ("<a>&nbsp;</a>", 1), ("<a>& b</a>", 1),
            ("<a>&#0;</a>", 1), ("<a>&#xD800;</a>", 1), ("<a>&#x110000;</a>", 1),
            ("<a>&#99999999999;</a>", 1),
            ("<a>\u{1}</a>", 1), ("<a>]]></a>", 1), ("<a><![CDATA[x</a>", 1), ("<!-- <a/>", 1),
            ("<!-- a -- b --><a/>", 1), ("<a><!ELEMENT b></a>", 1), ("<?xml <a/>", 1), ("<!-- only -->", 1),
            ("<![CDATA[x]]><a/>", 1), ("&amp;<a/>", 1),
        ])
    func malformed(text: String, line: Int) {
        let error = thrown { () throws(CatalogueError) in _ = try read(text) }
        guard case .malformedXML(_, line) = error else {
            Issue.record("\(text) gave \(String(describing: error))")
            return
        }
    }

    @Test("a DOCTYPE is refused before anything it declares is looked at")
    func doctype() {
        let bomb = "<?xml version='1.0'?>\n<!DOCTYPE c [<!ENTITY a \"&b;&b;\">]><catalogue>&a;</catalogue>"
        #expect(readError(bomb) == .doctypeRefused(line: 2))
    }

    @Test("another encoding is refused by name")
    func encoding() throws {
        #expect(
            readError("<?xml version=\"1.0\" encoding=\"ISO-8859-1\"?><catalogue/>")
                == .unsupportedEncoding(name: "ISO-8859-1", line: 1))
        _ = try read("<?xml version='1.0' encoding='utf-8' standalone='yes'?><catalogue/>")
    }

    @Test("nesting too deep is refused")
    func depth() throws {
        func nested(_ depth: Int) -> String {
            String(repeating: "<a>", count: depth) + String(repeating: "</a>", count: depth)
        }
        _ = try read(nested(Document.maximumDepth))
        #expect(throws: CatalogueError.self) { try read(nested(Document.maximumDepth + 1)) }
    }
}
