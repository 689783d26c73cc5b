import Films
import TestTraits
import Testing

@Suite("Catalogue.match", .bounded)
struct MatchTests {
    private let films = catalogue(
        ["The Kid", "The Kid Brother", "Häxan", "Battleship Potemkin", "The Cabinet of Dr. Caligari", "id0"],
        original: [
            "Battleship Potemkin": "Bronenosets Potyomkin",
            "The Cabinet of Dr. Caligari": "Das Cabinet des Dr. Caligari",
        ])

    private func title(_ text: String) -> String? {
        if case .one(let movie) = films.match(text) { movie.title } else { nil }
    }

    private func suggestions(_ text: String) -> [String]? {
        if case .none(let movies) = films.match(text) { movies.map(\.title) } else { nil }
    }

    @Test("an id goes first, then a whole title, then a part of one title, without case and accents")
    func one() {
        #expect(title("id0") == "The Kid")
        #expect(title("the  KID") == "The Kid")
        #expect(title("haxan") == "Häxan")
        #expect(title("brother") == "The Kid Brother")
        #expect(title("POTYOM") == "Battleship Potemkin")
        #expect(title("caligari") == "The Cabinet of Dr. Caligari")
    }

    @Test(
        "letters with marks match without them, in any normal form",
        arguments: [
            ("Ha\u{308}xan", "haxan"), ("Terje Vigen på sjøen", "pa sjoen"), ("Żółć i Łódź", "ZOLC I LODZ"),
            ("Die Straße", "strasse"), ("L’Âge d’Or", "l'age d'or"), ("Cœur fidèle", "coeur"),
            ("Παρίσι", "ΠΑΡΊΣΙ"),
        ])
    func marks(title: String, typed: String) {
        guard case .one = catalogue([title, "Another"]).match(typed) else {
            Issue.record("\(typed) is not found in \(title)")
            return
        }
    }

    @Test("a part of several titles is ambiguous, and names them all")
    func several() {
        guard case .several(let movies) = films.match("kid") else {
            Issue.record("not several")
            return
        }
        #expect(movies.map(\.title) == ["The Kid", "The Kid Brother"])
    }

    @Test("two films with one title are ambiguous, and both are named")
    func sameTitle() {
        guard case .several(let movies) = catalogue(["Faust", "Faust", "Faust II"]).match("faust") else {
            Issue.record("not several")
            return
        }
        #expect(movies.map(\.id) == ["id0", "id1"])
    }

    @Test("a mistyped part of a title gives suggestions, the nearest first")
    func mistyped() {
        #expect(suggestions("potemkn") == ["Battleship Potemkin"])
        #expect(suggestions("hxaan") == ["Häxan"])
        #expect(suggestions("the kdi") == ["The Kid", "The Kid Brother"])
    }

    @Test("a text without similar titles gives no suggestion, and an empty text no match")
    func nothing() {
        #expect(suggestions("xylophone") == [])
        #expect(suggestions("  ") == [])
        #expect(suggestions(String(repeating: "x", count: 1_000_000)) == [])
    }

    @Test("at most five titles are suggested")
    func atMostFive() {
        guard case .none(let movies) = catalogue((0..<9).map { "Film number \($0)" }).match("filn number")
        else {
            Issue.record("matched")
            return
        }
        #expect(movies.count == 5)
    }
}
