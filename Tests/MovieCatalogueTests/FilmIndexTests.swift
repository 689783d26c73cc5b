import MovieCatalogue
import Testing

@Suite("FilmIndex", .timeLimit(.minutes(30)))
struct FilmIndexTests {
    private let index = FilmIndex([
        Movie(
            id: "a", title: "Nosferatu", originalTitle: "Eine Symphonie", year: 1922, director: "F. W. Murnau"
        ),
        Movie(id: "b", title: "Häxan", year: 1922, director: "Benjamin Christensen", country: "Sweden"),
        Movie(id: "c", title: "Sunrise", year: 1927, director: "F. W. Murnau", overview: "A trip to town."),
    ])

    @Test(
        "a word is found in title, original title, director or year, whole or in part",
        arguments: [
            ("sunrise", [2]), ("symph", [0]), ("murnau", [0, 2]), ("1922", [0, 1]), ("192", [0, 1, 2]),
        ])
    func fields(text: String, films: [Int]) {
        #expect(index.matches(text) == films)
    }

    @Test(
        "every word must be found, in any order and in any field",
        arguments: [
            ("murnau 1922", [0]), ("1927 f. sun", [2]), ("murnau 1922 sunrise", []), ("haxan murnau", []),
        ])
    func everyWord(text: String, films: [Int]) {
        #expect(index.matches(text) == films)
    }

    @Test("case, accents and spaces do not count", arguments: ["HAXAN", "häxan", "  hax   1922 "])
    func folded(text: String) {
        #expect(index.matches(text) == [1])
    }

    @Test("country and overview are not searched", arguments: ["sweden", "trip"])
    func otherFields(text: String) {
        #expect(index.matches(text) == [])
    }

    @Test("no words find every film, and no films give none")
    func empty() {
        #expect(index.matches("") == [0, 1, 2])
        #expect(index.matches(" \t") == [0, 1, 2])
        #expect(FilmIndex([]).matches("") == [])
    }

    @Test("a text is found in one film, not where two meet")
    func boundaries() {
        #expect(index.matches("1922hax") == [])
        #expect(index.matches("2h") == [])
        #expect(index.matches("murnau1927") == [])
        #expect(index.matches("7") == [2])
    }
}
