import FoundationEssentials
import Glibc
import TestSupport
import TestTraits
import Testing

/// The program in a terminal on the sample catalogue, checked by the screen's text.
@Suite("The browser in a terminal", .bounded, .ownThread)
struct BrowserTests {
    private let sample: SmallSample
    private var folder: TemporaryFolder { sample.folder }

    init() throws { sample = try SmallSample() }

    private func started(
        arguments: [String] = [], columns: Int = 80, rows: Int = 24,
        environment: [String: String] = ["COLORTERM": "truecolor"]
    ) throws -> PseudoTerminal {
        let terminal = try sample.started(
            arguments, environment: environment, columns: columns, rows: rows)
        try #require(terminal.waits { $0.row(containing: "A Trip to the Moon") != nil })
        return terminal
    }

    /// Whether the first row's poster is drawn: colours, and not the frame of a card.
    private func hasPoster(_ screen: VirtualScreen) -> Bool {
        screen.cell(column: 2, row: 2).text != "╭"
            && screen.cell(column: 4, row: 3).style.background != .standard
    }

    @Test("the browser shows titles, facts and posters, and the selected film in the status line")
    func firstScreen() throws {
        let terminal = try started()
        #expect(terminal.screen.text(ofRow: 0).contains("1/36"))
        // A frame may arrive in parts, from the top.
        #expect(
            terminal.waits {
                let line = $0.text(ofRow: 23)
                return line.hasPrefix("  A Trip to the Moon · 1902 ") && line.hasSuffix("? help")
            })
        #expect(terminal.screen.text(ofRow: 2).contains("A Trip to the Moon  Georges Méliès"))
        #expect(terminal.screen.text(ofRow: 2).hasSuffix("1902   ★ 8.6"))
        // The first start says how to open other films.
        #expect(terminal.screen.text(ofRow: 22).hasSuffix("FILE, FOLDER or URL opens your own films"))
        #expect(terminal.screen.text(ofRow: 1).isEmpty)
        try terminal.type("i") { $0.text(ofRow: 23).contains("  5 visible  ") }
        #expect(terminal.screen.unknown.isEmpty)
        terminal.quit("q")
    }

    @Test("a poster replaces its frame, and the page of a film without a poster says why")
    func posters() throws {
        let picture = "data:image/png;base64," + Data(SampleImages.png).base64EncodedString()
        let films = """
            [{"id": "a", "title": "A Trip to the Moon", "year": 1902, "director": "D", "poster": "\(picture)"},
             {"id": "b", "title": "Lost", "year": 1903, "director": "D", "poster": "no-such-file.png"},
             {"id": "c", "title": "Nowhere", "year": 1904, "director": "D", "poster": "gopher://x/y"}]
            """
        try folder.write(films, to: "films.json")
        let terminal = try started(arguments: ["--catalogue", folder.file("films.json")])
        #expect(terminal.waits(until: hasPoster))
        #expect(terminal.waits { $0.text(ofRow: 22).hasPrefix("  1 poster failed · r tries again") })
        try terminal.type("j\r") { $0.row(containing: "No poster:") != nil }
        try terminal.type("n") { $0.row(containing: "gopher") != nil }
        terminal.quit("qq")
    }

    @Test(
        "a progressive poster shows before it is complete, in the list and in full",
        arguments: ["", "\r"])
    func preview(keys: String) throws {
        let poster = URL(filePath: #filePath).deletingLastPathComponent()
            .appending(path: "../../sample-data/posters/nosferatu.jpg")
        let bytes = [UInt8](try Data(contentsOf: poster))
        let rest = Gate()
        // Two of its ten scans.
        let origin = try ScriptedOrigin([
            .readHead, .send("HTTP/1.1 200 OK\r\nContent-Length: \(bytes.count)\r\n\r\n"),
            .sendBytes(Array(bytes[..<14_000])), .wait(rest), .sendBytes(Array(bytes[14_000...])),
        ])
        let films = """
            [{"id": "a", "title": "A Trip to the Moon", "year": 1902, "director": "D", "minutes": 7,
              "poster": "\(origin.url("/a.jpg"))"}]
            """
        try folder.write(films, to: "films.json")
        // The server waits for the test, which may be slow on a busy machine.
        let terminal = try started(
            arguments: ["--catalogue", folder.file("films.json"), "--timeout", "600"])
        // The page requests it after the server has paused: the list's preview is of the same transfer.
        #expect(terminal.waits(until: hasPoster))
        terminal.type("i" + keys)
        func isShown(_ screen: VirtualScreen) -> Bool {
            hasPoster(screen) && (screen.row(containing: "7 minutes") != nil) == !keys.isEmpty
        }
        #expect(
            terminal.waits { isShown($0) && $0.text(ofRow: 23).contains(" 1 loading ") },
            "\(origin.connections.count) connections: \(terminal.screen.rows)")
        rest.open()
        #expect(terminal.waits { isShown($0) && $0.text(ofRow: 23).contains(" 0 loading ") })
        terminal.quit(keys.isEmpty ? "q" : "qq")
    }

    @Test("keys move, filter, sort, open and go back")
    func keys() throws {
        let terminal = try started()
        try terminal.type("j") { $0.text(ofRow: 0).contains("2/36") }
        try terminal.type("G") {
            $0.text(ofRow: 0).contains("36/36") && $0.row(containing: "A Throw of Dice") != nil
        }
        try terminal.type("/metro") {
            $0.text(ofRow: 0).contains("1/1") && $0.text(ofRow: 2).contains("Metropolis")
        }
        try terminal.type("\r\r") {
            $0.row(containing: "Germany") != nil && $0.row(containing: "minutes") != nil
        }
        try terminal.type("\u{1B}") {
            $0.text(ofRow: 2).contains("Metropolis") && $0.row(containing: "Germany") == nil
        }
        try terminal.type("\u{1B}") { $0.text(ofRow: 0).contains("/36") }
        try terminal.type("gs") { $0.text(ofRow: 0).contains("best first") }
        try terminal.type("?") { $0.row(containing: "Esc goes back") != nil }
        terminal.quit(" q")
    }

    @Test("a window that is too small says so, and shows the films again once it is larger")
    func sizes() throws {
        let terminal = try started()
        terminal.resize(columns: 30, rows: 8)
        #expect(terminal.waits { $0.row(containing: "Marquee needs") != nil })
        terminal.resize(columns: 100, rows: 30)
        #expect(terminal.waits { $0.text(ofRow: 2).contains("A Trip to the Moon") && $0.size.columns == 100 })
        terminal.quit("q")
    }

    @Test("a long page scrolls in a small window, and shows its position")
    func longPages() throws {
        let terminal = try started(columns: 40, rows: 10)
        try terminal.type("?") { $0.text(ofRow: 0).contains("lines 1-8 of") }
        #expect(terminal.screen.row(containing: "quit") == nil)
        try terminal.type("\u{1B}[F") { $0.row(containing: "quit") == 8 && $0.text(ofRow: 0).hasSuffix("↑") }
        try terminal.type("\u{1B}[H") {
            $0.row(containing: "quit") == nil && $0.text(ofRow: 0).hasSuffix("↓")
        }
        try terminal.type("\u{1B}") { $0.row(containing: "lines") == nil }
        try terminal.type("\r") { $0.text(ofRow: 0).contains("lines 1-8 of") }
        try terminal.type(" ") { !$0.text(ofRow: 0).contains("lines 1-") && $0.text(ofRow: 0).contains("↑") }
        terminal.quit("qq")
    }

    @Test("a wide window has the selected film beside the list, and a click there opens its page")
    func wide() throws {
        let terminal = try started(columns: 200, rows: 60)
        #expect(
            terminal.waits { screen in
                screen.row(containing: "15 minutes") != nil && screen.row(containing: "╭") == nil
                    && (90..<140).contains { screen.cell(column: $0, row: 25).style.background != .standard }
            })
        try terminal.type("j") { $0.row(containing: "12 minutes") != nil && $0.row(containing: "╭") == nil }
        #expect(terminal.screen.text(ofRow: 2).contains("A Trip to the Moon"))
        // Press and release the left button.
        try terminal.type("\u{1B}[<0;120;20M\u{1B}[<0;120;20m") { $0.row(containing: "Les Vampires") == nil }
        terminal.quit("qq")
    }

    @Test("a file in place of the command is browsed")
    func file() throws {
        let films = #"[{"id": "a", "title": "A Trip to the Moon", "year": 1902, "director": "D"}]"#
        try folder.write(films, to: "films")
        let terminal = try started(arguments: [folder.file("films")])
        #expect(terminal.screen.text(ofRow: 0).hasSuffix(" 1/1"))
        terminal.quit("q")
    }

    @Test("r retries a missing poster at once")
    func retry() throws {
        let missing = Gate()
        let origin = try ScriptedOrigin { connection in
            connection == 0
                ? [
                    .readHead,
                    .send("HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\nConnection: close\r\n\r\n"),
                ]
                : [.wait(missing)] + .answering(SampleImages.png)
        }
        let films = """
            [{"id": "a", "title": "A Trip to the Moon", "year": 1902, "director": "D", "poster": "\(origin.url())"}]
            """
        try folder.write(films, to: "films.json")
        let terminal = try started(arguments: ["--catalogue", folder.file("films.json")])
        // The message has two rows.
        #expect(
            terminal.waits { $0.row(containing: "No poster: ") == 21 && $0.text(ofRow: 22) == "  answer" })
        missing.open()
        try terminal.type("r", until: hasPoster)
        terminal.quit("q")
        #expect(origin.heads.count == 2)
    }

    @Test("help covers the page and returns to it")
    func help() throws {
        let terminal = try started()
        try terminal.type("\r") { $0.row(containing: "minutes") != nil }
        try terminal.type("?") { $0.row(containing: "Esc goes back") != nil }
        try terminal.type("\u{1B}") { $0.row(containing: "minutes") != nil }
        terminal.quit("qq")
    }

    @Test("NO_COLOR sends no colours, and pictures are made of letters")
    func noColour() throws {
        let terminal = try started(environment: ["NO_COLOR": "1"])
        let colours = [UInt8]("\u{1B}[38;".utf8)
        #expect(terminal.waits { $0.frames > 1 })
        #expect(!terminal.output.indices.contains { terminal.output[$0...].starts(with: colours) })
        terminal.quit("q")
    }
}
