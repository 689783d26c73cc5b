import TerminalGraphics
import TestTraits
import Testing

@testable import FilmBrowser

@Suite("The card in place of a poster", .bounded)
struct TitleCardTests {
    private static let size = CellSize(columns: 20, rows: 15)

    private func card(
        _ title: String = "The General", year: Int? = 1926, _ state: TitleCard.State = .waiting,
        size: CellSize = size
    ) -> CellGrid { TitleCard(title: title, year: year, retryKey: "r", state: state).cells(size: size) }

    private func lines(_ grid: CellGrid) -> [String] {
        (0..<grid.size.rows).map { grid.text(ofRow: $0).trimmingFrame }
    }

    /// The colour behind a cell inside the frame, left of all text.
    private func ground(_ grid: CellGrid, row: Int) -> CellColour {
        grid.style(at: CellPosition(column: 1, row: row)).background
    }

    @Test("the card has the poster's size, the wrapped title, and the year below")
    func text() {
        let grid = card("The Adventures of Prince Achmed")
        #expect(grid.size == Self.size)
        let text = lines(grid).filter { !$0.isEmpty }
        #expect(text == ["The Adventures", "of Prince Achmed", "1926"])
        #expect(lines(card("Die Unabsehbarkeiten", size: CellSize(columns: 9, rows: 7))).contains("Unabse…"))
    }

    @Test("its colour depends on the title, and its text is legible on it")
    func colour() throws {
        #expect(ground(card(), row: 3) == ground(card(year: 1999), row: 3))
        #expect(ground(card(), row: 3) != ground(card("Metropolis"), row: 3))
        for number in 0..<100 {
            for state in [TitleCard.State.waiting, .failed, .loading(1)] {
                let grid = card("Film \(number)", state)
                let places = (0..<Self.size.rows).flatMap { row in
                    (0..<Self.size.columns).map { CellPosition(column: $0, row: row) }
                }
                let place = try #require(places.first { grid.text(at: $0) == "F" })
                let text = try #require(grid.style(at: place).foreground.channels)
                let ground = try #require(grid.style(at: place).background.channels)
                let (light, dark) = (luminance(text), luminance(ground))
                #expect((light + 0.05) / (dark + 0.05) > 4.5)
            }
        }
    }

    private func luminance(_ channels: SIMD3<UInt8>) -> Double {
        LinearColour(SIMD3(Double(channels.x), Double(channels.y), Double(channels.z))).luminance
    }

    @Test("progress fills it from below, in eighths of a row")
    func progress() {
        let size = CellSize(columns: 20, rows: 16)
        let half = card(state: .loading(0.5), size: size)
        #expect(ground(half, row: 7) != ground(half, row: 8))
        #expect(half.text(at: CellPosition(column: 1, row: 9)) == "█")
        let more = card(state: .loading(0.5 + 3.0 / 128), size: size)
        #expect(more.text(at: CellPosition(column: 1, row: 7)) == "▃")
        #expect(card(state: .loading(0), size: size) == card(state: .waiting, size: size))
        for part in [-1.0, 0, 0.01, 0.99, 1, 7, .infinity] {
            #expect(card(state: .loading(part)).size == Self.size)
        }
    }

    private func card(state: TitleCard.State, size: CellSize = size) -> CellGrid {
        card("The General", year: 1926, state, size: size)
    }

    @Test("loading, failed and missing posters look different, with and without colours, at every size")
    func states() {
        for size in [Self.size, CellSize(columns: 9, rows: 7), CellSize(columns: 4, rows: 3)] {
            let cards = [TitleCard.State.waiting, .loading(0.6), .failed, .missing].map {
                card(state: $0, size: size)
            }
            let texts = cards.map { grid in (0..<size.rows).map { grid.text(ofRow: $0) } }
            for one in cards.indices {
                for other in cards.indices where one < other {
                    #expect(cards[one] != cards[other] && texts[one] != texts[other])
                }
            }
        }
        #expect(lines(card(state: .failed)).contains("poster failed · r"))
        #expect(lines(card(state: .missing)).contains("no poster"))
        #expect(lines(card(state: .loading(nil))).contains("loading…"))
    }

    @Test("every size has a card, and a hostile title is made visible")
    func anything() {
        for columns in 0...24 {
            for rows in 0...16 {
                for state in [TitleCard.State.waiting, .loading(nil), .loading(0.4), .failed, .missing] {
                    let size = CellSize(columns: columns, rows: rows)
                    #expect(card("A\u{1B}[2J 世界の終わり e\u{301}", state, size: size).size == size)
                }
            }
        }
        #expect(lines(card("A\u{1B}[2J")).contains("A␛[2J"))
    }
}

extension String {
    /// Without a card's frame and the spaces inside it.
    fileprivate var trimmingFrame: String {
        var text = Substring(self)
        while let first = text.first, " │╭╮╰╯─".contains(first) { text.removeFirst() }
        while let last = text.last, " │╭╮╰╯─".contains(last) { text.removeLast() }
        return String(text)
    }
}
