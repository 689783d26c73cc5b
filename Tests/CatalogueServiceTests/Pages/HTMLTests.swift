import TestTraits
import Testing

@testable import CatalogueService

@Suite("Writing HTML", .bounded)
struct HTMLTests {
    private func written(_ write: (inout HTML) -> Void) -> String {
        var html = HTML()
        write(&html)
        return String(decoding: html.bytes, as: UTF8.self)
    }

    @Test("every text and attribute value is escaped")
    func escapes() {
        let hostile = #"</a><script>x('"&amp;')</script>"#
        let escaped = "&lt;/a&gt;&lt;script&gt;x(&#39;&quot;&amp;amp;&#39;)&lt;/script&gt;"
        #expect(
            written { $0.element("a", ["href": hostile], text: hostile) }
                == "<a href=\"\(escaped)\">\(escaped)</a>")
        #expect(written { $0.void("img", ["alt": hostile]) } == "<img alt=\"\(escaped)\">")
    }

    @Test("attributes without a value are omitted, and flags have an empty one")
    func flags() {
        #expect(
            written { $0.void("input", ["required": "", "value": nil, "name": "a"]) }
                == #"<input required="" name="a">"#)
    }

    @Test("control characters and noncharacters are replaced; joiners and letters stay")
    func characters() {
        #expect(
            HTML.shown("a\u{0}b\u{1B}c\u{7F}d\u{85}e\r\n")
                == "a\u{FFFD}b\u{FFFD}c\u{FFFD}d\u{FFFD}e \n")
        for value in [0xFFFE, 0x1FFFF, 0xFDD0] as [UInt32] {
            #expect(Unicode.Scalar(value).map { HTML.shown(String($0)) } == "\u{FFFD}")
        }
        let kept = "日本 👩‍👩‍👧 עברית\tñ\n"
        #expect(HTML.shown(kept) == kept)
        #expect(written { $0.text(kept) } == kept)
    }

    @Test("titles do not change the direction of the text after them")
    func direction() {
        #expect(HTML.undirected("a\u{202E}b\u{2066}c\u{2069}\u{202C}") == "abc")
    }

    @Test("counts and scores are written for people")
    func numbers() {
        #expect(
            [0, 12, 123, 1234, 1_234_567].map(ShownFilm.count) == ["0", "12", "123", "1,234", "1,234,567"])
        #expect([0, 8, 8.64, 10].map(ShownFilm.score) == ["0.0", "8.0", "8.6", "10.0"])
    }
}
