import SystemSupport
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

    private func random(_ depth: Int, _ numbers: inout SeededNumbers) -> JSONText {
        let texts = [
            "", " ", "a", " a", "a  b", "a\n\n  b\t", "\r\n", "\u{A0}a\u{2003}", "\u{85}", "<&\">", "]]>",
            "&#10;", "é", "5", "true", "number",
        ]
        let names = [
            "a", "b c", "", "type", "@type", "@a", "@name", "@xmlns", "#text", "item", "member", "title",
            "xml",
            "x:y",
        ]
        func one<Value>(_ values: [Value]) -> Value {
            values[Int.random(in: values.indices, using: &numbers)]
        }
        let count = Int.random(in: 0..<4, using: &numbers)
        switch Int.random(in: 0..<(depth > 3 ? 6 : 10), using: &numbers) {
        case 0...3: return JSONText(one(texts))
        case 4: return JSONText(valid: one(["0", "-1.50", "1e999", "-0.0", "12345678901234567890"]))
        case 5: return one([.null, JSONText(true), JSONText(false)])
        case 6, 7: return JSONText(elements: (0..<count).map { _ in random(depth + 1, &numbers) })
        default:
            let chosen = names.shuffled(using: &numbers).prefix(count)
            return JSONText(members: chosen.map { .init(name: $0, value: random(depth + 1, &numbers)) })
        }
    }

    /// The value with the members of its objects by name: XML has attributes before elements, and text after them.
    private func sorted(_ value: JSONText) -> JSONText {
        if let elements = value.elements { return JSONText(elements: elements.map(sorted)) }
        guard let members = value.members else { return value }
        return JSONText(
            members: members.map { .init(name: $0.name, value: sorted($0.value)) }.sorted {
                $0.name < $1.name
            })
    }

    // Two halves, one for each core: under the sanitizer they are the longest of these tests.
    @Test("every text and value of a film comes back from XML, its white space too", arguments: [53, 54])
    func anyThroughXML(seed: UInt64) throws {
        var numbers = SeededNumbers(seed: seed)
        for _ in 0..<Rounds.count(1000, many: 100_000) {
            var film = try read(
                #"{"id":"a","title":"A","overview":" One\n\n\ttwo  three\u000d\n","genres":["a\nb"," c"]}"#)
            film["note"] = random(0, &numbers)
            let xml = film.xml()
            let found = FilmDocument(xml: try XMLElement(parsing: Array(xml.utf8)))
            guard sorted(JSONText(members: found.members)) == sorted(JSONText(members: film.members)) else {
                Issue.record("\(film.json()) is \(xml), and is read as \(found.json())")
                return
            }
        }
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
