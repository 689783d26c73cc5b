import TerminalGraphics
import TestTraits
import Testing

@Suite("Making untrusted text visible", .bounded)
struct TerminalTextVisibleTests {
    @Test(
        "characters that control the terminal or mislead a reader show as a sign",
        arguments: [
            ("plain text", "plain text"),
            ("", ""),
            ("\u{1B}[31mred", "␛[31mred"),
            ("\u{1B}]0;title\u{7}", "␛]0;title␇"),
            ("nul\u{0}", "nul␀"),
            ("back\u{8}space", "back␈space"),
            ("\u{7F}", "␡"),
            ("a\tb", "a b"),
            ("a\nb", "a␊b"),
            ("a\r\nb", "a␍␊b"),
            ("a\rb", "a␍b"),
            ("\u{9B}31m", "‹U+009B›31m"),
            ("\u{85}", "‹U+0085›"),
            ("\u{90}q", "‹U+0090›q"),
            ("abc\u{202E}fdp", "abc‹U+202E›fdp"),
            ("\u{2066}x\u{2069}", "‹U+2066›x‹U+2069›"),
            ("\u{200E}\u{200F}\u{61C}", "‹U+200E›‹U+200F›‹U+061C›"),
            ("a\u{200B}b\u{200C}c\u{200D}d", "a‹U+200B›b‹U+200C›c‹U+200D›d"),
            ("\u{2060}\u{FEFF}\u{AD}", "‹U+2060›‹U+FEFF›‹U+00AD›"),
            ("a\u{2028}b\u{2029}", "a‹U+2028›b‹U+2029›"),
            ("\u{E0041}\u{E007F}", "‹U+E0041›‹U+E007F›"),
            ("\u{FFF9}\u{206A}\u{180E}", "‹U+FFF9›‹U+206A›‹U+180E›"),
            ("\u{3164}\u{115F}\u{34F}", "‹U+3164›‹U+115F›‹U+034F›"),
            ("A\u{FE00}\u{E0100}", "A‹U+FE00›‹U+E0100›"),
            ("\u{E000}\u{FFFF}", "‹U+E000›‹U+FFFF›"),
            ("A\u{FE0F}", "A‹U+FE0F›"),
            ("❤\u{FE0F}\u{FE0F}", "❤\u{FE0F}‹U+FE0F›"),
            ("👩\u{200D}x", "👩‹U+200D›x"),
            ("👩\u{200D}\u{200D}👧", "👩‹U+200D›‹U+200D›👧"),
        ])
    func shown(text: String, expected: String) {
        #expect(TerminalText.visible(text) == expected)
    }

    @Test(
        "ordinary text of any script, and emoji, stay unchanged",
        arguments: [
            "Größe, élan, Ελλάδα, Москва", "羅生門", "한국어", "العربية", "עברית", "हिन्दी", "ไทย",
            "e\u{301}\u{323}", "👩\u{200D}👩\u{200D}👧\u{200D}👦", "👍🏽", "❤\u{FE0F}", "1\u{FE0F}\u{20E3}",
            "🏳\u{FE0F}\u{200D}🌈", "🇩🇪", "☎\u{FE0E}", "🏃🏽\u{200D}♀\u{FE0F}",
        ])
    func unchanged(text: String) {
        #expect(TerminalText.visible(text).unicodeScalars.elementsEqual(text.unicodeScalars))
    }

    @Test("a combining mark without a base gets a dotted circle")
    func orphanedMark() {
        #expect(TerminalText.visible("\u{301}a") == "\u{25CC}\u{301}a")
        #expect(TerminalText.visible("a\n\u{301}", keepingNewlines: true) == "a\n\u{25CC}\u{301}")
        #expect(TerminalText.visible("\u{202E}\u{301}") == "‹U+202E›\u{25CC}\u{301}")
    }

    @Test("combining marks after the eighth are cut, with their number")
    func pileOfMarks() {
        let pile = "a" + String(repeating: "\u{301}", count: 10)
        let kept = "a" + String(repeating: "\u{301}", count: 8)
        #expect(TerminalText.visible(pile + "b") == kept + "‹U+0301›‹U+0301›b")
    }

    @Test("newlines are kept if the caller asks, and only line feeds are")
    func newlines() {
        #expect(TerminalText.visible("a\nb\r\nc\rd", keepingNewlines: true) == "a\nb\nc␍d")
        #expect(TerminalText.visible("\u{1B}\n", keepingNewlines: true) == "␛\n")
    }

    @Test("no scalar that controls, hides or reorders is ever in the result")
    func everyScalar() {
        for value in assignedPlanes {
            guard let scalar = Unicode.Scalar(value) else { continue }
            let shown = TerminalText.visible(String(scalar)).unicodeScalars
            for out in shown where !(0x20..<0x7F).contains(out.value) {
                switch out.properties.generalCategory {
                case .control, .format, .lineSeparator, .paragraphSeparator, .privateUse, .unassigned:
                    Issue.record("U+\(String(value, radix: 16)) is in the result")
                default:
                    if out.properties.isDefaultIgnorableCodePoint {
                        Issue.record("U+\(String(value, radix: 16)) is invisible in the result")
                    }
                }
            }
        }
    }

    @Test("invalid UTF-8 shows as replacement characters")
    func invalidBytes() {
        let text = String(decoding: [0x61, 0xFF, 0x1B, 0xC2] as [UInt8], as: UTF8.self)
        #expect(TerminalText.visible(text) == "a\u{FFFD}␛\u{FFFD}")
    }
}

/// The assigned planes: the first two, and the first block of plane 14 with its tags.
let assignedPlanes = [Array(UInt32(0)..<0x20000), Array(0xE0000..<0xE1000)].joined()
