@testable import Films
import FoundationEssentials
import LazyImages
import TerminalGraphics

@testable import FilmBrowser

extension FilmSet {
    /// All films of a catalogue, as an answer to a refresh if others are shown.
    init(_ movies: [Movie], named name: String? = nil, replacing shown: Catalogue? = nil) {
        let catalogue = Catalogue(name: name, movies: movies)
        self.init(catalogue, base: BaseURL(URL(filePath: "/")), replacing: shown)
    }
}

extension BrowserState {
    var isHelpShown: Bool { if case .help = overlay { true } else { false } }

    /// A browser whose catalogue is being read.
    init(columns: Int = 80, rows: Int = 24) { self.init(size: CellSize(columns: columns, rows: rows)) }

    /// A browser that shows these films.
    init(showing movies: [Movie], named name: String? = nil, columns: Int = 80, rows: Int = 24) {
        self.init(columns: columns, rows: rows)
        _ = take(.whole(FilmSet(movies, named: name), confirmed: 0, outage: nil))
    }

    /// Presses a key, and lets all that moves come to rest.
    @discardableResult
    mutating func press(_ code: TerminalKey.Code, _ modifiers: TerminalKey.Modifiers = []) -> [Effect] {
        let effects = handle(.key(TerminalKey(code, modifiers)), now: 0)
        _ = advance(now: 10)
        return effects
    }

    /// Presses the keys of a text, one by one. A return is Enter.
    mutating func type(_ text: String) {
        for character in text { press(character == "\r" ? .enter : .character(character)) }
    }
}
