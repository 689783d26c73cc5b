@testable import Films
import FoundationEssentials
import TerminalGraphics
import TestTraits
import Testing

@testable import FilmBrowser

@Suite("Keys of the browser", .bounded)
struct BrowserKeysTests {
    /// A hundred films. The tenth has a file to play.
    private func state() -> BrowserState {
        let movies = (0..<100).map { number in
            Movie(
                id: "\(number)", title: "Film \(number)", year: 1900 + number % 30,
                director: "Someone \(number)",
                overview: number == 70 ? "A robot." : nil, score: Double(number % 10),
                media: number == 9 ? "films/9.mkv" : nil)
        }
        return BrowserState(showing: movies)
    }

    @Test("q goes back from a page and from help, and quits the list")
    func back() {
        var state = state()
        state.type("\r?")
        #expect(state.press(.character("q")) == [] && !state.isHelpShown && state.page == .film)
        #expect(state.press(.character("q")) == [.rowsChanged] && state.page == .films)
        #expect(state.press(.character("q")) == [.quit])
    }

    @Test("Ctrl-F and Ctrl-B move a page, Ctrl-D and Ctrl-U half of one, also while a filter is typed")
    func pages() {
        var state = state()
        let page = state.layout.pageRows
        state.press(.character("f"), .control)
        #expect(state.list.selected == page)
        state.press(.character("d"), .control)
        #expect(state.list.selected == page + page / 2)
        state.press(.character("u"), .control)
        state.press(.character("b"), .control)
        #expect(state.list.selected == 0)
        state.type("/")
        state.press(.character("f"), .control)
        #expect(state.list.selected == page && state.list.filter.isEmpty)
    }

    @Test("h, l, Left and Right show the previous and next film's page; in the list l opens the page")
    func turning() {
        var state = state()
        state.type("l")
        #expect(state.page == .film)
        state.type("ll")
        state.press(.right)
        #expect(state.list.selected == 3)
        state.type("h")
        state.press(.left)
        #expect(state.list.selected == 1 && state.page == .film)
        state.press(.character("d"), .control)
        state.press(.character("f"), .control)
        #expect(state.list.selected == 3)
    }

    @Test("s sorts, and the selected film stays selected and on the screen, in the list and on its page")
    func order() {
        var state = state()
        state.press(.end)
        state.type("s")
        #expect(state.list.order == .score && state.list.selectedMovie?.id == "99")
        #expect(state.shown.contains(state.list.selected))
        state.type("s")
        #expect(state.list.order == .year && state.list.selectedMovie?.id == "99")
        #expect(state.shown.contains(state.list.selected))
        state.type("\rs")
        #expect(state.list.order == .title && state.page == .film && state.list.selectedMovie?.id == "99")
    }

    @Test("a search says what is wrong with its fields, and sorts within them")
    func fields() {
        var state = state()
        state.type("/director: SOMEONE year: 1905..1906\rs")
        #expect(state.list.rows.map { $0 % 10 } == [6, 6, 6, 6, 5, 5, 5, 5])
        state.type("/")
        for _ in 0..<2 { state.press(.backspace) }
        #expect(state.list.rows.count == 100)
        #expect(state.message == "year: needs 1927, 1920..1929, 1920.. or ..1929, not \"1905..19\"")
    }

    @Test("a search forgives typing errors, and selects the nearest title")
    func mistyped() {
        var state = state()
        state.type("/fiml 42")
        #expect(state.list.selectedMovie?.id == "42")
        #expect(state.message == "No film has these words; these titles are similar")
        state.press(.escape)
        // The whole title goes before longer ones that contain it.
        state.press(.end)
        state.type("/film 1")
        #expect(state.list.rows[0] == 1 && state.list.selectedMovie?.id == "1")
    }

    @Test("Up in a search brings back earlier ones, and Down goes on to the line that was being typed")
    func history() {
        var state = state()
        state.type("/")
        state.press(.up)
        #expect(state.editor?.text == "" && state.list.selected == 0)
        state.type("film 1\r/")
        state.press(.character("u"), .control)
        state.type("film 2")
        state.press(.escape)
        state.type("/new")
        state.press(.up)
        #expect(state.editor?.text == "film 2" && state.list.selectedMovie?.id == "2")
        state.press(.up)
        state.press(.up)
        #expect(state.editor?.text == "film 1" && state.list.filter == "film 1")
        state.press(.down)
        state.press(.down)
        state.press(.down)
        #expect(state.editor?.text == "new" && state.list.filter == "new")
        // The kept search is in the line already.
        state.press(.up)
        state.type("\r/")
        state.press(.up)
        #expect(state.editor?.text == "film 1")
    }

    @Test("/ on a film's page returns to the list and opens the filter")
    func filterFromPage() {
        var state = state()
        state.type("\r/odd")
        #expect(state.page == .films && state.isFiltering && state.list.filter == "odd")
    }

    @Test(
        "a paste is inserted into the filter, Backspace in an empty line closes it, and it can be continued")
    func editing() {
        var state = state()
        state.type("/film ")
        _ = state.handle(.paste("12\n"), now: 0)
        #expect(state.list.filter == "film 12 " && state.list.rows == [12, 42, 72])
        state.press(.character("u"), .control)
        #expect(state.list.filter.isEmpty && state.isFiltering && state.list.rows.count == 100)
        state.press(.backspace)
        #expect(!state.isFiltering)
        // The earlier filter can be continued.
        state.type("/9\r/")
        state.press(.left)
        state.type("7")
        #expect(state.list.filter == "79")
    }

    @Test(
        "Enter on a film's page plays its file or address, and says so and stays if it has none")
    func playing() {
        var state = state()
        state.press(.enter)
        #expect(state.press(.enter) == [] && state.page == .film)
        #expect(state.message?.hasPrefix("this film has no media to play") == true)
        state.press(.escape)
        #expect(state.page == .films && state.message == nil)
        for _ in 0..<9 { state.type("n") }
        state.press(.enter)
        #expect(state.press(.enter) == [.play("films/9.mkv")] && state.page == .film)
        state.offerSeen()
        #expect(state.message == "Seen: Film 9?")
        #expect(state.press(.character("y")).contains { if case .mark = $0 { true } else { false } })
        #expect(state.message == "Seen: Film 9")
        state.press(.enter)
        state.offerSeen()
        #expect(state.message != "Seen: Film 9?", "it is seen already")
    }

    @Test("Enter plays the first episode that is unseen, and the page lists all of them")
    func series() {
        var series = Movie(id: "s", title: "Fantômas", year: 1913)
        series.parts = [(1, 1), (1, 2), (0, 1)].map { (season: Int, number: Int) in
            FilmPart(
                season: season, number: number, title: "Part \(season)\(number)",
                media: "\(season)/\(number).mkv")
        }
        series[.media] = .text("1/1.mkv")
        #expect(MovieText.facts(series) == "1913 · 3 episodes")
        var state = BrowserState(showing: [series])
        state.press(.enter)
        #expect(state.press(.enter) == [.play("1/1.mkv")])
        state.offerSeen()
        #expect(state.message == "Seen: Part 11?")
        state.type("y")
        #expect(state.press(.enter) == [.play("1/2.mkv")])
        let text = FilmPage(
            in: CellRectangle(at: CellPosition(column: 0, row: 0), size: CellSize(columns: 80, rows: 24)),
            cellAspect: 2, isAlone: true
        )
        .lines(of: series, state.context).map { $0.map(\.text).joined() }
        for line in [
            "Episodes  3", "Season 1", "   1  Part 11  ✓", "   2  Part 12", "Specials", "   1  Part 01",
        ] {
            #expect(text.contains(line), "\(line)")
        }
        // Another key needs no answer.
        state.offerSeen()
        #expect(state.press(.character("q")) == [.rowsChanged] && state.page == .films)
        #expect(state.overlay == nil)
    }

    @Test("of several versions a digit chooses the one that plays")
    func versions() {
        var film = Movie(id: "f", title: "Faust", year: 1926)
        film.parts = ["4K", "1080p"].map { FilmPart(title: $0, media: "\($0).mkv") }
        film[.media] = .text("4K.mkv")
        var state = BrowserState(showing: [film])
        state.press(.enter)
        #expect(state.press(.enter) == [])
        #expect(state.message == "Play 1 4K, 2 1080p?")
        #expect(state.press(.character("3")) == [] && state.press(.character("2")) == [.play("1080p.mkv")])
        state.press(.enter)
        #expect(state.press(.escape) == [] && state.page == .film && state.message == nil)
    }

    @Test("the tenth version and those after it have letters")
    func manyVersions() {
        var film = Movie(id: "f", title: "Faust")
        film.parts = (1...12).map { FilmPart(title: "v\($0)", media: "\($0).mkv") }
        film[.media] = .text("1.mkv")
        var state = BrowserState(showing: [film])
        state.press(.enter)
        state.press(.enter)
        #expect(state.message?.hasSuffix("9 v9, a v10, b v11, c v12?") == true)
        #expect(state.press(.character("d")) == [] && state.press(.character("c")) == [.play("12.mkv")])
    }

    @Test(
        "an episode that the server calls seen is passed over; its mark goes to the server under its own id")
    func servedEpisodes() {
        var series = Movie(id: "s1", title: "Fantômas")
        series.unreadEpisodes = 2
        var state = BrowserState(showing: [series])
        state.press(.enter)
        #expect(state.press(.enter) == [] && state.message?.contains("not here yet") == true)
        var whole = series
        whole.unreadEpisodes = nil
        whole.parts = [
            FilmPart(season: 1, number: 1, title: "One", media: "1", isSeen: true, id: "e1"),
            FilmPart(season: 1, number: 2, title: "Two", media: "2", id: "e2"),
        ]
        whole[.media] = .text("1")
        state.list.complete(series, with: whole)
        #expect(state.press(.enter) == [.play("2")])
        state.offerSeen()
        let stored = state.press(.character("y")).compactMap { effect in
            if case .mark(let changes) = effect { changes.map(\.item) } else { nil }
        }
        #expect(stored == [["e2"]])
    }

    @Test("without posters there is no wall, also after a change of the size")
    func noPosters() {
        var state = BrowserState(size: CellSize(columns: 80, rows: 24), hasPosters: false)
        show(&state, ["A"])
        #expect(state.visible.isEmpty && state.visibleInFull.isEmpty)
        state.type("v")
        #expect(state.layout.style == .lines)
        state.type("v")
        #expect(state.layout.style == .list)
        _ = state.resize(to: CellSize(columns: 100, rows: 30), cellAspect: 2)
        #expect(!state.layout.hasPosters)
    }

    private func show(_ state: inout BrowserState, _ titles: [String], isWhole: Bool = true) {
        let films = FilmSet(titles.enumerated().map { Movie(id: "\($0.offset)", title: $0.element) })
        _ = state.take(isWhole ? .whole(films, confirmed: 0, outage: nil) : .part(films))
        if !isWhole { _ = state.take(.came(films: titles.count)) }
        _ = state.advance(now: 10)
    }

    @Test("keys that need a film wait for the first films, with the keys behind them, in order")
    func typedAhead() {
        var state = BrowserState()
        for key in "jj" { #expect(state.press(.character(key)) == []) }
        #expect(state.press(.enter) == [] && state.page == .films)
        // On the page, the next film; then the list again, and the first film.
        state.type("nqg")
        show(&state, ["A", "B", "C", "D", "E"])
        #expect(state.page == .films && state.list.selected == 0 && state.typedAhead.events.isEmpty)
        state = BrowserState()
        state.type("jj\r")
        show(&state, ["A", "B", "C"])
        #expect(state.page == .film && state.list.selectedMovie?.title == "C")
    }

    @Test("a search typed before the films is kept, and opens its film once that has come")
    func searchedAhead() {
        var state = BrowserState()
        state.type("/sun\r\r")
        #expect(state.list.filter == "sun" && state.page == .films)
        show(&state, ["Metropolis"], isWhole: false)
        #expect(state.page == .films && state.list.rows.isEmpty)
        show(&state, ["Metropolis", "Sunrise"])
        #expect(state.page == .film && state.list.selectedMovie?.title == "Sunrise")
        state = BrowserState()
        state.type("j/q")
        _ = state.handle(.paste("uee"), now: 0)
        state.press(.enter)
        show(&state, ["A", "B", "Queen", "Queer"])
        #expect(state.list.filter == "quee" && state.list.rows == [2, 3])
    }

    @Test("keys that need no film act at once, and q, Ctrl-C and Escape never wait in the list")
    func withoutFilms() {
        var state = BrowserState()
        state.type("?")
        #expect(state.isHelpShown)
        state.type("?vs")
        #expect(state.layout.style == .lines && state.list.order == .score)
        state.type("j")
        #expect(state.press(.character("c"), .control) == [.quit])
        #expect(state.press(.character("z"), .control) == [.suspend])
        #expect(state.typedAhead.events.count == 1)
        // The help comes at once, and its own keys are not kept.
        state.type("?")
        #expect(state.isHelpShown)
        state.press(.escape)
        #expect(!state.isHelpShown && state.typedAhead.events.count == 1)
        state.press(.escape)
        #expect(state.typedAhead.events.isEmpty)
        state.press(.enter)
        // The first q closes the page that Enter will open, the second quits.
        #expect(state.press(.character("q")) == [])
        #expect(state.press(.character("q")) == [.quit])
    }
}
