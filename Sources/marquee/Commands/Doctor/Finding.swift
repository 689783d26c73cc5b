/// What `marquee doctor` found of one thing.
struct Finding: Encodable, Equatable {
    enum Level: String, Encodable { case ok, warning, problem }

    /// What was looked at: `terminal`, `cache`, ...
    let name: String
    let level: Level
    /// How it is, in one line.
    let text: String
    /// What to do about it; nil where nothing is to be done.
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
