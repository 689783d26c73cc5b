/// One result of `marquee doctor`.
struct Finding: Encodable, Equatable {
    enum Level: String, Encodable { case ok, warning, problem }

    /// The checked part: `terminal`, `cache`, ...
    let name: String
    let level: Level
    /// Its state, in one line.
    let text: String
    /// What to do; nil if nothing needs to be done.
    let advice: String?

    /// All is well.
    init(_ name: String, _ text: String) { self.init(name, .ok, text, advice: nil) }

    init(_ name: String, _ level: Level, _ text: String, advice: String? = nil) {
        (self.name, self.level, self.text, self.advice) = (name, level, text, advice)
    }

    /// `warning  cache     1 GiB free, ...; make room`
    var line: String {
        func padded(_ text: String, _ width: Int) -> String {
            text + String(repeating: " ", count: max(0, width - text.count))
        }
        return padded(level.rawValue, 9) + padded(name, 12) + text + (advice.map { "; " + $0 } ?? "")
    }
}
