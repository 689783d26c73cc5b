import TestTraits
import Testing

@testable import Films

@Suite("XMLReader", .bounded)
struct XMLReaderTests {
    private func read(_ text: String) throws(CatalogueError) -> XMLElement {
        try XMLReader.read(Array(text.utf8)[...])
    }

    @Test(
        "references, CDATA and line ends in a text are resolved",
        arguments: [
            ("<a>x &lt;&amp;&gt;&quot;&apos; y</a>", "x <&>\"' y"), ("<a>&#233;&#xE9;é</a>", "ééé"),
            ("<a><![CDATA[<b>&amp;]]]]></a>", "<b>&amp;]]"), ("<a>1<!-- 2 -->3<?pi 4?>5</a>", "135"),
            ("<?b?><a>1<?b?>2</a><?b ?>", "12"), ("<a><!-- <!DOCTYPE x> -->1</a>", "1"),
            ("<a><![CDATA[1\r\n2\r3]]></a>", "1\n2\n3"),
            ("<a>one\r\ntwo\rthree</a>", "one\ntwo\nthree"), ("<a\n>\n</a\n>", "\n"), ("<a/>", ""),
        ])
    func text(written: String, value: String) throws {
        #expect(try read(written).text == value)
    }

    @Test("the first of two children with one name counts")
    func firstChild() throws {
        #expect(try read("<a><b>1</b><b>2</b></a>").child("b")?.text == "1")
    }

    @Test("attributes have either quotes, and references and line ends are resolved")
    func quotes() throws {
        let element = try read("<a b='\"1\"' c = \"x&amp;\ny\"\n d-e.f='' />")
        #expect(element.attributes == ["b": "\"1\"", "c": "x& y", "d-e.f": ""])
    }

    @Test("children keep their order and their lines")
    func children() throws {
        let element = try read("<a>\n<b/>\n<c><d/></c><b>2</b></a>")
        #expect(element.children.map(\.name) == ["b", "c", "b"])
        #expect(element.children.map(\.line) == [2, 3, 3])
    }

    @Test("an end tag that does not match is refused with the open tag's name")
    func mismatch() {
        let error = thrown { () throws(CatalogueError) in _ = try read("<a>\n<b>\n</a></b>") }
        #expect(error == .malformedXML(reason: "<b> of line 2 is not closed", line: 3, column: 5))
    }

    @Test(
        "a malformed document is refused with its line",
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
            ("<![CDATA[x]]><a/>", 1), ("&amp;<a/>", 1), ("<a><?b<c?></a>", 1),
            ("<a/><?xml version='1.0'?>", 1),
            ("<a>\u{FFFF}</a>", 1), ("<a b:c='' xmlns:b='u' xmlns:d='u' d:c=''/>", 1),
        ])
    func malformed(text: String, line: Int) {
        let error = thrown { () throws(CatalogueError) in _ = try read(text) }
        guard case .malformedXML(_, line, _) = error else {
            Issue.record("\(text) gave \(String(describing: error))")
            return
        }
    }

    @Test("a DOCTYPE is refused before its declarations are read")
    func doctype() {
        let bomb = "<?xml version='1.0'?>\n<!DOCTYPE c [<!ENTITY a \"&b;&b;\">]><catalogue>&a;</catalogue>"
        #expect(readError(bomb) == .doctypeRefused(line: 2))
        #expect(readError("<!DOCTYPE c SYSTEM 'file:///etc/passwd'><c/>") == .doctypeRefused(line: 1))
    }

    @Test("another encoding is refused with its name")
    func encoding() throws {
        #expect(
            readError("<?xml version=\"1.0\" encoding=\"ISO-8859-2\"?><catalogue/>")
                == .unsupportedEncoding(name: "ISO-8859-2", line: 1))
        _ = try read("<?xml version='1.0' encoding='utf-8' standalone='yes'?><catalogue/>")
    }

    @Test("no encoding hides a DOCTYPE from the check")
    func hiddenDoctype() {
        // HZ ignores a tilde with a line end, and UTF-7 needs no `<`.
        for (name, hidden) in [
            ("HZ", "<!DOC~\nTYPE c [<!ENTITY a 'b'>]>"),
            ("UTF-7", "+ADwAIQ-DOCTYPE c +AFsAPAAh-ENTITY a 'b'+AD4AXQA+-"),
        ] {
            let text = "<?xml version='1.0' encoding='\(name)'?>\(hidden)<catalogue>&a;</catalogue>"
            #expect(readError(text) == .unsupportedEncoding(name: name, line: 1))
        }
        let wide = "<!DOCTYPE c><catalogue/>".utf8.flatMap { byte -> [UInt8] in [byte, 0] }
        #expect(
            thrown { () throws(CatalogueError) in _ = try Catalogue(parsing: wide) } == .unrecognized)
    }

    @Test("a text that the parser delivers in pieces is whole")
    func longText() throws {
        let text = String(repeating: "é&#233;🎬\r\n", count: 20_000)
        let expected = String(repeating: "éé🎬\n", count: 20_000)
        #expect(try read("<a>\(text)</a>").text == expected)
        #expect(try read("<a><![CDATA[\(expected)]]></a>").text == expected)
    }

    @Test("a document above the parser's limit for one buffer is read")
    func large() throws {
        let comment = "<!--" + String(repeating: "x", count: 1_000_000) + "-->"
        let text = "<a>" + String(repeating: comment, count: 11) + "whole</a>"
        #expect(try read(text).text == "whole")
    }

    @Test("an element with very many attributes is refused at once, not after quadratic time")
    func attributes() {
        let attributes = (0...XMLReader.maximumAttributes).map { "a\($0)=''" }.joined(separator: " ")
        let error = thrown { () throws(CatalogueError) in _ = try read("<a \(attributes)/>") }
        #expect(error == .tooLarge(limit: XMLReader.maximumAttributes, unit: "attributes of an element"))
        // A quoted > does not end the tag.
        let hidden = thrown { () throws(CatalogueError) in _ = try read("<a x='\">' \(attributes)/>") }
        #expect(hidden == error)
    }

    @Test("attributes in a text are text")
    func equalsSigns() throws {
        let text = String(repeating: "it's =\" = &lt;", count: XMLReader.maximumAttributes)
        #expect(try read("<a b='1'>\(text)</a>").text == text.replacing("&lt;", with: "<"))
    }

    @Test("more elements than the limit are refused")
    func elements() {
        let error = thrown { () throws(CatalogueError) in
            _ = try XMLReader.read(Array("<a><b/><b/><b/></a>".utf8)[...], maximumElements: 3)
        }
        #expect(error == .tooLarge(limit: 3, unit: "elements"))
    }

    @Test("nesting above the limit is refused")
    func depth() throws {
        func nested(_ depth: Int) -> String {
            String(repeating: "<a>", count: depth) + String(repeating: "</a>", count: depth)
        }
        _ = try read(nested(XMLReader.maximumDepth))
        #expect(throws: CatalogueError.self) { try read(nested(XMLReader.maximumDepth + 1)) }
    }
}
