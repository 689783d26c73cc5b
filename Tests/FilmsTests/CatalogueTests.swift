import FoundationEssentials
import TestTraits
import Testing

@testable import Films

@Suite("Catalogue", .bounded)
struct CatalogueTests {
    @Test("JSON and XML give the same films", arguments: [Fixtures.json, Fixtures.xml])
    func bothForms(text: String) throws {
        let catalogue = try Catalogue(parsing: Array(text.utf8))
        #expect(catalogue.name == "Silents & Co")
        #expect(catalogue.movies == Fixtures.movies)
    }

    @Test(
        "a byte order mark and white space may precede the document",
        arguments: [Fixtures.json, Fixtures.xml])
    func byteOrderMark(text: String) throws {
        let bytes = [0xEF, 0xBB, 0xBF] + Array(" \r\n\t".utf8) + Array(text.utf8)
        // XML requires its declaration to come first. A blank line before it is accepted too.
        #expect(try Catalogue(parsing: bytes).movies == Fixtures.movies)
    }

    @Test("a bare array of films is a catalogue without a name")
    func bareArray() throws {
        let text = #"[{"id": 7, "title": "A", "year": 1920, "director": "B"}]"#
        let catalogue = try Catalogue(parsing: Array(text.utf8))
        #expect(catalogue.name == nil)
        #expect(catalogue.movies == [Movie(id: "7", title: "A", year: 1920, director: "B")])
    }

    @Test("the error for a missing member names the film, the member, and in XML the line")
    func missingField() {
        #expect(
            readError("{\"movies\": [\n{\"title\": \"Alpha\", \"year\": 1920}]}")
                == .missingField(movie: "film 1 (\"Alpha\")", field: "id", line: nil))
        #expect(
            readError("<catalogue>\n\n<movie><title>Alpha</title></movie></catalogue>")
                == .missingField(movie: "film 1 (\"Alpha\")", field: "id", line: 3))
        #expect(
            readError(#"[{"id": "a", "title": "  "}]"#)
                == .missingField(movie: "film 1 (\"  \")", field: "title", line: nil))
    }

    @Test("a film may lack year and director")
    func titleOnly() throws {
        let json = try Catalogue(parsing: Array(#"[{"id": "a", "title": "A"}]"#.utf8))
        let xml = try Catalogue(
            parsing: Array("<catalogue><movie id='a'><title>A</title></movie></catalogue>".utf8))
        #expect(json.movies == [Movie(id: "a", title: "A")])
        #expect(xml.movies == json.movies)
    }

    @Test("the members that a library adds are read, and malformed ones are ignored")
    func libraryFields() throws {
        let text = """
            [{"id": "a", "title": "A", "rating": 8.5, "votes": 2, "created_at": "2026-01-01T00:00:00.000Z"},
             {"id": "b", "title": "B", "rating": "PG-13", "votes": -1, "updated_at": 5}]
            """
        let movies = try Catalogue(parsing: Array(text.utf8)).movies
        #expect(
            movies == [
                Movie(id: "a", title: "A", rating: 8.5, votes: 2, createdAt: "2026-01-01T00:00:00.000Z"),
                Movie(id: "b", title: "B"),
            ])
    }

    @Test("the film itself is a file or an address, in JSON and XML; another type of value is ignored")
    func media() throws {
        let json =
            #"[{"id": "a", "title": "A", "media": " films/a.mkv "}, {"id": "b", "title": "B", "media": {}}]"#
        let xml = """
            <catalogue><movie id='a'><title>A</title><media>films/a.mkv</media></movie>
            <movie id='b'><title>B</title><media/></movie></catalogue>
            """
        for text in [json, xml] {
            let catalogue = try Catalogue(parsing: Array(text.utf8))
            #expect(catalogue.problems.isEmpty)
            #expect(
                catalogue.movies == [
                    Movie(id: "a", title: "A", media: "films/a.mkv"), Movie(id: "b", title: "B"),
                ])
            let whole = catalogue.resolvingAddresses(against: try #require(URL(string: "http://h/x/c.json")))
            #expect(whole.movies.map(\.media) == ["http://h/x/films/a.mkv", nil])
        }
    }

    @Test(
        "the error names a member with a wrong type or range",
        arguments: [
            (#""year": "1920""#, "year", "a number from 1800 to 9999"),
            (#""year": 1e300"#, "year", "a number from 1800 to 9999"),
            (#""year": 1920.5"#, "year", "a whole number"),
            (#""year": 1920, "minutes": -1"#, "minutes", "a number from 1 to 100000"),
            (#""year": 1920, "score": 11"#, "score", "a number from 0 to 10"),
            (#""year": 1920, "genres": "Horror""#, "genres", "a list of texts"),
            (#""year": 1920, "genres": [1]"#, "genres", "a list of texts"),
            (#""year": 1920, "poster": {}"#, "poster", "text"),
        ])
    func wrongType(fields: String, field: String, expected: String) {
        #expect(
            readError(#"[{"id": "a", "title": "A", "director": "B", \#(fields)}]"#)
                == .wrongType(movie: "film 1 (\"A\")", field: field, expected: expected, line: nil))
    }

    @Test("a year in words is refused in XML, too")
    func yearInWords() {
        let text =
            "<catalogue><movie id='a'><title>A</title><director>B</director><year>long ago</year></movie></catalogue>"
        #expect(
            readError(text)
                == .wrongType(
                    movie: "film 1 (\"A\")", field: "year", expected: "a number from 1800 to 9999", line: 1))
    }

    @Test("the second of two films with one id is left out")
    func duplicateIdentifier() throws {
        let film = #"{"id": "a", "title": "A", "year": 1920, "director": "B"}"#
        let catalogue = try Catalogue(parsing: Array("[\(film),\n\(film)]".utf8))
        #expect(catalogue.movies.map(\.id) == ["a"])
        #expect(catalogue.problems == [.duplicateIdentifier(id: "a", line: nil)])
    }

    @Test("an invalid film is left out, and the others are read")
    func leftOut() throws {
        let good = ["a", "b", "c"].map { #"{"id": "\#($0)", "title": "A", "year": 1920, "director": "B"}"# }
        let bad = #"{"id": "d", "year": 1920, "director": "B"}"#
        let json = "[\(good[0]), \(bad), \(good[1]), 7, \(good[2])]"
        let catalogue = try Catalogue(parsing: Array(json.utf8))
        #expect(catalogue.movies.map(\.id) == ["a", "b", "c"])
        #expect(
            catalogue.problems == [
                .missingField(movie: "film 2 (\"d\")", field: "title", line: nil),
                .wrongShape(expected: "an object for film 4", line: nil),
            ])
        let xml = """
            <catalogue>
            <movie id='a'><title>A</title><year>1920</year><director>B</director></movie>
            <movie id='b'><year>1920</year><director>B</director></movie>
            </catalogue>
            """
        let fromXML = try Catalogue(parsing: Array(xml.utf8))
        #expect(fromXML.movies.map(\.id) == ["a"])
        #expect(fromXML.problems == [.missingField(movie: "film 2 (\"b\")", field: "title", line: 3)])
    }

    @Test("a document that is not a catalogue has another error than a malformed one")
    func wrongShape() {
        #expect(readError("") == .empty)
        #expect(readError("\u{FEFF} \n") == .empty)
        #expect(readError("posters/a.jpg") == .unrecognized)
        #expect(readError("{\"films\": []}").map { "\($0)" }?.contains("\"movies\"") == true)
        #expect(readError("[1]") == .wrongShape(expected: "an object for film 1", line: nil))
        #expect(
            readError("\n<film></film>")
                == .wrongShape(expected: "<catalogue>, <feed> or <rss>, not <film>", line: 2))
        for page in [
            "\n<html></html>", "<!doctype html><p>Log in<br>", "<!DOCTYPE HTML PUBLIC \"x\">",
            "<HTML lang=en>",
        ] {
            #expect(readError(page) == .webPage)
        }
    }

    @Test("invalid UTF-8 is refused with its offset")
    func notUTF8() {
        let bytes = Array("[\"".utf8) + [0xC3, 0x28] + Array("\"]".utf8)
        #expect(
            thrown { () throws(CatalogueError) in _ = try Catalogue(parsing: bytes) } == .notUTF8(offset: 2))
    }

    @Test("a document above the limit is refused before it is parsed")
    func tooLarge() {
        let bytes = [UInt8](repeating: 0x20, count: 64 << 20) + [0x5B]
        #expect(
            thrown { () throws(CatalogueError) in _ = try Catalogue(parsing: bytes) }
                == .tooLarge(limit: 64 << 20, unit: "bytes"))
    }

    @Test("an error is one line")
    func descriptions() {
        for error: CatalogueError in [
            .empty, .tooLarge(limit: 1, unit: "bytes"), .notUTF8(offset: 3),
            .unsupportedEncoding(name: "UTF-16", line: 1), .unrecognized,
            .malformedJSON(reason: "r", line: 1), .malformedXML(reason: "r", line: 1),
            .malformedXML(reason: "r", line: 1, column: 2),
            .doctypeRefused(line: 1), .webPage, .wrongShape(expected: "e", line: 1),
            .missingField(movie: "m", field: "f", line: 1),
            .wrongType(movie: "m", field: "f", expected: "e", line: 1),
            .duplicateIdentifier(id: "i", line: 1),
        ] {
            #expect(!error.description.isEmpty && !error.description.contains("\n"))
        }
    }
}
