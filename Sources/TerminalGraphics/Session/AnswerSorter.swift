/// Separates a terminal's answers from the keys that the user types meanwhile.
struct AnswerSorter {
    private(set) var answers: TerminalAnswers
    /// The number of answers to DA1.
    private(set) var barriers = 0
    /// The bytes of keys, mouse reports and pastes, as read.
    private(set) var keys: [UInt8] = []
    /// The size of a terminal's input queue: more is not typed by a person.
    private static let keyLimit = 4095
    private var parser = InputParser()

    init(isInTmux: Bool = false) {
        answers = TerminalAnswers(isInTmux: isInTmux)
    }

    mutating func take(_ bytes: [UInt8]) {
        for byte in bytes {
            for event in parser.feed(CollectionOfOne(byte)) {
                switch event {
                case .answer(let answer):
                    if TerminalAnswers.isBarrier(answer) { barriers += 1 }
                    answers.take(answer)
                case .key(TerminalKey(.escape)) where byte == 0x1B: keep([byte])
                // The end of a string that was over already, or whose start was lost. Nobody types it.
                case .key where parser.raw == [0x1B, UInt8(ascii: "\\")]: break
                case .key, .paste: keep(parser.raw)
                default: break
                }
            }
        }
    }

    private mutating func keep(_ bytes: [UInt8]) {
        if keys.count + bytes.count <= Self.keyLimit { keys += bytes }
    }

    /// Ends the input: a pending `ESC` is a key.
    mutating func end() {
        if !parser.resolve().isEmpty { keep(parser.raw) }
    }
}
