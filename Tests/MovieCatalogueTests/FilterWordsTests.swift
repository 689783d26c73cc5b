import MovieCatalogue
import Testing

@Suite("FilterWords", .timeLimit(.minutes(30)))
struct FilterWordsTests {
    /// The parts of a text that a filter has found.
    private func found(_ filter: String, in text: String, of field: FilterWords.Field = .title) -> [String] {
        FilterWords(filter).ranges(in: text, of: field).map { String(text[$0]) }
    }

    @Test(
        "whole characters are found, without case and accents, however they are encoded",
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
        "every word is found wherever it stands, and what touches is one",
        arguments: [
            ("moon trip", "A Trip to the Moon, a trip", ["Trip", "Moon", "trip"]),
            ("ab bc", "xabcx", ["abc"]),
            ("aa", "aaaa a", ["aaaa"]), ("a  b", "a b", ["a", "b"]),
        ])
    func words(filter: String, text: String, parts: [String]) {
        #expect(found(filter, in: text) == parts)
    }

    @Test("short words are not looked for in an overview, as the index does not find them there")
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
        "the fields are named that have what the titles do not",
        arguments: [
            ("metro", []), ("stadt metro", []), ("lang", [.director]), ("metro lang", [.director]),
            ("fritz lang", [.director]), ("1927 lang", [.year, .director]), ("germ", [.country]),
            ("drama", [.genres]), ("robot", [.overview]), ("zzz", []),
        ] as [(String, [FilterWords.Field])])
    func fields(filter: String, fields: [FilterWords.Field]) {
        #expect(FilterWords(filter).missing(fromTitlesOf: film).fields(of: film) == fields)
    }

    @Test("what the index finds is found in one of the fields, and nothing else is")
    func agreement() {
        let films = [
            film, Movie(id: "a", title: "Ha\u{308}xan", director: "Ønsket  \tŁukasz"),
            Movie(id: "b", title: "İstanbul’da"),
            Movie(id: "c", title: "ΟΔΟΣ", overview: "Ein\nKüß–chen «auf» Reisen"),
        ]
        let index = FilmIndex(films)
        let texts = films.flatMap { film in FilterWords.Field.allCases.compactMap { $0.text(of: film) } }
        for filter in texts.flatMap({ $0.split(whereSeparator: \.isWhitespace) }).map(String.init) + [
            "on", "an", "q",
        ] {
            let words = FilterWords(filter)
            let matches = films.indices.filter { number in
                FilterWords.Field.allCases.contains { field in
                    field.text(of: films[number]).map { !words.ranges(in: $0, of: field).isEmpty } == true
                }
            }
            #expect(index.matches(words) == matches, "\(filter)")
        }
    }
}
