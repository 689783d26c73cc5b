import TestTraits
import Testing

@testable import Films

@Suite("FilterWords", .bounded)
struct FilterWordsTests {
    /// The parts of a text that a filter matches.
    private func found(_ filter: String, in text: String, of field: FilmMember = .title) -> [String] {
        FilterWords(filter).ranges(in: text, of: field).map { String(text[$0]) }
    }

    @Test(
        "whole characters match, without case and accents, in any normal form",
        arguments: [
            ("hax", "Häxan", ["Häx"]), ("HAX", "Ha\u{308}xan", ["Ha\u{308}x"]), ("ss", "Die Straße", ["ß"]),
            ("oeur", "Cœur", ["œur"]), ("d'or", "L’Âge d’Or", ["d’Or"]), ("sjo", "på sjøen", ["sjø"]),
            ("παρι", "ΠΑΡΙΣΙ", ["ΠΑΡΙ"]), ("x", "Häxan xX", ["x", "xX"]), ("nothing", "Häxan", []),
            ("", "A", []),
        ])
    func folded(filter: String, text: String, parts: [String]) {
        #expect(found(filter, in: text) == parts)
    }

    @Test(
        "every occurrence of every word matches, and adjacent matches are joined",
        arguments: [
            ("moon trip", "A Trip to the Moon, a trip", ["Trip", "Moon", "trip"]),
            ("ab bc", "xabcx", ["abc"]),
            ("aa", "aaaa a", ["aaaa"]), ("a  b", "a b", ["a", "b"]),
        ])
    func words(filter: String, text: String, parts: [String]) {
        #expect(found(filter, in: text) == parts)
    }

    @Test("a field's words are marked in that field only")
    func fieldsMarked() {
        #expect(found("ax director: chris", in: "Häxan Chris", of: .title) == ["äx"])
        #expect(found("ax director: chris", in: "Benjamin Christensen", of: .director) == ["Chris"])
        #expect(found("title: hax", in: "Häxan", of: .originalTitle) == ["Häx"])
        #expect(found("title: hax", in: "Häxan", of: .overview) == [])
    }

    @Test("short words do not match in an overview, as in the index")
    func overview() {
        #expect(found("a ca cam", in: "a camera", of: .overview) == ["cam"])
        #expect(
            found("a ca cam", in: "a camera", of: .director) == ["a", "camera"].map {
                $0 == "a" ? "a" : "cam"
            } + ["a"])
    }

    private let film = Movie(
        id: "m", title: "Metropolis", originalTitle: "Die Stadt", year: 1927, director: "Fritz Lang",
        country: "Germany", genres: ["Drama"], overview: "A city of two classes, and a robot.")

    @Test(
        "the fields that match the words missing from the titles are named",
        arguments: [
            ("metro", []), ("stadt metro", []), ("lang", [.director]), ("metro lang", [.director]),
            ("fritz lang", [.director]), ("1927 lang", [.year, .director]), ("germ", [.country]),
            ("drama", [.genres]), ("robot", [.overview]), ("zzz", []),
        ] as [(String, [FilmMember])])
    func fields(filter: String, fields: [FilmMember]) {
        #expect(FilterWords(filter).missing(fromTitlesOf: film).fields(of: film) == fields)
    }

    @Test("a word is found at every place of a text, whatever its length")
    func places() {
        let title = "abcdefghijklmnopqrstuvwxyz0123456789"
        let index = FilmIndex([Movie(id: "a", title: title), Movie(id: "b", title: "-")])
        for length in 1...20 {
            for start in 0...title.utf8.count - length {
                let word = String(title.dropFirst(start).prefix(length))
                #expect(index.matches(FilterWords(word)) == [0], "\(word)")
                // Both its ends are in the text, and as far apart.
                let other = length > 2 ? "\(word.prefix(1))_\(word.dropFirst(2))" : "_" + word
                #expect(index.matches(FilterWords(other)).isEmpty, "\(other)")
            }
        }
    }

    @Test("the index finds exactly the films whose fields match")
    func agreement() {
        let films = [
            film, Movie(id: "a", title: "Ha\u{308}xan", director: "Ønsket  \tŁukasz"),
            Movie(id: "b", title: "İstanbul’da"),
            Movie(id: "c", title: "ΟΔΟΣ", overview: "Ein\nKüß–chen «auf» Reisen"),
        ]
        let index = FilmIndex(films)
        let texts = films.flatMap { film in FilmMember.searched.compactMap { film.text($0) } }
        for filter in texts.flatMap({ $0.split(whereSeparator: \.isWhitespace) }).map(String.init) + [
            "on", "an", "q",
        ] {
            let words = FilterWords(filter)
            let matches = films.indices.filter { number in
                FilmMember.searched.contains { field in
                    films[number].text(field).map { !words.ranges(in: $0, of: field).isEmpty } == true
                }
            }
            #expect(index.matches(words) == matches, "\(filter)")
        }
    }
}
