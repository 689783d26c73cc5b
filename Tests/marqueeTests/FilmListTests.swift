@testable import Films
import FoundationEssentials
import TestTraits
import Testing

@testable import FilmBrowser

@Suite("Refreshing the browser's films", .bounded)
struct FilmListTests {
    private struct Silence: Error, CustomStringConvertible {
        let description = "http://x/films: no connection"
    }

    private func films(
        _ ids: String, score: [Character: Double] = [:], replacing shown: Catalogue? = nil
    ) -> FilmSet {
        FilmSet(
            ids.map { Movie(id: "\($0)", title: "Film \($0)", score: score[$0]) }, replacing: shown)
    }

    private func list(_ ids: String, selecting id: Character) -> FilmList {
        var list = FilmList()
        _ = list.replace(by: films(ids))
        list.select(ids.map(\.self).firstIndex(of: id) ?? 0)
        return list
    }

    private func replace(_ list: inout FilmList, by films: FilmSet) -> Bool { list.replace(by: films) }

    private func shown(_ list: FilmList) -> String { list.rows.map { list.catalogue.movies[$0].id }.joined() }

    @Test(
        "the selection stays on its film, or moves to the nearest that is left",
        arguments: [
            ("abcde", "c", "xabcde", "c"), ("abcde", "c", "edcba", "c"), ("abcde", "c", "abde", "d"),
            ("abcde", "c", "abe", "e"), ("abcde", "c", "ab", "b"), ("abcde", "e", "abcd", "d"),
            ("abcde", "c", "xyz", "x"),
        ])
    func selection(_ before: String, _ selected: String, _ after: String, _ expected: String) {
        var list = list(before, selecting: Character(selected))
        #expect(replace(&list, by: films(after)) == after.contains(selected))
        #expect(list.selectedMovie?.id == expected)
    }

    @Test("order and filter stay, and an empty catalogue has no selection")
    func orderAndFilter() {
        var list = list("abcd", selecting: "b")
        list.setOrder(.score)
        list.setFilter("film")
        #expect(replace(&list, by: films("abcz", score: ["z": 9, "b": 3, "c": 5])))
        #expect(shown(list) == "zcba" && list.selectedMovie?.id == "b" && list.filter == "film")
        list.setFilter("title: film b")
        #expect(!replace(&list, by: films("")))
        #expect(list.rows.isEmpty && list.selectedMovie == nil)
        #expect(replace(&list, by: films("acz")))
        list.setFilter("")
        #expect(shown(list) == "acz")
        #expect(!replace(&list, by: films("")))
        #expect(list.rows.isEmpty && list.selected == 0)
        #expect(replace(&list, by: films("q")))
        #expect(list.selectedMovie?.id == "q")
    }

    @Test("the director's other films are listed oldest first, with their number if there are many")
    func sameDirector() {
        let years = [1927, 1922, nil, 1924, 1919]
        let movies = years.enumerated().map {
            Movie(id: "\($0)", title: "F\($0)", year: $1, director: $0 == 4 ? "Other" : "Lang")
        }
        var list = FilmList()
        _ = list.replace(by: FilmSet(movies))
        list.select(3)
        #expect(list.sameDirector(first: 6).films.map(\.id) == ["1", "0", "2"])
        #expect(list.sameDirector(first: 2).films.map(\.id) == ["1", "0"])
        #expect(list.sameDirector(first: 2).count == 3)
        list.select(4)
        #expect(list.sameDirector(first: 6).films.isEmpty && list.sameDirector(first: 6).count == 0)
        #expect(FilmList().sameDirector(first: 6).films.isEmpty)
    }

    @Test("the page of a removed film closes, and that of another one stays")
    func filmPage() {
        var state = BrowserState()
        _ = state.take(.whole(films("abc"), confirmed: 1, outage: nil))
        state.press(.enter)
        #expect(state.press(.character("R")) == [.refresh])
        #expect(state.take(.whole(films("ab"), confirmed: 2, outage: nil)).first == .rowsChanged)
        #expect(state.page == .film)
        state.type("R")
        _ = state.take(.whole(films("b"), confirmed: 3, outage: nil))
        #expect(state.page == .films && state.list.selectedMovie?.id == "b")
    }

    @Test("films that may have changed are read again, once what is being read is there")
    func changedFilms() {
        var state = BrowserState()
        #expect(state.refreshOnceRead().isEmpty && state.refreshOnceRead().isEmpty)
        #expect(state.take(.whole(films("abc"), confirmed: 1, outage: nil)).last == .refresh)
        #expect(state.take(.whole(films("ab"), confirmed: 2, outage: nil)).last != .refresh)
        #expect(state.refreshOnceRead() == [.refresh])
    }

    @Test("a completed film stays where it is, and is found by what it has got")
    func completedFilm() {
        var list = FilmList()
        _ = list.replace(by: films("abc"))
        list.select(1)
        list.complete(list.catalogue.movies[1], with: Movie(id: "b", title: "b", director: "Murnau"))
        list.complete(
            list.catalogue.movies[2], with: Movie(id: "c", title: "c", year: 1922, director: "Murnau"))
        #expect(list.selectedMovie?.director == "Murnau")
        #expect(
            list.sameDirector(first: 3).films.map(\.id) == ["c"] && list.sameDirector(first: 3).count == 1)
        list.setFilter("director:murnau")
        #expect(list.rows == [1, 2])
        let whole = Movie(id: "b", title: "b", director: "Dreyer")
        list.complete(list.catalogue.movies[1], with: whole)
        #expect(list.sameDirector(first: 3).count == 0)
        #expect(list.isWhole(whole))
    }

    @Test("a completed film does not stay so in a later list that has other of it")
    func completedFilmOfLaterLists() {
        var list = FilmList()
        _ = list.replace(by: films("abc"))
        list.complete(list.catalogue.movies[1], with: Movie(id: "b", title: "b", director: "Murnau"))
        _ = list.replace(by: films("abd", score: ["b": 7]))
        #expect(list.catalogue.movies.allSatisfy { $0.director == nil && !list.isWhole($0) })
    }

    @Test("films that were missing from an incomplete list are not new")
    func incomplete() {
        var state = BrowserState()
        _ = state.take(.came(films: 2))
        _ = state.take(.part(films("ab")))
        _ = state.take(.failed(Silence()))
        #expect(state.press(.character("R")) == [.refresh])
        let whole = films("abc", replacing: films("ab").catalogue)
        _ = state.take(.whole(whole, confirmed: 10, outage: nil))
        #expect(state.catalogue == .complete(confirmed: 10) && state.list.films.changes.isEmpty)
    }

    @Test(
        "an age is told in whole units",
        arguments: [
            (-5, "0 seconds"), (1, "1 second"), (59, "59 seconds"), (60, "1 minute"), (7199, "1 hour"),
            (86_400 * 3, "3 days"),
        ])
    func age(seconds: Int, text: String) { #expect(Age.text(seconds) == text) }
}
