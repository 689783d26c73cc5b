import TerminalGraphics
import TestTraits
import Testing

@Suite("Text for terminals without UTF-8", .bounded)
struct TerminalTextASCIITests {
    @Test(
        "letters lose their diacritics, signs are replaced, and other characters are one question mark per cell",
        arguments: [
            ("plain ASCII", "plain ASCII"), ("Häxan · Łódź", "Haxan - Lodz"), ("É\u{301}a\u{308}", "Ea"),
            ("●  8.6 ★ …", "*  8.6 * ."), ("╭──╮│▌", "+--+||"), ("┏━┛┃█▃▆", "+=+|#_="),
            ("“L’Étoile” – «x»", "\"L'Etoile\" - \"x\""),
            ("東京", "????"), ("🎬", "??"), ("Мать", "????"), ("\u{1B}[1mé\u{1B}[m", "\u{1B}[1me\u{1B}[m"),
        ])
    func substitutes(text: String, ascii: String) {
        #expect(TerminalText.ascii(text) == ascii)
        #expect(TerminalText.width(TerminalText.ascii(text)) == TerminalText.width(text))
    }

    @Test("a frame has only ASCII, and the same number of cells")
    func frame() {
        var grid = CellGrid(size: CellSize(columns: 12, rows: 1))
        grid.put("é東●e\u{301}🎬x", at: CellPosition(column: 0, row: 0))
        var encoder = FrameEncoder(depth: .trueColour, onlyASCII: true)
        let bytes = encoder.frame(grid)
        #expect(bytes.allSatisfy { $0 < 0x80 })
        #expect(String(decoding: bytes, as: UTF8.self).contains("e??*e"))
    }

    @Test("JSON is ASCII on demand, with the same value")
    func json() {
        #expect(
            TerminalText.sanitized(json: #"{"a":"é🎬x"}"#, onlyASCII: true) == #"{"a":"\u00e9\ud83c\udfacx"}"#)
        #expect(TerminalText.sanitized(json: #"{"a":"é🎬x"}"#) == #"{"a":"é🎬x"}"#)
        #expect(TerminalText.sanitized(json: "\"a\u{AD}é\u{202E}\"") == #""a\u00adé\u202e""#)
    }
}
