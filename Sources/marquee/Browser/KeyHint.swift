import TerminalGraphics

/// A key and its meaning here, as the status line shows them.
struct KeyHint: Equatable {
    let key: String
    let meaning: String

    init(_ key: String, _ meaning: String) {
        self.key = key
        self.meaning = meaning
    }

    var width: Int { TerminalText.width(key) + 1 + TerminalText.width(meaning) }
}

extension BrowserState {
    /// The keys that matter most here. The first is the last to be left out.
    var hints: [KeyHint] {
        switch overlay {
        case .help, .picture, .answer: return [KeyHint("Esc", "back")]
        case .address: return [KeyHint("Enter", "open"), KeyHint("Esc", "back")]
        case .opening: return [KeyHint("Esc", "stop")]
        case nil: break
        }
        if isFiltering {
            return [KeyHint("Enter", "keep"), KeyHint("Esc", "all films"), KeyHint("↑", "earlier")]
        }
        let help = KeyHint("?", "help")
        if page == .film {
            let play = list.selectedMovie?.media == nil ? [] : [KeyHint("Enter", "play")]
            return [help] + play + [
                KeyHint("Esc", "back"), KeyHint("n", "next"), KeyHint("N", "previous"),
                KeyHint("i", failure?.request == nil ? "figures" : "answer"),
            ]
        }
        return [
            help, KeyHint("/", "find"), KeyHint("v", nextStyle.rawValue), KeyHint("s", "sort"),
            KeyHint("Enter", "open"),
        ]
    }
}
