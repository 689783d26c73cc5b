import ImageCodecs
import Testing

@testable import TerminalGraphics

@Suite("What terminals answer", .timeLimit(.minutes(30)))
struct TerminalAnswersTests {
    /// What a terminal sends, and what is made of it.
    struct Transcript: Sendable {
        let sent: String
        let graphics: GraphicsMode?
        var cell: ImageSize?
        var keys = ""
        var isComplete = true
    }

    private static let escape = "\u{1B}"
    private static let transcripts = [
        // kitty, with a key in the middle of the answers and one behind them.
        Transcript(
            sent:
                "\(escape)P>|kitty(0.41.1)\(escape)\\j\(escape)_Gi=31;OK\(escape)\\\(escape)[6;17;8t\(escape)[?62;c\(escape)[A",
            graphics: .kitty, cell: ImageSize(width: 8, height: 17), keys: "j\(escape)[A"),
        Transcript(sent: "\(escape)P>|XTerm(379)\(escape)\\\(escape)[?64;1;2;4;6c", graphics: .sixel),
        // 44 and 14 are not 4, and the first number is the terminal's class.
        Transcript(sent: "\(escape)P>|XTerm(379)\(escape)\\\(escape)[?4;44;14c", graphics: nil),
        Transcript(
            sent: "\(escape)P>|foot(1.13.1)\(escape)\\\(escape)[6;20;10t\(escape)[?62;4;22c",
            graphics: .sixel, cell: ImageSize(width: 10, height: 20)),
        Transcript(sent: "\(escape)P>|iTerm2 3.5.0\(escape)\\\(escape)[?62;4c", graphics: .iterm2),
        Transcript(
            sent: "\(escape)P>|WezTerm 20240203\(escape)\\\(escape)[?65;4;6;18;22c", graphics: .iterm2),
        Transcript(sent: "\(escape)_Gi=31;ENOTSUPPORTED:no\(escape)\\\(escape)[?62c", graphics: nil),
        // Another's answer, cells of nothing, Escape typed before the answer, Ctrl-C.
        Transcript(
            sent: "\(escape)_Gi=7;OK\(escape)\\\(escape)[6;0;0t\(escape)\(escape)[?6c\u{3}", graphics: nil,
            keys: "\(escape)\u{3}"),
        Transcript(sent: "\(escape)[6;99999999999999999999;8t\(escape)[?c", graphics: nil),
        // Cut off, and nothing but keys.
        Transcript(sent: "é\(escape)P>|kit", graphics: nil, keys: "é", isComplete: false),
        Transcript(sent: "", graphics: nil, isComplete: false),
    ]

    @Test("answers are known from keys, whole or byte by byte", arguments: transcripts.indices)
    func transcript(index: Int) {
        let transcript = Self.transcripts[index]
        let bytes = Array(transcript.sent.utf8)
        for pieces in [[bytes], bytes.map { [$0] }] {
            var sorter = AnswerSorter()
            for piece in pieces { sorter.take(piece) }
            #expect(sorter.answers.graphics == transcript.graphics)
            #expect(sorter.answers.cell == transcript.cell)
            #expect(sorter.answers.isComplete == transcript.isComplete)
            #expect(String(decoding: sorter.keys, as: UTF8.self) == transcript.keys)
        }
    }

    @Test("the questions end with the one that every terminal answers")
    func questions() {
        let text = String(decoding: TerminalAnswers.questions, as: UTF8.self)
        #expect(text.hasPrefix("\u{1B}[>0q\u{1B}_Gi=31,") && text.hasSuffix("\u{1B}\\\u{1B}[16t\u{1B}[c"))
    }

    @Test("a terminal that is none is not asked")
    func none() {
        #expect(TerminalAnswers.asked(path: "/dev/null", limit: 1000) == nil)
    }
}
