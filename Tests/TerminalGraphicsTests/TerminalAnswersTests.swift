import ImageCodecs
import TestTraits
import Testing

@testable import TerminalGraphics

@Suite("Terminals' answers to queries", .bounded)
struct TerminalAnswersTests {
    /// A terminal's bytes, and the result.
    struct Transcript: Sendable {
        let sent: String
        let graphics: GraphicsMode?
        var cell: ImageSize?
        var keys = ""
        var isComplete = true
    }

    private static let escape = "\u{1B}"
    private static let transcripts = [
        // kitty, with a key among the answers and one after them.
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
        // Konsole answers OK but shows no such pictures.
        Transcript(
            sent:
                "\(escape)P>|Konsole 22.12.3\(escape)\\\(escape)_Gi=31;OK\(escape)\\\(escape)]1337;ReportCellSize=18.0;8.0;1.0\u{07}\(escape)[6;18;8t\(escape)[?62;1;4c",
            graphics: .iterm2, cell: ImageSize(width: 8, height: 18)),
        // Two pixels per point; iTerm2 without a name.
        Transcript(
            sent: "\(escape)]1337;ReportCellSize=17.0;8.0;2.0\(escape)\\\(escape)[?62;4c", graphics: .iterm2,
            cell: ImageSize(width: 16, height: 34)),
        // mlterm, which sends no name.
        Transcript(
            sent: "\(escape)[6;22;10t\(escape)[4;528;800t\(escape)[?63;1;2;3;4;6;7;15;18;22;29c",
            graphics: .sixel,
            cell: ImageSize(width: 10, height: 22)),
        // C1 controls, as single bytes, which a text cannot have, and as UTF-8.
        Transcript(
            sent: "\u{90}>|XTerm(379)\u{9C}a\u{9B}6;17;8t\u{9B}?64;4c", graphics: .sixel,
            cell: ImageSize(width: 8, height: 17), keys: "a"),
        // A huge answer, one that breaks off, and an unrequested one: no keys.
        Transcript(
            sent:
                "\(escape)]0;\(String(repeating: "x", count: 9000))\(escape)\\j\(escape)P>|kit\(escape)[5;7R\(escape)[?62ck",
            graphics: nil, keys: "jk"),
        // Another terminal's answer, cells of size zero, Escape typed before the answer, Ctrl-C.
        Transcript(
            sent: "\(escape)_Gi=7;OK\(escape)\\\(escape)[6;0;0t\(escape)\(escape)[?6c\u{3}", graphics: nil,
            keys: "\(escape)\u{3}"),
        Transcript(sent: "\(escape)[6;99999999999999999999;8t\(escape)[?c", graphics: nil),
        // A truncated answer, then only keys.
        Transcript(sent: "é\(escape)P>|kit", graphics: nil, keys: "é", isComplete: false),
        Transcript(sent: "", graphics: nil, isComplete: false),
    ]

    @Test("answers and keys are distinguished, whole or byte by byte", arguments: transcripts.indices)
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

    @Test("the late end of a string is no key, and other keys with Alt are")
    func endAlone() {
        var sorter = AnswerSorter()
        sorter.take(Array("a\u{1B}]1337;ReportCellSize=17;8\u{07}\u{1B}\\b\u{1B}x\u{1B}[?62c".utf8))
        #expect(String(decoding: sorter.keys, as: UTF8.self) == "ab\u{1B}x")
        #expect(sorter.answers.isComplete)
    }

    @Test("the last query is one that every terminal answers")
    func questions() {
        let text = String(decoding: TerminalAnswers.questions, as: UTF8.self)
        #expect(
            text.hasPrefix("\u{1B}[>0q\u{1B}_Gi=31,")
                && text.hasSuffix("\u{1B}[16t\u{1B}[14t\u{1B}]11;?\u{1B}\\\u{1B}[c"))
        let inTmux = String(decoding: TerminalAnswers.questionsInTmux, as: UTF8.self)
        #expect(
            inTmux.hasPrefix("\u{1B}[c\u{1B}Ptmux;\u{1B}\u{1B}[>0q")
                && inTmux.hasSuffix("\u{1B}\u{1B}[c\u{1B}\\"))
    }

    @Test(
        "the colour of the background says whether it is light",
        arguments: [
            ("rgb:ffff/ffff/e5e5", true), ("rgb:0000/0000/0000", false), ("rgb:1c/1c/1c", false),
            ("rgb:f/f/f", true), ("rgba:ffff/ffff/ffff/ffff", nil), ("rgb:ffff", nil), ("?", nil),
            ("rgb:fffff/fffff/fffff", true),
        ] as [(String, Bool?)])
    func background(colour: String, isLight: Bool?) {
        for end in ["\u{7}", "\u{1B}\\"] {
            var sorter = AnswerSorter()
            sorter.take(Array("\u{1B}]11;\(colour)\(end)a\u{1B}[?62c".utf8))
            #expect(sorter.answers.isOnLight == isLight)
            #expect(sorter.keys == [UInt8(ascii: "a")])
        }
    }

    /// The bytes of tmux and of the terminal outside it.
    private static let inTmux: [(own: String, outer: String, graphics: GraphicsMode?)] = [
        (
            "\(escape)[?1;2c",
            "\(escape)P>|kitty(0.41.1)\(escape)\\\(escape)_Gi=31;OK\(escape)\\\(escape)[6;18;9t\(escape)[?62;c",
            .kitty
        ),
        (
            "\(escape)[?1;2c",
            "\(escape)P>|kitty(0.26.5)\(escape)\\\(escape)_Gi=31;OK\(escape)\\\(escape)[6;18;9t\(escape)[?62;c",
            nil
        ),
        ("\(escape)[?1;2;4c", "\(escape)P>|XTerm(398)\(escape)\\\(escape)[?63;1;2;4;6c", .sixel),
        ("\(escape)[?1;2c", "\(escape)P>|XTerm(398)\(escape)\\\(escape)[?63;1;2;4;6c", nil),
        ("\(escape)[?1;2;4c", "\(escape)P>|XTerm(398)\(escape)\\\(escape)[?63;1;2;6c", nil),
    ]

    @Test(
        "in tmux the outer terminal counts, and tmux only for its sixels",
        arguments: inTmux.indices)
    func tmux(index: Int) {
        let transcript = Self.inTmux[index]
        var sorter = AnswerSorter(isInTmux: true)
        #expect(!sorter.answers.awaitsOuterTerminal)
        sorter.take(Array(transcript.own.utf8))
        #expect(sorter.answers.awaitsOuterTerminal && sorter.answers.graphics == nil)
        sorter.take(Array(transcript.outer.utf8))
        #expect(sorter.answers.isComplete && sorter.answers.graphics == transcript.graphics)
        #expect(!sorter.answers.showsTrueColour)
    }

    @Test("the window's pixels give the cell's size if nothing else does, rounded down")
    func window() {
        var answers = TerminalAnswers()
        answers.take(Array("\u{1B}[4;412;644t".utf8))
        #expect(answers.cell == nil)
        #expect(answers.cell(in: CellSize(columns: 80, rows: 24)) == ImageSize(width: 8, height: 17))
        #expect(answers.cell(in: CellSize(columns: 800, rows: 24)) == nil)
        answers.take(Array("\u{1B}[6;18;9t".utf8))
        #expect(answers.cell(in: CellSize(columns: 80, rows: 24)) == ImageSize(width: 9, height: 18))
    }

    @Test("versions compare by number")
    func versions() {
        for (name, has) in [
            ("kitty(0.28.0)", true), ("kitty(0.27.9)", false), ("kitty(1.0)", true), ("kitty", false),
            ("ghostty 1.1.3", true), ("XTerm(379)", false),
        ] {
            var answers = TerminalAnswers()
            answers.take(Array("\u{1B}P>|\(name)\u{1B}\\".utf8))
            #expect(answers.hasPlaceholders == has, "\(name)")
        }
    }

    @Test("only a terminal is queried")
    func none() async {
        #expect(await TerminalInquiry.answers(path: "/dev/null", limit: .seconds(1)) == nil)
    }
}
