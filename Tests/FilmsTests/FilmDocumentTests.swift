import TestTraits
import Testing

@testable import Films

@Suite("FilmDocument", .bounded)
struct FilmDocumentTests {
    private func read(_ text: String) throws(CatalogueError) -> FilmDocument {
        try FilmDocument(json: JSONText(parsing: Array(text.utf8)))
    }

    @Test("unknown members are written as they were read, in order")
    func unknownMembers() throws {
        let text = #"{"shelf":{"row":3,"tags":[]},"title":"A","year":1922,"seen":null,"price":1.50}"#
        var film = try read(text)
        #expect(film.json() == text)
        film["year"] = JSONText(1923)
        film["seen"] = nil
        film["id"] = JSONText("a")
        #expect(
            film.json() == #"{"shelf":{"row":3,"tags":[]},"title":"A","year":1923,"price":1.50,"id":"a"}"#)
        #expect(try film.movie() == Movie(id: "a", title: "A", year: 1923))
    }

    @Test("a film is read back from XML")
    func throughXML() throws {
        let film = try read(
            """
            {"id":"a&b","title":"<A> \\"B\\"","year":1922,"genres":["Horror"],"overview":"Line\\none","score":7.5,
             "shelf":{"@row":"3","#text":"x","note":["p","q"]},"last seen":2026,"seen":true,"tags":["one"],"none":null,
             "empty":{},"awards":[{"name":"Oscar"},{"name":"Lion"}],"nested":[[1,2],[]],"member":"m"}
            """)
        let xml = film.xml()
        var expected = film
        // White space in known elements is layout.
        expected["overview"] = JSONText("Line one")
        expected["shelf"] = JSONText(members: [
            .init(name: "@row", value: JSONText("3")),
            .init(name: "note", value: JSONText(elements: [JSONText("p"), JSONText("q")])),
            .init(name: "#text", value: JSONText("x")),
        ])
        #expect(try FilmDocument(xml: XMLElement(parsing: Array(xml.utf8))).json() == expected.json())
        #expect(
            xml.hasPrefix(#"<movie id="a&amp;b"><title>&lt;A&gt; &quot;B&quot;</title><year>1922</year>"#))
        #expect(xml.contains(#"<member name="last seen" type="number">2026</member>"#))
    }

    @Test("unknown elements are kept")
    func foreignXML() throws {
        let xml = """
            <movie id="a"><title> A
              B </title><runtime unit="min">94</runtime><actor>X</actor><actor>Y</actor><year>1922</year></movie>
            """
        let film = FilmDocument(xml: try XMLElement(parsing: Array(xml.utf8)))
        #expect(
            film.json()
                == ##"{"id":"a","title":"A B","runtime":{"@unit":"min","#text":"94"},"actor":["X","Y"],"year":1922}"##
        )
    }

    @Test(
        "a merge patch follows RFC 7396",
        arguments: [
            (#"{"a":"b"}"#, #"{"a":"c"}"#, #"{"a":"c"}"#),
            (#"{"a":"b"}"#, #"{"b":"c"}"#, #"{"a":"b","b":"c"}"#),
            (#"{"a":"b"}"#, #"{"a":null}"#, "{}"), (#"{"a":"b","b":"c"}"#, #"{"a":null}"#, #"{"b":"c"}"#),
            (#"{"a":["b"]}"#, #"{"a":"c"}"#, #"{"a":"c"}"#),
            (#"{"a":"c"}"#, #"{"a":["b"]}"#, #"{"a":["b"]}"#),
            (#"{"a":{"b":"c"}}"#, #"{"a":{"b":"d","c":null}}"#, #"{"a":{"b":"d"}}"#),
            (#"{"a":[{"b":"c"}]}"#, #"{"a":[1]}"#, #"{"a":[1]}"#),
            (#"{"e":null}"#, #"{"a":1}"#, #"{"e":null,"a":1}"#),
            (#"{}"#, #"{"a":{"bb":{"ccc":null}}}"#, #"{"a":{"bb":{}}}"#),
        ])
    func merge(target: String, patch: String, result: String) throws {
        var film = try read(target)
        try film.merge(JSONText(parsing: Array(patch.utf8)))
        #expect(film.json() == result)
    }

    @Test("all faults are reported together")
    func problems() throws {
        let film = try read(#"{"id":"top3","year":"x","score":11,"genres":"Horror","rating":"PG","shelf":7}"#)
        #expect(film.problems.map(\.member) == ["id", "title", "year", "genres", "score"])
        #expect(try read(#"{"title":"A"}"#).problems.isEmpty)
        #expect(film.problems[2].detail == "must be a number from 1800 to 9999")
    }

    @Test("a repeated member is refused, unless the caller lets the first one count")
    func twice() throws {
        let text = #"{"title":"A","title":"B"}"#
        guard case .wrongShape = thrown(by: { () throws(CatalogueError) in _ = try read(text) }) else {
            Issue.record("read")
            return
        }
        let film = try FilmDocument(json: JSONText(parsing: Array(text.utf8)), allowsDuplicates: true)
        #expect(film.json() == #"{"title":"A"}"#)
    }

    @Test("characters that XML does not allow are replaced")
    func controls() throws {
        var film = FilmDocument()
        film["title"] = JSONText("A\u{1}B\u{FFFF}")
        #expect(film.xml() == "<movie><title>A\u{FFFD}B\u{FFFD}</title></movie>")
    }

    @Test("the documents of a catalogue equal its films", arguments: [Fixtures.json, Fixtures.xml])
    func documents(text: String) throws {
        let documents = try CatalogueDocuments(parsing: Array(text.utf8))
        #expect(documents.name == "Silents & Co" && documents.count == 2)
        var movies: [Movie] = []
        try documents.forEach { position, film in movies.append(try film.get().movie(position: position)) }
        #expect(movies == Fixtures.movies)
    }

    @Test("a written catalogue is read back", arguments: CatalogueWriter.Format.allCases)
    func writer(format: CatalogueWriter.Format) throws {
        var writer = CatalogueWriter(format: format, name: "A & \"B\"")
        var text = writer.start
        for id in ["a", "b"] {
            var film = FilmDocument()
            film["title"] = JSONText("Title <\(id)>")
            film.putFirst("id", JSONText(id))
            text += writer.film(film)
        }
        text += writer.end
        let catalogue = try Catalogue(parsing: Array(text.utf8))
        #expect(catalogue.name == "A & \"B\"")
        #expect(catalogue.movies.map(\.title) == ["Title <a>", "Title <b>"])
    }
}

@Suite("FilmID", .bounded)
struct FilmIDTests {
    @Test("an id that a path cannot hold is refused")
    func faults() {
        for id in ["", ".", "..", "top", "top3", "a/b", "a\u{7}", "a.json", "b.XML", "c.Html", "\u{85}"]
            + [String(repeating: "é", count: 101)]
        {
            #expect(FilmID.fault(id) != nil, "\(id)")
        }
        for id in ["a", "top4", "Ärger", "a b", "a.jpg", String(repeating: "é", count: 100)] {
            #expect(FilmID.fault(id) == nil, "\(id)")
        }
    }

    @Test("an id is made of title and year")
    func made() {
        #expect(
            FilmID.make(title: "El Camión: A Breaking Bad Movie", year: 2019)
                == "el-camion-a-breaking-bad-movie-2019")
        #expect(FilmID.make(title: "  L’Âge d'Or! ", year: nil) == "lage-dor")
        #expect(FilmID.make(title: "Top", year: nil) == "top-film")
        #expect(FilmID.make(title: "???", year: 1920) == "film-1920")
        #expect(FilmID.fault(FilmID.make(title: String(repeating: "日", count: 500), year: 1950)) == nil)
        #expect(FilmID.random() != FilmID.random())
    }
}
