import MovieCatalogue
import TestTraits
import Testing

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
        "a word is found in titles, director, year, country and genres, whole or in part",
        arguments: [
            ("sunrise", [2]), ("symph", [0]), ("murnau", [0, 2]), ("1922", [0, 1]), ("192", [0, 1, 2]),
            ("sweden", [1]), ("horror", [1]),
        ])
    func fields(text: String, films: [Int]) {
        #expect(index.matches(FilterWords(text)) == films)
    }

    @Test(
        "every word must be found, in any order and in any field",
        arguments: [
            ("murnau 1922", [0]), ("1927 f. sun", [2]), ("murnau 1922 sunrise", []), ("haxan murnau", []),
        ])
    func everyWord(text: String, films: [Int]) {
        #expect(index.matches(FilterWords(text)) == films)
    }

    @Test("case, accents and spaces are ignored", arguments: ["HAXAN", "häxan", "  hax   1922 "])
    func folded(text: String) {
        #expect(index.matches(FilterWords(text)) == [1])
    }

    @Test(
        "words of three letters or more are found in the overview, too",
        arguments: [("trip", [2]), ("tow", [2]), ("to", []), ("murnau trip", [2]), ("hax trip", [])])
    func overview(text: String, films: [Int]) {
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
}
