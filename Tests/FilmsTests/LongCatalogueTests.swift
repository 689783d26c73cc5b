import TestTraits
import Testing

@testable import Films

/// Catalogues that are long enough to be decoded in pieces.
@Suite("Long catalogues", .bounded)
struct LongCatalogueTests {
    private static let count = 4000

    /// Films of about 200 bytes, whose texts and unknown members resemble structure.
    private static func films(_ count: Int = count) -> [String] {
        (0..<count).map { number in
            #"""
            {"id": "\#(number)", "cast": [{"name": "[}, \"]\\"}, [], {}], "title": "Film, [\#(number)] {\\",
             "year": \#(1900 + number % 100), "director": "D \"d\" D", "note": null, "overview": "]}, \"movies\": ["}
            """#
        }
    }

    private static let document = #"{"name": "Long", "movies": ["# + films().joined(separator: ",\n") + "]}"

    @Test("every film is read, in order, whatever its texts")
    func whole() throws {
        let bytes = Array(Self.document.utf8)
        #expect(bytes.count > 500_000)
        for text in [Self.document, "[" + Self.films().joined(separator: " , ") + "]"] {
            let catalogue = try Catalogue(parsing: Array(text.utf8))
            #expect(catalogue.problems == [])
            #expect(catalogue.movies.map(\.id) == (0..<Self.count).map { "\($0)" })
            #expect(catalogue.movies.allSatisfy { $0.title == "Film, [\($0.id)] {\\" })
            #expect(catalogue.movies.allSatisfy { $0.overview == "]}, \"movies\": [" })
        }
        #expect(try Manifest(parsing: bytes).filmsWithoutPoster == Self.count)
    }

    @Test("a fault in any piece, or between two, is refused with its line")
    func malformed() {
        var films = Self.films()
        films[3000] = #"{"id": "x" "title": "y"}"#
        for (text, line) in [
            ("[\n" + films.joined(separator: ",\n") + "]", 6002),
            ("[" + Self.films().joined(separator: ",\n") + "] x", 8000),
            ("[" + Self.films().joined(separator: ",\n") + "}", 8000),
            ("[" + Self.films().joined(separator: ",\n"), 8000),
        ] {
            guard case .malformedJSON(_, let found?, _) = readError(text) else {
                Issue.record("\(text.suffix(20)) was not refused")
                continue
            }
            #expect(found == line, "\(text.suffix(20))")
        }
        // Two commas at the end of a piece: the next piece would start with an empty value.
        let doubled = Self.films().joined(separator: ",,")
        #expect(readError("[" + doubled + "]") != nil)
    }

    @Test("the first of repeated members counts, and a key may have escapes")
    func members() throws {
        let film = #"{"id": "a", "title": "A", "year": 1920, "director": "B"}"#
        for (text, ids) in [
            (#"{"movies": [\#(film)], "movies": []}"#, ["a"]), (#"{"movies": [], "movies": [\#(film)]}"#, []),
            (#"{"m\u006fvies": [\#(film)]}"#, ["a"]),
            (#"{"x": {"movies": [1]}, "movies": [\#(film)]}"#, ["a"]),
        ] {
            #expect(try Catalogue(parsing: Array(text.utf8)).movies.map(\.id) == ids, "\(text)")
        }
        #expect(readError(#"{"movies": 1, "movies": [\#(film)]}"#) != nil)
    }

    @Test("a catalogue with pieces of only white space is refused")
    func blankPieces() {
        let blank = String(repeating: " ", count: 128 << 10)
        #expect(readError("[" + blank + "," + blank + "]") != nil)
        #expect((try? Catalogue(parsing: Array(("[" + blank + "]").utf8)))?.movies == [])
    }
}
