import TestTraits
import Testing

@testable import Films

@Suite("Catalogue.sorted", .bounded)
struct SortTests {
    @Test("titles sort without article, case or accents")
    func titles() {
        let titles = [
            "The Zebra", "éclair", "Dune", "a Dawn", "L’Étoile", "Das Boot", "Ecuador", "The", "Åland",
        ]
        #expect(
            catalogue(titles).sorted(by: .title).map(\.title)
                == [
                    "Åland", "Das Boot", "a Dawn", "Dune", "éclair", "Ecuador", "L’Étoile", "The",
                    "The Zebra",
                ])
    }

    @Test("the best score is first, no score is last, and equal scores go by title")
    func scores() {
        let films = [
            ("a", "The Cat", 5.0), ("b", "Ape", nil), ("c", "Bat", 5), ("d", "Elk", 9), ("e", "Dog", 0),
        ]
        let catalogue = Catalogue(
            name: nil,
            movies: films.map { Movie(id: $0.0, title: $0.1, year: 1920, director: "B", score: $0.2) })
        #expect(catalogue.sorted(by: .score).map(\.title) == ["Elk", "Bat", "The Cat", "Dog", "Ape"])
    }

    @Test("votes go before the score, and a film without a year is last")
    func votes() {
        let catalogue = Catalogue(
            name: nil,
            movies: [
                Movie(id: "a", title: "A", score: 9, rating: 2, votes: 1),
                Movie(id: "b", title: "B", year: 1930, score: 5),
            ])
        #expect(catalogue.sorted(by: .score).map(\.id) == ["b", "a"])
        #expect(catalogue.sorted(by: .year).map(\.id) == ["b", "a"])
    }

    @Test("the oldest film is first, and equal years go by title, then by id")
    func years() {
        let films = [("a", "B", 1927), ("c", "A", 1927), ("b", "A", 1927), ("d", "C", 1919)]
        let catalogue = Catalogue(
            name: nil, movies: films.map { Movie(id: $0.0, title: $0.1, year: $0.2, director: "B") })
        #expect(catalogue.sorted(by: .year).map(\.id) == ["d", "b", "c", "a"])
    }
}
