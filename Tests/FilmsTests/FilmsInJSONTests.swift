import TestTraits
import Testing

@testable import Films

@Suite("films in JSON", .bounded)
struct FilmsInJSONTests {
    private func read(_ text: String) throws(CatalogueError) -> JSONNode {
        try JSONNode(parsing: Array(text.utf8))
    }

    private func value(_ field: FilmMember, _ written: String) throws -> MovieFields.Value? {
        try read("[{\"\(field.name)\": \(written)}]").elements.first.map { MovieFields.Values($0)[field] }
            ?? nil
    }

    @Test(
        "strings keep every character, in any escaping",
        arguments: [
            (#""""#, ""), (#""a\"\\\/\b\f\n\r\t""#, "a\"\\/\u{8}\u{C}\n\r\t"), (#""\u00e9é""#, "éé"),
            (#""\ud83c\udfac🎬""#, "🎬🎬"), (#""\u0000""#, "\u{0}"), ("\"\u{7F}\u{2028}\"", "\u{7F}\u{2028}"),
        ])
    func strings(written: String, text: String) throws {
        #expect(try value(.title, written) == .text(text))
    }

    @Test(
        "numbers follow the grammar",
        arguments: [
            ("0", 0), ("-0", 0), ("12", 12), ("-1.5e2", -150), ("1E+2", 100), ("0.25", 0.25), ("1e-400", 0),
        ])
    func numbers(written: String, number: Double) throws {
        #expect(try value(.score, written) == .number(number))
    }

    @Test(
        "a malformed number or string is a fault of its member",
        arguments: [
            (.score, "01"), (.score, "1."), (.score, "1e"), (.score, "1e999"),
            (.title, "\"a\nb\""),
            (.title, #""\x""#), (.title, #""\u12g4""#), (.title, #""\ud800""#), (.title, #""\udc00\ud800""#),
            (.title, #""\ud800\u0041""#), (.genres, #"["a", 01]"#), (.score, "true"), (.title, "{}"),
        ] as [(FilmMember, String)])
    func faults(field: FilmMember, written: String) throws {
        #expect(try value(field, written) == .other)
    }

    @Test(
        "a malformed name of a member is refused, and a malformed name of the catalogue is none",
        arguments: [
            #"[{"\u1": 1}]"#, #"{"\u12": 1}"#, #"{"movies": [{"\u": 1}]}"#, #"{"\ud800": 1}"#, #"{"\x": 1}"#,
        ])
    func names(text: String) throws {
        #expect(throws: CatalogueError.self) { try read(text) }
        #expect(try read(#"{"name": "\u1", "movies": []}"#)["name"]?.string == nil)
    }

    @Test("null counts as a missing member")
    func null() throws {
        #expect(try value(.title, "null") == nil)
        #expect(try value(.score, "null") == nil)
    }

    @Test("more values than the limit are refused before they are parsed")
    func values() {
        let error = thrown { () throws(CatalogueError) in
            _ = try JSONNode(parsing: Array("[1, [2, 3], {}]".utf8), from: 0, maximumValues: 4)
        }
        #expect(error == .tooLarge(limit: 4, unit: "values"))
    }
}
