import Films
import TestTraits
import Testing

@Suite("JSONText", .bounded)
struct JSONTextTests {
    private func read(_ text: String) throws(CatalogueError) -> JSONText {
        try JSONText(parsing: Array(text.utf8))
    }

    @Test("members keep their order and numbers their digits, and white space is removed")
    func order() throws {
        let value = try read(" { \"b\" : 1.50e2 ,\n\"a\":[ 1 , \"x  y\" ] } ")
        #expect(value.text == #"{"b":1.50e2,"a":[1,"x  y"]}"#)
        #expect(value.members?.map(\.name) == ["b", "a"])
        #expect(value.members?[0].value.number == 150)
        #expect(value.members?[1].value.elements?[1].string == "x  y")
    }

    @Test(
        "escapes are resolved",
        arguments: [
            (#""a\"\\\/\b\f\n\r\tz""#, "a\"\\/\u{8}\u{C}\n\r\tz"), (#""\u00e9\uD83C\uDFAC""#, "é🎬"),
            (#""Ｆilm é""#, "Ｆilm é"), (#""""#, ""),
        ])
    func escapes(written: String, text: String) throws {
        #expect(try read(written).string == text)
        #expect(try read(JSONText(text).text).string == text)
    }

    @Test(
        "a malformed text is refused with line and column",
        arguments: [
            ("{\"a\":1,}", 1, 8), ("[1,\n 2,]", 2, 4), ("[1 2]", 1, 4), ("{\"a\" 1}", 1, 6), ("{a:1}", 1, 2),
            ("\"a", 1, 3), ("\"\\x\"", 1, 2), ("\"\\uD83C\"", 1, 2), ("01", 1, 1), ("1.", 1, 1), ("-", 1, 1),
            ("+1", 1, 1),
            ("nul", 1, 1), ("1 1", 1, 3), ("\"é\u{1}\"", 1, 3), ("[", 1, 2), ("{\"a\":", 1, 6), (".5", 1, 1),
            ("['a']", 1, 2), ("[\n\nNaN]", 3, 1), ("[]\n]", 2, 1),
        ])
    func malformed(text: String, line: Int, column: Int) {
        let error = thrown { () throws(CatalogueError) in _ = try read(text) }
        guard case .malformedJSON(_, line, column) = error else {
            Issue.record("\(text) gave \(String(describing: error))")
            return
        }
    }

    @Test("nesting is limited, and an empty text is refused")
    func limits() {
        let deep = String(repeating: "[", count: 300) + String(repeating: "]", count: 300)
        guard case .malformedJSON = thrown(by: { () throws(CatalogueError) in _ = try read(deep) }) else {
            Issue.record("300 levels were parsed")
            return
        }
        #expect(thrown { () throws(CatalogueError) in _ = try read(" \n") } == .empty)
        #expect(
            thrown { () throws(CatalogueError) in _ = try JSONText(parsing: [0x22, 0xFF, 0x22]) }
                == .notUTF8(offset: 1))
    }

    @Test("numbers, booleans and null are written as in JSON")
    func made() {
        #expect(JSONText(8.0).text == "8")
        #expect(JSONText(8.25).text == "8.25")
        #expect(JSONText(Double.nan).isNull)
        #expect(JSONText(true).flag == true)
        #expect(JSONText("1").number == nil)
    }
}
