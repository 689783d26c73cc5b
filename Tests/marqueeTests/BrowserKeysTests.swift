@testable import Films
import FoundationEssentials
import TerminalGraphics
import TestTraits
import Testing

@testable import marquee

@Suite("Keys of the browser", .bounded)
struct BrowserKeysTests {
    /// A hundred films. The tenth has a file to play.
    private func state(columns: Int = 80, rows: Int = 24) -> BrowserState {
        let movies = (0..<100).map { number in
            Movie(
                id: "\(number)", title: "Film \(number)", year: 1900 + number % 30,
                director: "Someone \(number)",
                overview: number == 70 ? "A robot." : nil, score: Double(number % 10),
                media: number == 9 ? "films/9.mkv" : nil)
        }
        var state = BrowserState(size: CellSize(columns: columns, rows: rows))
        let open = OpenCatalogue(
            catalogue: Catalogue(name: nil, movies: movies), base: BaseURL(URL(filePath: "/")))
        _ = state.take(.whole(FilmSet(open), confirmed: 0, outage: nil))
        return state
    }

    @discardableResult
    private func press(
        _ state: inout BrowserState, _ code: TerminalKey.Code, _ modifiers: TerminalKey.Modifiers = []
    ) -> [BrowserState.Effect] {
        let effects = state.handle(.key(TerminalKey(code, modifiers)), now: 0)
        _ = state.advance(now: 10)
        return effects
    }

    private func type(_ state: inout BrowserState, _ text: String) {
        for character in text { press(&state, .character(character)) }
    }

    @Test("q goes back from a page and from help, and quits the list")
    func back() {
        var state = state()
        press(&state, .enter)
        type(&state, "?")
        #expect(press(&state, .character("q")) == [] && !state.isHelpShown && state.page == .film)
        #expect(press(&state, .character("q")) == [.rowsChanged] && state.page == .films)
        #expect(press(&state, .character("q")) == [.quit])
    }

    @Test("Ctrl-F and Ctrl-B move a page, Ctrl-D and Ctrl-U half of one, also while a filter is typed")
    func pages() {
        var state = state()
        let page = state.layout.pageRows
        press(&state, .character("f"), .control)
        #expect(state.list.selected == page)
        press(&state, .character("d"), .control)
        #expect(state.list.selected == page + page / 2)
        press(&state, .character("u"), .control)
        press(&state, .character("b"), .control)
        #expect(state.list.selected == 0)
        type(&state, "/")
        press(&state, .character("f"), .control)
        #expect(state.list.selected == page && state.list.filter.isEmpty)
    }

    @Test("h, l, Left and Right show the previous and next film's page; in the list l opens the page")
    func turning() {
        var state = state()
        type(&state, "l")
        #expect(state.page == .film)
        type(&state, "ll")
        press(&state, .right)
        #expect(state.list.selected == 3)
        type(&state, "h")
        press(&state, .left)
        #expect(state.list.selected == 1 && state.page == .film)
        press(&state, .character("d"), .control)
        press(&state, .character("f"), .control)
        #expect(state.list.selected == 3)
    }

    @Test("s sorts, and the selected film stays selected and on the screen, in the list and on its page")
    func order() {
        var state = state()
        press(&state, .end)
        type(&state, "s")
        #expect(state.list.order == .score && state.list.selectedMovie?.id == "99")
        #expect(state.shown.contains(state.list.selected))
        type(&state, "s")
        #expect(state.list.order == .year && state.list.selectedMovie?.id == "99")
        #expect(state.shown.contains(state.list.selected))
        press(&state, .enter)
        type(&state, "s")
        #expect(state.list.order == .title && state.page == .film && state.list.selectedMovie?.id == "99")
    }

    @Test("a search says what is wrong with its fields, and sorts within them")
    func fields() {
        var state = state()
        type(&state, "/director: SOMEONE year: 1905..1906")
        press(&state, .enter)
        type(&state, "s")
        #expect(state.list.rows.map { $0 % 10 } == [6, 6, 6, 6, 5, 5, 5, 5])
        type(&state, "/")
        for _ in 0..<2 { press(&state, .backspace) }
        #expect(state.list.rows.count == 100)
        #expect(state.message == "year: needs 1927, 1920..1929, 1920.. or ..1929, not \"1905..19\"")
    }

    @Test("a search forgives typing errors, and selects the nearest title")
    func mistyped() {
        var state = state()
        type(&state, "/fiml 42")
        #expect(state.list.selectedMovie?.id == "42")
        #expect(state.message == "No film has these words; these titles are similar")
        press(&state, .escape)
        // The whole title goes before longer ones that contain it.
        press(&state, .end)
        type(&state, "/film 1")
        #expect(state.list.rows[0] == 1 && state.list.selectedMovie?.id == "1")
    }

    @Test("Up in a search brings back earlier ones, and Down goes on to the line that was being typed")
    func history() {
        var state = state()
        type(&state, "/")
        press(&state, .up)
        #expect(state.editor?.text == "" && state.list.selected == 0)
        type(&state, "film 1")
        press(&state, .enter)
        type(&state, "/")
        press(&state, .character("u"), .control)
        type(&state, "film 2")
        press(&state, .escape)
        type(&state, "/new")
        press(&state, .up)
        #expect(state.editor?.text == "film 2" && state.list.selectedMovie?.id == "2")
        press(&state, .up)
        press(&state, .up)
        #expect(state.editor?.text == "film 1" && state.list.filter == "film 1")
        press(&state, .down)
        press(&state, .down)
        press(&state, .down)
        #expect(state.editor?.text == "new" && state.list.filter == "new")
        // The kept search is in the line already.
        press(&state, .up)
        press(&state, .enter)
        type(&state, "/")
        press(&state, .up)
        #expect(state.editor?.text == "film 1")
    }

    @Test("/ on a film's page returns to the list and opens the filter")
    func filterFromPage() {
        var state = state()
        press(&state, .enter)
        type(&state, "/odd")
        #expect(state.page == .films && state.isFiltering && state.list.filter == "odd")
    }

    @Test(
        "a paste is inserted into the filter, Backspace in an empty line closes it, and it can be continued")
    func editing() {
        var state = state()
        type(&state, "/film ")
        _ = state.handle(.paste("12\n"), now: 0)
        #expect(state.list.filter == "film 12 " && state.list.rows == [12, 42, 72])
        press(&state, .character("u"), .control)
        #expect(state.list.filter.isEmpty && state.isFiltering && state.list.rows.count == 100)
        press(&state, .backspace)
        #expect(!state.isFiltering)
        // The earlier filter can be continued.
        type(&state, "/9")
        press(&state, .enter)
        type(&state, "/")
        press(&state, .left)
        type(&state, "7")
        #expect(state.list.filter == "79")
    }

    @Test(
        "Enter on a film's page plays its file or address, and says so and stays if it has none")
    func playing() {
        var state = state()
        press(&state, .enter)
        #expect(press(&state, .enter) == [] && state.page == .film)
        #expect(state.message?.hasPrefix("this film has no media to play") == true)
        press(&state, .escape)
        #expect(state.page == .films && state.message == nil)
        for _ in 0..<9 { type(&state, "n") }
        press(&state, .enter)
        #expect(press(&state, .enter) == [.play] && state.page == .film)
    }

    @Test("without posters there is no wall, also after a change of the size")
    func noPosters() {
        var state = BrowserState(size: CellSize(columns: 80, rows: 24), hasPosters: false)
        show(&state, ["A"])
        type(&state, "v")
        #expect(state.layout.style == .lines)
        type(&state, "v")
        #expect(state.layout.style == .list)
        _ = state.resize(to: CellSize(columns: 100, rows: 30), cellAspect: 2)
        #expect(!state.layout.hasPosters)
    }

    /// A browser whose catalogue is still being read.
    private func opening() -> BrowserState { BrowserState(size: CellSize(columns: 80, rows: 24)) }

    private func show(_ state: inout BrowserState, _ titles: [String], isWhole: Bool = true) {
        let movies = titles.enumerated().map { Movie(id: "\($0.offset)", title: $0.element) }
        let films = FilmSet(
            OpenCatalogue(catalogue: Catalogue(name: nil, movies: movies), base: BaseURL(URL(filePath: "/"))))
        _ = state.take(isWhole ? .whole(films, confirmed: 0, outage: nil) : .part(films))
        if !isWhole { _ = state.take(.came(films: titles.count)) }
        _ = state.advance(now: 10)
    }

    @Test("keys that need a film wait for the first films, with the keys behind them, in order")
    func typedAhead() {
        var state = opening()
        for key in "jj" { #expect(press(&state, .character(key)) == []) }
        #expect(press(&state, .enter) == [] && state.page == .films)
        // On the page, the next film; then the list again, and the first film.
        type(&state, "nqg")
        show(&state, ["A", "B", "C", "D", "E"])
        #expect(state.page == .films && state.list.selected == 0 && state.typedAhead.events.isEmpty)
        state = opening()
        type(&state, "jj")
        press(&state, .enter)
        show(&state, ["A", "B", "C"])
        #expect(state.page == .film && state.list.selectedMovie?.title == "C")
    }

    @Test("a search typed before the films is kept, and opens its film once that has come")
    func searchedAhead() {
        var state = opening()
        type(&state, "/sun")
        press(&state, .enter)
        press(&state, .enter)
        #expect(state.list.filter == "sun" && state.page == .films)
        show(&state, ["Metropolis"], isWhole: false)
        #expect(state.page == .films && state.list.rows.isEmpty)
        show(&state, ["Metropolis", "Sunrise"])
        #expect(state.page == .film && state.list.selectedMovie?.title == "Sunrise")
        state = opening()
        type(&state, "j/q")
        _ = state.handle(.paste("uee"), now: 0)
        press(&state, .enter)
        show(&state, ["A", "B", "Queen", "Queer"])
        #expect(state.list.filter == "quee" && state.list.rows == [2, 3])
    }

    @Test("keys that need no film act at once, and q, Ctrl-C and Escape never wait in the list")
    func withoutFilms() {
        var state = opening()
        type(&state, "?")
        #expect(state.isHelpShown)
        type(&state, "?vs")
        #expect(state.layout.style == .lines && state.list.order == .score)
        type(&state, "j")
        #expect(press(&state, .character("c"), .control) == [.quit])
        #expect(press(&state, .character("z"), .control) == [.suspend])
        #expect(state.typedAhead.events.count == 1)
        // The help comes at once, and its own keys are not kept.
        type(&state, "?")
        #expect(state.isHelpShown)
        press(&state, .escape)
        #expect(!state.isHelpShown && state.typedAhead.events.count == 1)
        press(&state, .escape)
        #expect(state.typedAhead.events.isEmpty)
        press(&state, .enter)
        // The first q closes the page that Enter will open, the second quits.
        #expect(press(&state, .character("q")) == [])
        #expect(press(&state, .character("q")) == [.quit])
    }
}
