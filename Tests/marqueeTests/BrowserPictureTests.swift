import Glibc
import ImageCodecs
import TestSupport
import TestTraits
import Testing

/// The browser on terminals with pixel graphics.
@Suite("The browser's pictures in pixels", .bounded, .ownThread)
struct BrowserPictureTests {
    private let sample: SmallSample

    init() throws { sample = try SmallSample() }

    private func started(_ arguments: [String]) throws -> PseudoTerminal {
        try sample.started(
            arguments, environment: ["COLORTERM": "truecolor"], cellPixels: ImageSize(width: 8, height: 16))
    }

    /// Waits for a whole frame with at least two pictures.
    private func showsPictures(_ terminal: PseudoTerminal) -> Bool {
        terminal.waits { screen in
            !screen.modes.contains(2026) && cellsOfPictures(screen) >= 40
        }
    }

    private func cellsOfPictures(_ screen: VirtualScreen) -> Int {
        (0..<screen.size.rows).reduce(0) { sum, row in
            sum + (0..<screen.size.columns).count { screen.tile(column: $0, row: row) != nil }
        }
    }

    @Test(
        "posters are pixel pictures, also after scrolling and resizing, and none stays behind",
        arguments: ["kitty", "iterm2", "sixel"])
    func protocols(way: String) throws {
        let terminal = try started(["--graphics", way])
        try #require(showsPictures(terminal), "\(terminal.screen.rows)")
        try terminal.type("jjjj") { $0.rows.contains { $0.contains("Les Vampires") } }
        #expect(showsPictures(terminal))
        terminal.resize(columns: 100, rows: 30)
        #expect(showsPictures(terminal))
        terminal.type("\r")
        #expect(showsPictures(terminal))
        terminal.quit("\u{3}")
        #expect(terminal.screen.unknown.isEmpty)
        #expect(terminal.screen.kitty.pictures.isEmpty && terminal.screen.kitty.strangers.isEmpty)
        #expect(terminal.screen.modes == [7, 25])
    }

    @Test(
        "kitty's pictures are deleted when the program is killed or crashes",
        arguments: [SIGTERM, SIGHUP, SIGINT, SIGSEGV])
    func killed(signal: Int32) throws {
        let terminal = try started(["--graphics", "kitty"])
        try #require(showsPictures(terminal))
        #expect(!terminal.screen.kitty.pictures.isEmpty)
        terminal.send(signal)
        let ending = terminal.waitForEnd()
        #expect(ending != nil && ending != .exited(0))
        #expect(terminal.screen.kitty.pictures.isEmpty && terminal.screen.kitty.strangers.isEmpty)
        #expect(terminal.screen.modes == [7, 25])
    }

    @Test("a stop deletes the pictures, and fg sends them again")
    func stopped() throws {
        let terminal = try sample.started(
            script: "set -m; \"$MARQUEE\" --graphics kitty; echo stopped; read line; fg",
            environment: ["COLORTERM": "truecolor"], cellPixels: ImageSize(width: 8, height: 16))
        try #require(showsPictures(terminal))
        try terminal.type("\u{1A}") { $0.row(containing: "stopped") != nil }
        #expect(terminal.screen.kitty.pictures.isEmpty)
        terminal.type("\r")
        #expect(showsPictures(terminal))
        terminal.quit("\u{3}")
        #expect(terminal.screen.kitty.pictures.isEmpty)
    }

    @Test(
        "without --graphics the terminal is queried for its protocol",
        arguments: [("\u{1B}_Gi=31;OK\u{1B}\\\u{1B}[?62c", true), ("\u{1B}[6;16;8t\u{1B}[?62;4c", false)])
    func asked(answers: String, isKitty: Bool) throws {
        let terminal = try started([])
        try #require(terminal.waits { $0.rows.contains { $0.contains("A Trip to the Moon") } })
        #expect(cellsOfPictures(terminal.screen) == 0)
        terminal.type(answers)
        #expect(showsPictures(terminal))
        #expect(terminal.screen.kitty.pictures.isEmpty == !isKitty)
        terminal.quit("\u{3}")
        #expect(terminal.screen.kitty.pictures.isEmpty)
    }
}
