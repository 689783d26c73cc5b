import BackgroundTransfers
@testable import Films
import FoundationEssentials
import LazyImages
import TerminalGraphics
import TestTraits
import Testing

@testable import FilmBrowser
@testable import marquee

@Suite("The browser's state", .bounded)
struct BrowserStateTests {
    /// - Parameter overview: the number of words in each film's overview.
    private func state(films: Int = 100, overview: Int = 0, columns: Int = 80, rows: Int = 24) -> BrowserState
    {
        let words = Array(repeating: "word", count: overview).joined(separator: " ")
        let movies = (0..<films).map { number in
            Movie(
                id: "\(number)", title: "Film \(number)", year: 1900 + number % 30,
                director: number.isMultiple(of: 2) ? "Even" : "Odd", overview: overview == 0 ? nil : words,
                score: Double(number % 10))
        }
        return BrowserState(showing: movies, columns: columns, rows: rows)
    }

    private func key(_ character: Character) -> TerminalEvent { .key(TerminalKey(.character(character))) }

    @Test("a single key press does not drag; the second one of a burst does, until 120 ms after the last")
    func burst() {
        var state = state()
        #expect(state.handle(key("j"), now: 10) == [])
        #expect(state.handle(key("j"), now: 10.05) == [.motion(.dragging)])
        #expect(state.handle(key("j"), now: 10.1) == [])
        #expect(state.advance(now: 10.21) == [])
        #expect(state.motion.nextDeadline(now: 10.21) == 10.1 + ScrollMotion.burstPause)
        #expect(state.advance(now: 10.23) == [.motion(.idle)])
        #expect(state.motion.nextDeadline(now: 10.23) == nil)
        #expect(state.handle(key("j"), now: 10.4) == [])
    }

    @Test("a page glides over a few frames and then rests")
    func glide() {
        var state = state()
        #expect(state.handle(.key(TerminalKey(.pageDown)), now: 1) == [.motion(.decelerating)])
        _ = state.advance(now: 1.05)
        let onTheWay = state.motion.offset
        #expect(onTheWay > 0 && onTheWay < state.motion.destination)
        #expect(state.advance(now: 1.2) == [.motion(.idle)])
        #expect(state.motion.offset == state.motion.destination)
        #expect(state.visible.contains(state.list.selected))
    }

    @Test(
        "the selection is visible wherever keys move it", arguments: BrowserLayout.Style.allCases)
    func selectionVisible(style: BrowserLayout.Style) {
        var state = state()
        while state.layout.style != style { _ = state.handle(key("v"), now: 0) }
        var now = 1.0
        for letter in "jjjjjjjjGkkkkkgnnnnnN  bb" {
            now += 1
            _ = state.handle(key(letter), now: now)
            _ = state.advance(now: now + 0.5)
            let area = state.layout.rectangle(ofRow: state.list.selected, scroll: state.motion.offset)
            #expect(
                area.clipped(to: state.layout.body).size.rows
                    == min(area.size.rows, state.layout.body.size.rows))
        }
    }

    @Test("typing filters, the selection stays on its film, and Esc shows all films again")
    func filter() {
        var state = state()
        for _ in 0..<7 { _ = state.handle(key("j"), now: 0) }
        for letter in "/odd" { _ = state.handle(key(letter), now: 1) }
        #expect(state.list.rows.count == 50)
        #expect(state.list.selectedMovie?.id == "7")
        _ = state.handle(.key(TerminalKey(.escape)), now: 1)
        #expect(state.list.rows.count == 100 && state.list.selectedMovie?.id == "7")
        for letter in "/nothing" { _ = state.handle(key(letter), now: 1) }
        #expect(state.list.rows.isEmpty && state.visible.isEmpty)
        _ = state.handle(.key(TerminalKey(.enter)), now: 1)
        #expect(state.handle(.key(TerminalKey(.enter)), now: 1) == [] && state.page == .films)
    }

    @Test("a burst of next-film keys counts as scrolling, and needs no other rows")
    func turning() {
        var state = state()
        #expect(state.handle(.key(TerminalKey(.enter)), now: 1) == [.rowsChanged])
        #expect(state.handle(key("n"), now: 2) == [])
        #expect(state.visibleInFull == 1..<2 && state.visible.isEmpty)
        #expect(state.handle(key("n"), now: 2.05) == [.motion(.dragging)])
        #expect(state.visibleInFull == 2..<3)
    }

    @Test("o in the list takes an address, typed and pasted, and an empty one is none")
    func address() {
        var state = state()
        #expect(state.handle(key("o"), now: 1) == [])
        #expect(state.handle(.key(TerminalKey(.enter)), now: 1) == [] && state.overlay == nil)
        _ = state.handle(key("o"), now: 2)
        for letter in "ht?q" { #expect(state.handle(key(letter), now: 2) == []) }
        #expect(state.handle(.paste("://a/ñ\n"), now: 2) == [])
        #expect(state.handle(.key(TerminalKey(.enter)), now: 2) == [.open("ht?q://a/ñ ")])
        // No typed key reached the list.
        #expect(state.list.selected == 0 && state.list.rows.count == 100 && !state.isHelpShown)
    }

    @Test(
        "a network that reaches farther retries failures, and reads an incomplete catalogue again"
    )
    func path() {
        func path(_ reach: NetworkPath.Reach) -> NetworkPath { NetworkPath(reach: reach) }
        var state = state()
        #expect(state.take(path(.internet)) == [] && state.take(path(.none)) == [])
        #expect(state.take(path(.local)) == [.retry] && state.take(path(.internet)) == [.retry])
        #expect(state.take(path(.internet)) == [] && state.take(path(.local)) == [])
        state.catalogue = .incomplete(why: "broken")
        #expect(state.take(path(.internet)) == [.retry, .refresh])
        #expect(state.catalogue.isReading)
    }

    @Test("words about marks choose films; one that is not understood shows none")
    func markWords() {
        var state = state()
        #expect(state.handle(key("w"), now: 1).count == 1)
        for (text, count) in [
            ("is:seen", 1), ("is: seen", 1), ("is:unseen", 99), ("is:se", 100), ("is:blue", 0), ("is:", 100),
            ("film is:seen", 1), ("is:favourite", 0),
        ] {
            _ = state.filter(text)
            #expect(state.list.rows.count == count, "\(text)")
        }
    }

    @Test("marks are for the films selected together, as far as they are shown")
    func selectionShown() {
        var state = state()
        _ = state.handle(key("A"), now: 1)
        #expect(state.list.selection.count == 100)
        _ = state.filter("director: even")
        guard case .mark(let changes)? = state.handle(key("f"), now: 2).first else {
            Issue.record("nothing is marked")
            return
        }
        #expect(changes.count == 50 && changes.allSatisfy { $0.movie.director == "Even" })
        _ = state.handle(key("u"), now: 3)
        _ = state.filter("is:favourite")
        #expect(state.list.rows.isEmpty)
        _ = state.handle(.key(TerminalKey(.escape)), now: 4)
        #expect(state.list.selection.isEmpty)
    }

    @Test("a search goes to the server, but not one by marks or fields, and a failed one changes nothing")
    func search() {
        var state = state()
        state.canSearch = true
        func find(_ text: String) -> [BrowserState.Effect] {
            _ = state.handle(key("/"), now: 1)
            for letter in text { _ = state.handle(key(letter), now: 1) }
            return state.handle(.key(TerminalKey(.enter)), now: 1)
        }
        #expect(find("director: odd").isEmpty && state.list.rows.count == 50)
        _ = state.filter("")
        let before = state.catalogue
        #expect(find("film 7").contains(.search("film 7")) && state.searched == nil)
        _ = state.take(CatalogueNews.failed(Failure("broken")))
        #expect(state.catalogue == before && state.searched == nil && state.list.rows.count == 100)
        #expect(state.notice?.contains("broken") == true)
        #expect(find("film 8").contains(.search("film 8")))
        _ = state.take(.whole(FilmSet(), confirmed: 0, outage: nil))
        #expect(state.searched == "film 8" && state.list.rows.isEmpty)
        #expect(state.handle(.key(TerminalKey(.escape)), now: 2).contains(.search(nil)))
    }

    @Test(
        "a text longer than the window scrolls by every moving key, and shows its position",
        arguments: ["?", "\r"])
    func longText(opening: Character) {
        var state = state(overview: 60, columns: 40, rows: 10)
        _ = state.handle(opening == "?" ? key("?") : .key(TerminalKey(.enter)), now: 0)
        let count = state.textPosition?.count ?? 0
        #expect(state.textPosition?.shown == 0..<8 && count > 16)
        func press(_ code: TerminalKey.Code) -> Int? {
            _ = state.handle(.key(TerminalKey(code)), now: 0)
            return state.textPosition?.shown.lowerBound
        }
        #expect(press(.down) == 1 && press(.character("j")) == 2 && press(.up) == 1)
        #expect(press(.pageDown) == 9 && press(.character("b")) == 1)
        #expect(press(.end) == count - 8 && press(.down) == count - 8 && press(.up) == count - 9)
        #expect(press(.home) == 0 && press(.up) == 0 && press(.character("G")) == count - 8)
        _ = state.handle(.wheel(.up, at: CellPosition(column: 0, row: 0)), now: 0)
        #expect(state.textPosition?.shown.lowerBound == count - 11)
        #expect(state.list.selected == 0)
        _ = state.resize(to: CellSize(columns: 200, rows: 60), cellAspect: 2)
        #expect(state.textPosition == nil)
    }

    @Test("the next film's page starts at its top")
    func nextPage() {
        var state = state(overview: 60, columns: 40, rows: 10)
        _ = state.handle(.key(TerminalKey(.enter)), now: 0)
        _ = state.handle(.key(TerminalKey(.end)), now: 0)
        _ = state.handle(key("n"), now: 1)
        #expect(state.list.selected == 1 && state.textPosition?.shown.lowerBound == 0)
    }

    @Test("v changes from list to lines to wall, and lines load no posters")
    func styles() {
        var state = state()
        var styles: [BrowserLayout.Style] = []
        for _ in 0..<4 {
            styles.append(state.layout.style)
            #expect(state.visible == (state.layout.style == .lines ? 0..<0 : state.shown))
            #expect(!state.shown.isEmpty)
            #expect(state.handle(key("v"), now: 0).first == .rowsChanged)
        }
        #expect(styles == [.list, .lines, .wall, .list])
    }

    @Test("in a window that is too small only the keys that quit and stop work")
    func tooSmall() {
        var state = state(columns: 39, rows: 24)
        _ = state.handle(key("j"), now: 0)
        for letter in "jGv sir/?x " { #expect(state.handle(key(letter), now: 0) == []) }
        _ = state.handle(.key(TerminalKey(.enter)), now: 0)
        _ = state.handle(.click(at: CellPosition(column: 3, row: 9)), now: 0)
        _ = state.handle(.wheel(.down, at: CellPosition(column: 3, row: 9)), now: 0)
        #expect(state.list.selected == 0 && state.page == .films && state.layout.style == .list)
        #expect(!state.isHelpShown && !state.showsFigures && !state.isFiltering)
        #expect(state.list.order == .catalogue)
        #expect(state.handle(key("q"), now: 0) == [.quit])
        #expect(state.handle(.key(TerminalKey(.character("c"), .control)), now: 0) == [.quit])
        #expect(state.handle(.key(TerminalKey(.character("z"), .control)), now: 0) == [.suspend])
        #expect(state.handle(.continued, now: 0) == [.redraw])
        _ = state.resize(to: CellSize(columns: 40, rows: 10), cellAspect: 2)
        _ = state.handle(key("j"), now: 0)
        #expect(state.list.selected == 1)
    }

    @Test("the first visible film is always shown from its top")
    func aligned() {
        for rows in 16..<50 {
            for style in BrowserLayout.Style.allCases {
                var state = state(films: 57, rows: rows)
                while state.layout.style != style { _ = state.handle(key("v"), now: 0) }
                for letter in "jjjjjjjjGkkkkkkkkkkkkgnnn " {
                    _ = state.handle(key(letter), now: 0)
                    #expect(state.motion.destination % state.layout.item.rows == 0)
                }
            }
        }
    }

    @Test("an empty catalogue has no selection and opens no page")
    func empty() {
        var state = state(films: 0)
        for letter in "jkgG nNvsr" { _ = state.handle(key(letter), now: 0) }
        #expect(state.handle(.key(TerminalKey(.enter)), now: 0) == [])
        #expect(state.page == .films && state.visible.isEmpty)
    }
}
