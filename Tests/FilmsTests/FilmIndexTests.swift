import TestTraits
import Testing

@testable import Films

@Suite("FilmIndex", .bounded)
struct FilmIndexTests {
    private let index = FilmIndex([
        Movie(
            id: "a", title: "Nosferatu", originalTitle: "Eine Symphonie", year: 1922, director: "F. W. Murnau"
        ),
        Movie(
            id: "b", title: "Häxan", year: 1922, director: "Benjamin Christensen",
            country: "Sweden", genres: ["Documentary", "Horror"]),
        Movie(id: "c", title: "Sunrise", year: 1927, director: "F. W. Murnau", overview: "A trip to town."),
    ])

    @Test(
        "every word is found, in any order, in any field, or one of three letters in the overview",
        arguments: [
            // Titles, director, year, country and genres, whole or in part.
            ("sunrise", [2]), ("symph", [0]), ("murnau", [0, 2]), ("1922", [0, 1]), ("192", [0, 1, 2]),
            ("sweden", [1]), ("horror", [1]),
            ("murnau 1922", [0]), ("1927 f. sun", [2]), ("murnau 1922 sunrise", []), ("haxan murnau", []),
            // Case, accents and spaces are ignored.
            ("HAXAN", [1]), ("häxan", [1]), ("  hax   1922 ", [1]),
            ("trip", [2]), ("tow", [2]), ("to", []), ("murnau trip", [2]), ("hax trip", []),
        ])
    func words(text: String, films: [Int]) {
        #expect(index.matches(FilterWords(text)) == films)
    }

    @Test(
        "films whose title or original title has every word are found apart from the others",
        arguments: [
            ("sun", [2]), ("symph", [0]), ("nosf symph", [0]), ("nosf murnau", []), ("192", []),
            ("", [0, 1, 2]),
        ])
    func titles(text: String, films: [Int]) {
        let words = FilterWords(text)
        #expect(index.titleMatches(words, among: index.matches(words)) == films)
    }

    @Test("an empty filter finds every film, and an empty catalogue none")
    func empty() {
        #expect(index.matches(FilterWords("")) == [0, 1, 2])
        #expect(index.matches(FilterWords(" \t")) == [0, 1, 2])
        #expect(FilmIndex([]).matches(FilterWords("")) == [])
    }

    @Test("a text that spans two films is not found")
    func boundaries() {
        #expect(index.matches(FilterWords("1922hax")) == [])
        #expect(index.matches(FilterWords("2h")) == [])
        #expect(index.matches(FilterWords("murnau1927")) == [])
        #expect(index.matches(FilterWords("7")) == [2])
    }

    @Test(
        "a field's words are found in that field only, up to the next field",
        arguments: [
            ("director: murnau", [0, 2]), ("director:MURNAU", [0, 2]), ("Director: murnau f.", [0, 2]),
            ("director: haxan", []), ("director: sweden", []), ("genre: horr", [1]),
            ("genre: docu horror", [1]), ("genre: sweden", []),
            ("title: symph", [0]), ("title: trip", []), ("trip director: murnau", [2]),
            ("director: murnau title: sun", [2]), ("director: year: genre:", [0, 1, 2]),
            ("murnau: 1922", []),
        ])
    func namedFields(text: String, films: [Int]) {
        #expect(index.matches(FilterWords(text)) == films)
        #expect(FilterWords(text).problem == nil)
    }

    @Test(
        "years are a year or a range with or without ends, and all ranges hold",
        arguments: [
            ("year: 1922", [0, 1]), ("year:1922", [0, 1]), ("year: 1922..1926", [0, 1]),
            ("year: 1923..", [2]),
            ("year: ..1922", [0, 1]), ("year: 1923 .. 1930", [2]), ("year: 1920.. year: ..1922", [0, 1]),
            ("murnau year: 1922..1923", [0]), ("year:1922 murnau", [0]), ("year:1922.. murnau", [0, 2]),
            ("year:1922 ..1926 murnau", [0]), ("year: 1800..1801", []),
        ])
    func years(text: String, films: [Int]) {
        #expect(index.matches(FilterWords(text)) == films)
        #expect(FilterWords(text).problem == nil)
        #expect(
            FilmIndex([Movie(id: "x", title: "Without a year")]).matches(FilterWords("year: 1800..")) == [])
    }

    @Test(
        "years that are none are a problem, and not used",
        arguments: ["192", "1929..1920", "..", "1920...1929", "1920-1929", "x", "1799", "10000", "1920..x"])
    func wrongYears(text: String) {
        let words = FilterWords("year: " + text)
        #expect(
            words.problem
                == FieldProblem(
                    member: "year", detail: "needs 1927, 1920..1929, 1920.. or ..1929, not \"\(text)\""))
        #expect(words.isEmpty && index.matches(words) == [0, 1, 2])
    }

    @Test("a film with the whole title is the best hit, then films with the words in a title")
    func best() {
        let kids = FilmIndex([
            Movie(id: "a", title: "My Kid", overview: "x"),
            Movie(id: "b", title: "Sunnyside", overview: "A kid."),
            Movie(id: "c", title: "The Kid"), Movie(id: "d", title: "Enfant", originalTitle: "KID"),
        ])
        #expect(kids.hits(FilterWords("kid")).groups == [[3], [0, 2], [1]])
        #expect(kids.hits(FilterWords("the kid")).groups == [[2]])
        #expect(kids.hits(FilterWords("")).groups == [[0, 1, 2, 3]])
        #expect(!kids.hits(FilterWords("kid")).areSimilar)
    }

    @Test("without a film that has the words, an id counts, else similar titles, the nearest first")
    func similar() {
        let hits = index.hits(FilterWords("hxaan"))
        #expect(hits.groups == [[1]] && hits.areSimilar)
        #expect(index.hits(FilterWords("title: nosfertau year: 1922")).groups == [[0]])
        #expect(index.hits(FilterWords("nosfertau year: 1927")).groups == [])
        // It is not mistyped: no film of that year has it.
        #expect(index.hits(FilterWords("nosferatu year: 1927")).groups == [])
        #expect(
            index.hits(FilterWords("q")).groups == [] && index.hits(FilterWords("xylophone")).groups == [])
        let numbered = FilmIndex([Movie(id: "tt1", title: "One"), Movie(id: "tt2", title: "Two")])
        #expect(numbered.hits(FilterWords("tt2")) == numbered.hits(FilterWords("two")))
    }
}
