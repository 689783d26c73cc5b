import TestTraits
import Testing

/// The program in a terminal whose locale is not UTF-8.
@Suite("A terminal without UTF-8", .bounded, .ownThread)
struct ASCIITerminalTests {
    private let sample: SmallSample

    init() throws { sample = try SmallSample() }

    @Test(
        "without UTF-8 the program writes only ASCII, also for pictures",
        arguments: [
            ["LC_ALL": "C"], ["LC_CTYPE": "POSIX", "LANG": "en_US.UTF-8"], ["LANG": "de_DE.ISO-8859-1"],
        ])
    func noUTF8(locale: [String: String]) throws {
        let terminal = try sample.started(environment: locale.merging(["COLORTERM": "truecolor"]) { $1 })
        try #require(terminal.waits { $0.row(containing: "A Trip to the Moon  Georges Melies") == 2 })
        try terminal.type("i") {
            $0.text(ofRow: 23).contains(" 0 loading ") && $0.row(containing: "+--") == nil
        }
        try terminal.type("j?") { $0.row(containing: "Esc goes back") != nil }
        terminal.quit(" q")
        #expect(terminal.output.allSatisfy { $0 < 0x80 })
        for words in [
            ["list"], ["list", "--json"], ["list", "--posters", "--top", "1"], ["help"], ["show", "xyzä"],
        ] {
            let other = try sample.started(words, environment: locale)
            #expect(other.waitForEnd() != nil)
            #expect(!other.output.isEmpty && other.output.allSatisfy { $0 < 0x80 }, "\(words)")
        }
    }
}
