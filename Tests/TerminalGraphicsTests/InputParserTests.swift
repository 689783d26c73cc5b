import SystemSupport
import TerminalGraphics
import TestTraits
import Testing

@Suite("From a terminal's bytes to events", .bounded)
struct InputParserTests {
    struct Case: Sendable, CustomTestStringConvertible {
        let bytes: [UInt8]
        let events: [TerminalEvent]

        init(_ text: String, _ events: TerminalEvent...) {
            bytes = Array(text.utf8)
            self.events = events
        }

        init(bytes: [UInt8], _ events: TerminalEvent...) {
            self.bytes = bytes
            self.events = events
        }

        var testDescription: String { String(decoding: bytes, as: UTF8.self).debugDescription }
    }

    private static func key(_ code: TerminalKey.Code, _ modifiers: TerminalKey.Modifiers = [])
        -> TerminalEvent
    {
        .key(TerminalKey(code, modifiers))
    }

    private static func letter(_ letter: Character, _ modifiers: TerminalKey.Modifiers = []) -> TerminalEvent
    {
        key(.character(letter), modifiers)
    }

    private static func answer(_ text: String) -> TerminalEvent { .answer(Array(text.utf8)) }

    private static func at(_ column: Int, _ row: Int) -> CellPosition {
        CellPosition(column: column, row: row)
    }

    private static let cases = [
        Case("jk", letter("j"), letter("k")),
        Case("G", letter("G")),
        Case("é羅👍", letter("é"), letter("羅"), letter("👍")),
        Case("\r", key(.enter)), Case("\n", key(.enter)), Case("\t", key(.tab)),
        Case("\u{7F}", key(.backspace)), Case("\u{8}", key(.backspace)),
        Case("\u{3}", letter("c", .control)), Case("\u{1A}", letter("z", .control)),
        Case("\u{0}", letter(" ", .control)), Case("\u{1C}", letter("\\", .control)),
        Case("\u{1B}x", letter("x", .alt)), Case("\u{1B}é", letter("é", .alt)),
        Case("\u{1B}\r", key(.enter, .alt)), Case("\u{1B}\u{3}", letter("c", [.alt, .control])),
        Case("\u{1B}\u{1B}[A", key(.escape), key(.up)),
        Case("\u{1B}[A\u{1B}[B\u{1B}[C\u{1B}[D", key(.up), key(.down), key(.right), key(.left)),
        Case("\u{1B}OA\u{1B}OB\u{1B}OH\u{1B}OF", key(.up), key(.down), key(.home), key(.end)),
        Case("\u{1B}OM", key(.enter)),
        Case("\u{1B}[H\u{1B}[F", key(.home), key(.end)),
        Case("\u{1B}[1~\u{1B}[4~\u{1B}[7~\u{1B}[8~", key(.home), key(.end), key(.home), key(.end)),
        Case("\u{1B}[5~\u{1B}[6~", key(.pageUp), key(.pageDown)),
        Case("\u{1B}[2~\u{1B}[3~", key(.insert), key(.delete)),
        Case("\u{1B}[1;5A", key(.up, .control)), Case("\u{1B}[6;3~", key(.pageDown, .alt)),
        Case("\u{1B}[1;2D", key(.left, .shift)), Case("\u{1B}[Z", key(.tab, .shift)),
        Case("\u{1B}OP\u{1B}[15~\u{1B}[24~", key(.function(1)), key(.function(5)), key(.function(12))),
        Case("\u{1B}[[A", key(.function(1))), Case("\u{1B}[1;2R", key(.function(3), .shift)),
        Case("\u{1B}[113;5u", letter("q", .control)), Case("\u{1B}[27u", key(.escape)),
        Case("\u{1B}[97:65;2u", letter("a", .shift)), Case("\u{1B}[57441;1u"),
        Case("\u{1B}[27;5;13~", key(.enter, .control)),
        Case("\u{1B}[<0;10;3M\u{1B}[<0;10;3m", .click(at: at(9, 2))),
        Case("\u{1B}[<64;1;1M", .wheel(.up, at: at(0, 0))),
        Case("\u{1B}[<65;200;60M", .wheel(.down, at: at(199, 59))),
        Case("\u{1B}[<69;5;5M", .wheel(.down, at: at(4, 4))),
        Case("\u{1B}[<2;5;5M\u{1B}[<32;5;5M\u{1B}[<66;5;5M\u{1B}[<0;5M"),
        Case(bytes: [0x1B, 0x5B, 0x4D, 32, 33 + 9, 33 + 2], .click(at: at(9, 2))),
        Case(bytes: [0x1B, 0x5B, 0x4D, 32 + 65, 0xFF, 33, 0x71], .wheel(.down, at: at(222, 0)), letter("q")),
        Case(bytes: [0x1B, 0x5B, 0x4D, 35, 40, 40]),
        Case(
            "\u{1B}[200~two\nlines 01~ \u{1B}[A\u{1B}[201~q", .paste("two\nlines 01~ \u{1B}[A"), letter("q")),
        Case("\u{1B}[200~\u{1B}[201~", .paste("")),
        Case("\u{1B}[?62;4;22cq", answer("\u{1B}[?62;4;22c"), letter("q")),
        Case("\u{1B}[>41;379;0c", answer("\u{1B}[>41;379;0c")),
        Case("\u{1B}[?2026;2$yj", answer("\u{1B}[?2026;2$y"), letter("j")),
        Case("\u{1B}[6;16;8t", answer("\u{1B}[6;16;8t")), Case("\u{1B}[24;80R", answer("\u{1B}[24;80R")),
        Case("\u{1B}P>|XTerm(379)\u{1B}\\q", answer("\u{1B}P>|XTerm(379)\u{1B}\\"), letter("q")),
        Case("\u{1B}_Gi=31;OK\u{1B}\\", answer("\u{1B}_Gi=31;OK\u{1B}\\")),
        Case("\u{1B}]11;rgb:0000/0000/0000\u{7}q", answer("\u{1B}]11;rgb:0000/0000/0000\u{7}"), letter("q")),
        Case("\u{1B}]11;rgb\u{1B}[Aq", key(.up), letter("q")),
        Case("\u{1B}]lost\u{3}q", letter("c", .control), letter("q")),
        Case("\u{1B}[12\u{3}q", letter("c", .control), letter("q")),
        Case("\u{1B}[12\u{1B}[A", key(.up)),
        Case("\u{1B}[999;999;999z\u{1B}[99999999999999999999Aq", key(.up), letter("q")),
        Case("\u{1B}[Iq", letter("q")),
        Case(
            bytes: [0xC3, 0x71, 0xFF, 0x80, 0xE2, 0x82, 0x1B, 0x5B, 0x41, 0xED, 0xA0, 0x80, 0x6A],
            letter("q"), key(.up), letter("j")),
    ]

    @Test("each sequence gives its event", arguments: cases)
    func sequences(given: Case) {
        var parser = InputParser()
        #expect(parser.feed(given.bytes) == given.events)
        #expect(!parser.isAmbiguous)
    }

    @Test("the events are the same however the bytes are split", arguments: cases)
    func cutAnywhere(given: Case) {
        for cut in given.bytes.indices {
            var parser = InputParser()
            var events = parser.feed(given.bytes[..<cut])
            events += parser.feed(given.bytes[cut...])
            #expect(events == given.events, "cut at \(cut)")
        }
        var parser = InputParser()
        #expect(given.bytes.flatMap { parser.feed([$0]) } == given.events, "cut everywhere")
    }

    @Test(
        "after the timeout, ambiguous bytes are Escape, or Alt with the character",
        arguments: [
            ("\u{1B}", key(.escape)), ("\u{1B}[", letter("[", .alt)), ("\u{1B}O", letter("O", .alt)),
            ("\u{1B}]", letter("]", .alt)), ("\u{1B}P", letter("P", .alt)),
        ])
    func ambiguity(text: String, event: TerminalEvent) {
        var parser = InputParser()
        #expect(parser.feed(text.utf8).isEmpty)
        #expect(parser.isAmbiguous)
        #expect(parser.resolve() == [event])
        #expect(!parser.isAmbiguous)
        #expect(parser.resolve().isEmpty)
        #expect(parser.feed("q".utf8) == [Self.letter("q")])
    }

    @Test("a sequence that has clearly started is waited for")
    func begunSequence() {
        var parser = InputParser()
        #expect(parser.feed("\u{1B}[<6".utf8).isEmpty)
        #expect(!parser.isAmbiguous)
        #expect(parser.resolve().isEmpty)
        #expect(parser.feed("5;1;1M".utf8) == [.wheel(.down, at: Self.at(0, 0))])
    }

    @Test("an endless sequence or paste needs bounded memory and ends")
    func bounds() {
        var parser = InputParser()
        #expect(
            parser.feed(("\u{1B}]" + String(repeating: "x", count: 100_000) + "\u{7}q").utf8) == [
                Self.letter("q")
            ])
        let paste = "\u{1B}[200~" + String(repeating: "y", count: 70_000) + "\u{1B}[201~q"
        #expect(
            parser.feed(paste.utf8) == [.paste(String(repeating: "y", count: 1 << 16)), Self.letter("q")])
        let digits = "\u{1B}[" + String(repeating: "1", count: 5000) + "Aq"
        #expect(parser.feed(digits.utf8) == [Self.letter("q")])
    }

    @Test("no bytes trap, and the parser returns to its ground state")
    func noise() {
        // Every other byte is one that occurs in sequences.
        let telling = Array("\u{1B}\u{1B}[]OPM<;12~ACM\\_\u{7}".utf8)
        var random = SeededNumbers(seed: 5)
        for _ in 0..<2000 {
            var parser = InputParser()
            let bytes = (0..<40).map { _ in
                random.below(2) == 0 ? telling[random.below(telling.count)] : UInt8(random.below(256))
            }
            _ = parser.feed(bytes)
            _ = parser.resolve()
            _ = parser.feed("\u{1B}[201~\u{1B}\\\u{3}\u{3}\u{3}".utf8)
            #expect(parser.feed("q".utf8) == [Self.letter("q")])
        }
    }
}
