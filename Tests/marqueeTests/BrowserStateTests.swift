import MovieCatalogue
import TerminalGraphics
import Testing

@testable import marquee

@Suite("The browser's state", .timeLimit(.minutes(1)))
struct BrowserStateTests {
    private func state(films: Int = 100, columns: Int = 80, rows: Int = 24) -> BrowserState {
        let movies = (0..<films).map { number in
            Movie(
                id: "\(number)", title: "Film \(number)", originalTitle: nil, year: 1900 + number % 30,
                director: number.isMultiple(of: 2) ? "Even" : "Odd", country: nil, minutes: nil, genres: [],
                overview: nil, score: Double(number % 10), poster: nil)
        }
        return BrowserState(
            Catalogue(name: nil, movies: movies), size: CellSize(columns: columns, rows: rows))
    }

    private func key(_ character: Character) -> TerminalEvent { .key(TerminalKey(.character(character))) }

    @Test("one press rests, the second within a burst drags, and the drag ends 120 ms after the last")
    func burst() {
        var state = state()
        #expect(state.handle(key("j"), now: 10) == [])
        #expect(state.handle(key("j"), now: 10.05) == [.motion(.beganDragging)])
        #expect(state.handle(key("j"), now: 10.1) == [])
        #expect(state.advance(now: 10.21) == [])
        #expect(state.motion.nextDeadline(now: 10.21) == 10.1 + ScrollMotion.burstPause)
        #expect(state.advance(now: 10.23) == [.motion(.endedDragging)])
        #expect(state.motion.nextDeadline(now: 10.23) == nil)
        #expect(state.handle(key("j"), now: 10.4) == [])
    }

    @Test("a page glides there over a few frames and then rests")
    func glide() {
        var state = state()
        #expect(state.handle(key(" "), now: 1) == [.motion(.beganGliding)])
        _ = state.advance(now: 1.05)
        let onTheWay = state.motion.offset
        #expect(onTheWay > 0 && onTheWay < state.motion.destination)
        #expect(state.advance(now: 1.2) == [.motion(.endedGliding)])
        #expect(state.motion.offset == state.motion.destination)
        #expect(state.visible.contains(state.list.selected))
    }

    @Test(
        "the selection is on the screen wherever keys take it", arguments: [BrowserLayout.Style.list, .wall])
    func selectionVisible(style: BrowserLayout.Style) {
        var state = state()
        if style == .wall { _ = state.handle(key("v"), now: 0) }
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

    @Test("typing filters, the selection stays on its film, and Esc shows all again")
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

    @Test("every size from nothing to very large has a layout")
    func anySize() {
        for columns in [0, 1, 2, 10, 39, 40, 80, 500] {
            for rows in [0, 1, 2, 3, 9, 10, 24, 300] {
                var state = state(columns: columns, rows: rows)
                for letter in "jGv gG" { _ = state.handle(key(letter), now: 0) }
                _ = state.resize(to: CellSize(columns: rows, rows: columns), cellAspect: 2)
                #expect(state.visible.upperBound <= 100)
            }
        }
    }

    @Test("turning the pages of films is scrolling when it comes in a burst, and asks for no other rows")
    func turning() {
        var state = state()
        #expect(state.handle(.key(TerminalKey(.enter)), now: 1) == [.rowsChanged])
        #expect(state.handle(key("n"), now: 2) == [])
        #expect(state.visible == 1..<2)
        #expect(state.handle(key("n"), now: 2.05) == [.motion(.beganDragging)])
        #expect(state.visible == 2..<3)
    }

    @Test("help leaves the page under it as it is")
    func help() {
        var state = state()
        _ = state.handle(.key(TerminalKey(.enter)), now: 1)
        let before = (visible: state.visible, poster: state.posterSize)
        #expect(state.handle(key("?"), now: 2) == [])
        #expect(state.isHelpShown && state.visible == before.visible && state.posterSize == before.poster)
        #expect(state.handle(key("j"), now: 3) == [])
        #expect(!state.isHelpShown && state.page == .film && state.visible == before.visible)
    }

    @Test("an empty catalogue moves nowhere and opens nothing")
    func empty() {
        var state = state(films: 0)
        for letter in "jkgG nNvsr" { _ = state.handle(key(letter), now: 0) }
        #expect(state.handle(.key(TerminalKey(.enter)), now: 0) == [])
        #expect(state.page == .films && state.visible.isEmpty)
    }
}
