import TestTraits
import Testing

@testable import TerminalGraphics

@Suite("Measuring and cutting text in cells", .bounded)
struct TerminalTextWidthTests {
    @Test(
        "width counts cells",
        arguments: [
            ("", 0), ("abc", 3), ("é", 1), ("e\u{301}", 1), ("羅生門", 6), ("한국", 4), ("ｱ", 1), ("Ａ", 2),
            ("각", 2), ("\u{1100}\u{1161}\u{11A8}", 2), ("का", 2), ("กำ", 2), ("ﷺ", 1), ("…", 1), ("—", 1),
            ("👍", 2), ("👍🏽", 2), ("👩\u{200D}👩\u{200D}👧", 2), ("🇩🇪", 2), ("❤", 1), ("❤\u{FE0F}", 2),
            ("1\u{FE0F}\u{20E3}", 2), ("⌚", 2), ("\u{1B}", 0), ("a\u{0}b", 2), ("\u{202E}", 0), ("\u{A0}", 1),
            ("␛", 1), ("‹U+202E›", 8), ("█▌", 2),
        ])
    func widths(text: String, cells: Int) {
        #expect(TerminalText.width(text) == cells)
    }

    @Test("the ranges of the table ascend and do not touch")
    func tableIsSorted() {
        let table = CellWidthTables.wide
        for index in stride(from: 0, to: table.count, by: 2) {
            #expect(table[index] <= table[index + 1])
            if index > 0 { #expect(table[index - 1] + 1 < table[index]) }
        }
    }

    @Test("widths agree with the standard library's properties of each scalar")
    func tablesAgreeWithStandardLibrary() {
        for value in assignedPlanes {
            guard let scalar = Unicode.Scalar(value) else { continue }
            let width = TerminalText.width(of: scalar)
            let properties = scalar.properties
            let name = "U+\(String(value, radix: 16))"
            // A leading filler is the first half of a Hangul syllable, and as wide as one.
            let isFiller = value == 0x115F
            switch properties.generalCategory {
            case .control, .nonspacingMark, .enclosingMark, .format, .lineSeparator, .paragraphSeparator:
                if width != 0 { Issue.record("\(name) takes cells") }
            case .uppercaseLetter, .decimalNumber, .mathSymbol, .currencySymbol:
                if width == 0 { Issue.record("\(name) has no width") }
            default:
                if properties.isDefaultIgnorableCodePoint, !isFiller, width != 0 {
                    Issue.record("\(name) is invisible and has a width")
                }
            }
            let isRegionalIndicator = (0x1F1E6...0x1F1FF).contains(value)
            if properties.isEmojiPresentation, !isRegionalIndicator, width != 2 {
                Issue.record("\(name) is an emoji with a width of \(width)")
            }
        }
    }

    @Test(
        "truncation never exceeds the width nor splits a cluster",
        arguments: [
            ("abcdef", 6, "abcdef"), ("abcdef", 5, "abcd…"), ("abcdef", 1, "…"), ("abcdef", 0, ""),
            ("abcdef", -1, ""), ("羅生門", 6, "羅生門"), ("羅生門", 5, "羅生…"), ("羅生門", 4, "羅…"),
            ("羅生門", 2, "…"), ("e\u{301}e\u{301}e\u{301}", 2, "e\u{301}…"), ("a👍🏽b", 3, "a…"),
        ])
    func truncation(text: String, limit: Int, expected: String) {
        #expect(TerminalText.truncated(text, toWidth: limit) == expected)
    }

    @Test("an ellipsis wider than the room is truncated itself")
    func longEllipsis() {
        #expect(TerminalText.truncated("abcdef", toWidth: 2, ellipsis: "...") == "..")
        #expect(TerminalText.truncated("abcdef", toWidth: 4, ellipsis: "...") == "a...")
    }

    @Test(
        "padding fills exactly the width",
        arguments: [
            ("ab", 5, TerminalText.Alignment.leading, "ab   "), ("ab", 5, .trailing, "   ab"),
            ("羅生門", 5, .leading, "羅生…"), ("羅生門", 4, .trailing, " 羅…"),
            ("abc", 0, .leading, ""),
        ])
    func padding(text: String, cells: Int, alignment: TerminalText.Alignment, expected: String) {
        #expect(TerminalText.padded(text, toWidth: cells, alignment: alignment) == expected)
    }

    @Test(
        "wrapping breaks at spaces and line feeds, and splits only words that are too long",
        arguments: [
            ("the quick brown fox", 9, ["the quick", "brown fox"]),
            ("ab cd", 4, ["ab", "cd"]),
            ("the  quick ", 20, ["the quick"]),
            ("a\n\nb", 5, ["a", "", "b"]),
            ("abcdefgh ij", 3, ["abc", "def", "gh", "ij"]),
            ("x abcdef", 3, ["x", "abc", "def"]),
            ("abcdefg h", 3, ["abc", "def", "g h"]),
            ("羅生門", 5, ["羅生", "門"]),
            ("羅a", 1, ["…", "a"]),
            ("", 5, [""]),
            ("abc", 0, []),
        ])
    func wrapping(text: String, limit: Int, lines: [String]) {
        #expect(TerminalText.wrapped(text, toWidth: limit) == lines)
    }

    @Test(
        "lines end between characters of Chinese and Japanese, but not before closing or after opening punctuation",
        arguments: [
            ("羅生門の話", 6, ["羅生門", "の話"]), ("ab 羅生門", 7, ["ab 羅生", "門"]),
            ("映画「夜」、昼。", 8, ["映画", "「夜」、", "昼。"]),
            ("これは夜！？", 8, ["これは", "夜！？"]), ("（夜）の人々", 6, ["（夜）", "の人々"]),
            ("カリガリー博士", 8, ["カリガ", "リー博士"]), ("ちょっと待って", 4, ["ちょ", "っと", "待っ", "て"]),
            ("夜は１９２２年", 8, ["夜は１９", "２２年"]), ("城 Nosferatuの夜", 12, ["城", "Nosferatuの", "夜"]),
            ("東京物語 東京", 5, ["東京", "物語", "東京"]), ("한국영화 제목", 8, ["한국영화", "제목"]),
            ("夜の人々", 6, ["夜の", "人々"]), ("夜のちょ", 6, ["夜の", "ちょ"]),
            ("夜の「昼」", 6, ["夜の", "「昼」"]), ("夜の〜昼", 4, ["夜", "の〜", "昼"]), ("夜　の", 4, ["夜　", "の"]),
            ("夜〜昼", 4, ["夜〜", "昼"]), ("𠮷野家𠮷", 4, ["𠮷野", "家𠮷"]),
            ("「「「「", 4, ["「「", "「「"]), ("か\u{3099}き\u{3099}", 2, ["か\u{3099}", "き\u{3099}"]),
        ])
    func eastAsian(text: String, limit: Int, lines: [String]) {
        #expect(TerminalText.wrapped(text, toWidth: limit) == lines)
    }

    @Test(
        "clusters that a cell of tmux does not hold lose their joiners, and no member",
        arguments: [
            ("👨\u{200D}👩\u{200D}👧\u{200D}👦 Family", "👨👩👧👦 Family"),
            ("A 👨🏽\u{200D}👩🏽\u{200D}👧🏽 B", "A 👨🏽👩🏽👧🏽 B"),
            ("👨\u{200D}👩\u{200D}👧", "👨\u{200D}👩\u{200D}👧"),
            ("Häxan, a long enough title", "Häxan, a long enough title"),
            ("👩\u{200D}🚀👩\u{200D}🚀👩\u{200D}🚀", "👩\u{200D}🚀👩\u{200D}🚀👩\u{200D}🚀"),
        ])
    func separated(text: String, expected: String) {
        let separated = TerminalText.separated(text, clustersLongerThan: TerminalText.longestClusterInTmux)
        // Equal scalars, not only equal texts.
        #expect(Array(separated.unicodeScalars) == Array(expected.unicodeScalars))
    }
}
