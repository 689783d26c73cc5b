/// Parts what a terminal answers from what its user types meanwhile.
struct AnswerSorter {
    private(set) var answers: TerminalAnswers
    /// How often DA1 was answered.
    private(set) var barriers = 0
    /// The bytes of keys, the mouse and pastes, as they came.
    private(set) var keys: [UInt8] = []
    /// As many as a terminal's queue takes: a terminal that types more is no person.
    private static let mostKeys = 4095
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
                // The end of a string that had ended already, or whose beginning was lost. Nobody types it.
                case .key where parser.raw == [0x1B, UInt8(ascii: "\\")]: break
                case .key, .paste: keep(parser.raw)
                default: break
                }
            }
        }
    }

    private mutating func keep(_ bytes: [UInt8]) {
        if keys.count + bytes.count <= Self.mostKeys { keys += bytes }
    }

    /// Ends what time has to end: an `ESC` that nothing follows is a key.
    mutating func end() {
        if !parser.resolve().isEmpty { keep(parser.raw) }
    }
}
