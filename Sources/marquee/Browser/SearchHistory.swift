/// The searches of one run of the browser: Up in the search line brings back earlier ones, Down goes on to newer ones.
/// A plain struct.
struct SearchHistory: Equatable {
    /// The most searches that are kept.
    private static let longest = 100

    /// The oldest first; no two neighbours are equal.
    private var texts: [String] = []
    /// The shown text's index; nil for the line that is being typed.
    private var shown: Int?
    /// The line that was being typed before the first earlier search.
    private var typed = ""

    /// Keeps a search, unless it is blank, and goes back to the newest.
    mutating func add(_ text: String) {
        shown = nil
        guard text.contains(where: { $0 != " " }), text != texts.last else { return }
        texts = texts.suffix(Self.longest - 1) + [text]
    }

    /// The search before the shown one; nil if there is none.
    /// - Parameter text: the present line.
    mutating func older(than text: String) -> String? {
        var index = shown ?? texts.count
        // The line shows the last search when it is opened again.
        repeat { index -= 1 } while shown == nil && index >= 0 && texts[index] == text
        guard index >= 0 else { return nil }
        if shown == nil { typed = text }
        shown = index
        return texts[index]
    }

    /// The search after the shown one, and at last the line that was being typed; nil if that is shown.
    mutating func newer() -> String? {
        guard let index = shown else { return nil }
        shown = index + 1 < texts.count ? index + 1 : nil
        return shown.map { texts[$0] } ?? typed
    }
}
