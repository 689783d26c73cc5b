import Testing

@testable import MovieCatalogue

@Suite("JSONReader", .timeLimit(.minutes(1)))
struct JSONReaderTests {
    private func read(_ text: String) throws(CatalogueError) -> JSONValue {
        try JSONReader.read(ByteScanner(Array(text.utf8)))
    }

    @Test(
        "strings keep every character, however it is written",
        arguments: [
            (#""""#, ""), (#""a\"\\\/\b\f\n\r\t""#, "a\"\\/\u{8}\u{C}\n\r\t"), (#""\u00e9é""#, "éé"),
            (#""\ud83c\udfac🎬""#, "🎬🎬"), (#""\u0000""#, "\u{0}"), ("\"\u{7F}\u{2028}\"", "\u{7F}\u{2028}"),
        ])
    func strings(written: String, value: String) throws {
        #expect(try read(written).string == value)
    }

    @Test(
        "numbers follow the grammar",
        arguments: [
            ("0", 0), ("-0", 0), ("12", 12), ("-1.5e2", -150), ("1E+2", 100), ("0.25", 0.25), ("1e-400", 0),
        ])
    func numbers(written: String, value: Double) throws {
        guard case .number(let number) = try read(written).content else {
            Issue.record("not a number")
            return
        }
        #expect(number == value)
    }

    @Test(
        "what breaks the grammar is refused with its line and column",
        arguments: [
            ("[1,\n 2", 2, 3), ("[1 2]", 1, 4), ("[1,]", 1, 4), ("{\"a\" 1}", 1, 6), ("{\"a\":1,}", 1, 8),
            ("{a:1}", 1, 2), ("[01]", 1, 3), ("[1.]", 1, 4), ("[+1]", 1, 2), ("[.5]", 1, 2), ("[1e]", 1, 4),
            ("[1e999]", 1, 7), ("[NaN]", 1, 2), ("[nul]", 1, 2), ("['a']", 1, 2), ("[\"a\nb\"]", 1, 4),
            (#"["\x"]"#, 1, 5), (#"["\u12g4"]"#, 1, 7), (#"["\ud800"]"#, 1, 9), (#"["\udc00\ud800"]"#, 1, 9),
            (#"["\ud800\u0041"]"#, 1, 15), ("[]]", 1, 3), ("{} x", 1, 4), ("\"open", 1, 6), ("", 1, 1),
        ])
    func malformed(text: String, line: Int, column: Int) {
        let error = thrown { () throws(CatalogueError) in _ = try read(text) }
        guard case .malformedJSON(_, line, column) = error else {
            Issue.record("\(text) gave \(String(describing: error))")
            return
        }
    }

    @Test("of two members with one name the last counts, and null counts as absent")
    func members() throws {
        let object = try read(#"{"a": 1, "b": null, "a": "two"}"#)
        #expect(object["a"]?.string == "two")
        #expect(object["b"] == nil)
        #expect(object["c"] == nil)
    }

    @Test("nesting too deep for the stack is refused")
    func depth() throws {
        func nested(_ depth: Int) -> String {
            String(repeating: "[", count: depth) + String(repeating: "]", count: depth)
        }
        _ = try read(nested(Document.maximumDepth))
        #expect(throws: CatalogueError.self) { try read(nested(Document.maximumDepth + 1)) }
        #expect(throws: CatalogueError.self) { try read(String(repeating: "[", count: 1_000_000)) }
    }

    @Test("every value knows its line")
    func lines() throws {
        guard case .array(let elements) = try read("[1,\n\n2,\r\n3]").content else { return }
        #expect(elements.map(\.line) == [1, 3, 4])
    }
}
