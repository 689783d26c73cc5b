import TerminalGraphics

/// The status line: what the browser is busy with.
struct BrowserStatus {
    /// What turns while bytes arrive.
    private static let signs = Array("⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏")

    var visible = 0
    var loading = 0
    var deferred = 0
    var memoryHits = 0
    var diskHits = 0
    /// How many times bytes have arrived since the browser began; nil while nothing is on its way.
    var arrivals: Int?
    /// What is said in place of the figures; nil if nothing is.
    var message: String?
    /// The time, in seconds since 1970, and since the browser began.
    var (now, seconds) = (0, 0)

    /// One cell.
    var activity: Character { arrivals.map { Self.signs[$0 % Self.signs.count] } ?? " " }

    /// As much as fits: what is left out first is what matters least, and never the way to help.
    func text(width: Int) -> String {
        let parts = [
            "\(visible) visible", "\(loading) loading", "\(deferred) deferred", "\(memoryHits) from memory",
            "\(diskHits) from disk",
        ]
        let help = "? help"
        if let message {
            let room = width - help.count - 2
            return TerminalText.truncated(TerminalText.visible(message), toWidth: room) + "  " + help
        }
        var text = ""
        for part in parts {
            if text.count + part.count + 2 + help.count > width { break }
            text += part + "  "
        }
        return text + help
    }
}
