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

    /// One cell.
    var activity: Character { arrivals.map { Self.signs[$0 % Self.signs.count] } ?? " " }

    /// As much as fits: what is left out first is what matters least.
    func text(width: Int) -> String {
        let parts = [
            "\(visible) visible", "\(loading) loading", "\(deferred) deferred", "\(memoryHits) from memory",
            "\(diskHits) from disk", "? help",
        ]
        var text = ""
        for part in parts {
            let longer = text.isEmpty ? part : text + "  " + part
            if longer.count > width { break }
            text = longer
        }
        return text
    }
}
