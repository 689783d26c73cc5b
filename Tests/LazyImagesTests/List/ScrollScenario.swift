@testable import LazyImages
import Testing

/// A scenario of a list as a table of inputs and expected actions. Keys are letters; `-` is a row without an
/// image.
struct ScrollScenario: Sendable, CustomTestStringConvertible {
    /// One line of the table.
    struct Step: Sendable {
        enum Input: Sendable {
            case event(ScrollWindow<Character>.Event)
            /// Advances the clock.
            case wait(Duration)
        }

        let input: Input
        let expected: String
    }

    let testDescription: String
    let rows: [Character?]
    /// The keys of the images in memory.
    let memory: Set<Character>
    let steps: [Step]

    init(_ name: String, rows: String, memory: String = "", _ steps: [Step]) {
        testDescription = name
        self.rows = Self.rows(rows)
        self.memory = Set(memory)
        self.steps = steps
    }

    static func rows(_ text: String) -> [Character?] { text.map { $0 == "-" ? nil : $0 } }

    /// The actions that each step really causes.
    func play() -> [String] {
        var list = rows
        var now = Duration.zero
        var window = ScrollWindow<Character>(
            pauses: ScrollPauses(afterFailure: .seconds(30), afterWarning: .seconds(60)))
        _ = window.handle(.replacing(rows, visible: 0..<0), at: now) { _ in false }
        return steps.map { step in
            switch step.input {
            case .wait(let duration):
                now += duration
                return ""
            case .event(let event):
                if case .replaced(let count, let key, _, _) = event { list = (0..<count).map(key) }
                let isThere: (Int) -> Bool = { row in list[row].map(memory.contains) ?? false }
                return window.handle(event, at: now, inMemory: isThere)
                    .map { Self.text($0, list) }.joined(separator: ", ")
            }
        }
    }

    private static func text(_ action: ScrollWindow<Character>.Action, _ rows: [Character?]) -> String {
        func key(_ row: Int) -> String { rows[row].map(String.init) ?? "-" }
        return switch action {
        case .cancel(let key): "cancel \(key)"
        case .unpin(let key): "unpin \(key)"
        case .pin(let key): "pin \(key)"
        case .release(let key): "let go \(key)"
        case .hold(let row): "show \(key(row))"
        case .load(let row, .focused): "load \(key(row)) first"
        case .load(let row, .visible): "load \(key(row))"
        case .load(let row, .ahead): "prefetch \(key(row))"
        case .setUrgency(let key, .focused): "first \(key)"
        case .setUrgency(let key, .visible): "raise \(key)"
        case .setUrgency(let key, .ahead): "lower \(key)"
        }
    }
}

extension ScrollWindow.Event {
    static func replacing(_ rows: [Key?], visible: Range<Int>) -> Self {
        .replaced(count: rows.count, key: { rows[$0] }, visible: visible)
    }
}

extension ScrollScenario.Step {
    static func show(_ rows: Range<Int>, focus: Int? = nil, _ expected: String) -> Self {
        event(.showed(rows, focus: focus), expected)
    }
    static func drag(_ expected: String) -> Self {
        event(.scrolling(.dragging), expected)
    }
    static func rest(_ expected: String) -> Self {
        event(.scrolling(.idle), expected)
    }
    static func loaded(_ key: Character, _ expected: String) -> Self { event(.loaded(key), expected) }
    static func failed(_ key: Character, _ expected: String) -> Self {
        event(.failed(key, .httpStatus(url: "\(key)", status: 503)), expected)
    }
    static func warning(_ expected: String) -> Self { event(.memoryWarning, expected) }
    static func retry(_ key: Character, _ expected: String) -> Self { event(.retry(key), expected) }
    static func retryAll(_ expected: String) -> Self { event(.retryAll, expected) }
    static func replace(_ rows: String, _ visible: Range<Int>, _ expected: String) -> Self {
        event(.replacing(ScrollScenario.rows(rows), visible: visible), expected)
    }
    static func wait(_ seconds: Int) -> Self { Self(input: .wait(.seconds(seconds)), expected: "") }

    private static func event(_ event: ScrollWindow<Character>.Event, _ expected: String) -> Self {
        Self(input: .event(event), expected: expected)
    }
}
