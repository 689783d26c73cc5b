import FoundationEssentials
import LazyImages
import TestSupport
import TestTraits
import Testing

@testable import marquee

/// Progress on a terminal, of transfers that pause half-way so that it can be read.
@Suite("Progress on a terminal", .bounded, .ownThread)
struct ProgressTests {
    private let folder: TemporaryFolder
    private let gate = Gate()

    init() throws { folder = try TemporaryFolder() }

    /// Sends 30,000 of 100,000 bytes, and the rest once the gate is open.
    private func origin(of body: [UInt8]) throws -> ScriptedOrigin {
        let head = "HTTP/1.1 200 OK\r\nContent-Length: \(body.count)\r\nConnection: close\r\n\r\n"
        return try ScriptedOrigin([
            .readHead, .send(head), .sendBytes(Array(body[..<30_000])), .wait(gate),
            .sendBytes(Array(body[30_000...])),
        ])
    }

    private var body: [UInt8] { [UInt8](repeating: 0x20, count: 100_000) }

    private func started(_ arguments: [String]) throws -> PseudoTerminal {
        try PseudoTerminal(
            BuiltProgram.path("marquee"), arguments + ["--timeout", "600"],
            environment: ["XDG_CACHE_HOME": folder.path])
    }

    private func shows(_ texts: [String], on terminal: PseudoTerminal) -> Bool {
        terminal.waits { screen in texts.allSatisfy { screen.row(containing: $0) != nil } }
    }

    /// Releases the rest and checks that the progress line disappears.
    private func finish(_ terminal: PseudoTerminal, isWhole: Bool = true) {
        gate.open()
        let end = terminal.waitForEnd()
        #expect(end == .exited(0) || !isWhole)
        #expect(terminal.screen.row(containing: "/s") == nil, "\(terminal.screen.rows)")
        #expect(terminal.screen.unknown.isEmpty)
    }

    @Test(
        "commands show the bytes and the rate of one transfer while it lasts",
        arguments: [
            ("fetch URL --any-content --json", ["29.3 KiB of 97.7 KiB"], "\"outcome\":\"network\""),
            ("list --catalogue URL", ["films.json", "29.3 KiB of 97.7 KiB"], "1 film"),
            ("show a --catalogue FILE", ["29.3 KiB of 97.7 KiB"], "A"),
            ("list --posters --catalogue FILE", ["0/2", "29.3 KiB"], "B"),
        ])
    func one(line: String, progress: [String], result: String) throws {
        let films = #"[{"id":"a","title":"A","year":1920,"director":"D"}]"#
        let isCatalogue = line.hasPrefix("list --catalogue")
        // The record of a picture, or of a longer address, would go on in the next row.
        let picture = line.hasPrefix("fetch") ? [] : [UInt8](Fixture.pixel)
        let origin = try origin(of: (isCatalogue ? Array(films.utf8) : picture) + body)
        let url = origin.url(isCatalogue ? "/films.json" : "/").absoluteString
        let withPoster = #"[{"id":"a","title":"A","poster":"\#(url)"},{"id":"b","title":"B"}]"#
        try folder.write(withPoster, to: "films")
        let words = line.replacing("URL", with: url).replacing("FILE", with: folder.file("films"))
        let terminal = try started(words.split(separator: " ").map(String.init))
        #expect(shows(progress + ["/s"], on: terminal), "\(terminal.screen.rows)")
        // A picture with more bytes behind it need not be shown.
        finish(terminal, isWhole: !line.hasPrefix("show"))
        #expect(terminal.screen.row(containing: result) != nil)
    }

    @Test(
        "fetch and prewarm show counts, and the bytes of running transfers",
        arguments: ["fetch", "prewarm"])
    func several(command: String) throws {
        let origin = try origin(of: body)
        let addresses = ["data:,xyz", origin.url("/1").absoluteString, origin.url("/2").absoluteString]
        let list = try folder.write(addresses.joined(separator: "\n"), to: "list")
        let operands = command == "fetch" ? addresses : [list]
        let terminal = try started([command, "--any-content"] + operands)
        #expect(shows(["1/3", "58.6 KiB", "/s"], on: terminal), "\(terminal.screen.rows)")
        finish(terminal)
    }

    @Test("in a pipe there is no progress")
    func piped() async throws {
        // Long enough for a line to be drawn.
        let fixture = try Fixture { $0.server.latency = .milliseconds(500) }
        let fetched = try await Program.run(
            ["fetch", fixture.base + "posters/1.png"],
            environment: ["XDG_CACHE_HOME": folder.path, "TERM": "xterm"])
        #expect(fetched.status == 0 && fetched.errors.isEmpty)
    }

    @Test("--quiet and TERM=dumb show no progress", arguments: [["--quiet"], []])
    func none(options: [String]) throws {
        // Long enough for a line to be drawn.
        let fixture = try Fixture { $0.server.latency = .milliseconds(500) }
        let terminal = try PseudoTerminal(
            BuiltProgram.path("marquee"), ["fetch", fixture.base + "posters/1.png"] + options,
            environment: ["XDG_CACHE_HOME": folder.path, "TERM": options.isEmpty ? "dumb" : "xterm"])
        #expect(terminal.waitForEnd() == .exited(0))
        #expect(!terminal.output.contains(0x1B))
    }

    @Test("the line has counts, bytes and a rate, fits the window, and uses the terminal's encoding")
    func text() {
        var progress = JobProgress(done: 1, total: 4, failed: 1, bytes: NetworkActivity.Traffic())
        progress.bytes?.received = 3 << 20
        progress.bytes?.underWay = 1
        let line = progress.line(rate: 524_288, width: 79, isUnicode: false)
        #expect(line == "============------------  1/4  3 MiB  512 KiB/s  1 failed")
        #expect(progress.line(rate: 0, width: 79, isUnicode: true).hasPrefix("━━━━━━━━━━━━──"))
        #expect(progress.line(rate: 0, width: 20, isUnicode: true).hasPrefix("1/4  3 MiB"))
        progress.total = nil
        #expect(progress.line(rate: 0, width: 79, isUnicode: true).hasPrefix("1 done  3 MiB"))
        #expect(
            JobProgress(label: "reading a", total: 0).line(rate: 0, width: 79, isUnicode: true) == "reading a"
        )
        for width in 0..<90 {
            #expect(progress.line(rate: 1e12, width: width, isUnicode: true).count <= width)
        }
    }

    @Test("one transfer shows its remaining time, unless it pauses")
    func timeLeft() {
        var progress = JobProgress(label: "a", bytes: NetworkActivity.Traffic())
        progress.bytes?.received = 1 << 20
        progress.bytes?.remaining = 3 << 20
        for (rate, text) in [
            (1_048_576.0, "0:03 left"), (40_000, "1:19 left"), (500, "1:44:52 left"),
            (2_000_000, "0:02 left"),
        ] {
            #expect(progress.line(rate: rate, width: 79, isUnicode: true).hasSuffix("/s  " + text))
        }
        for rate in [0.0, 1] {
            #expect(progress.line(rate: rate, width: 79, isUnicode: true).hasSuffix("/s"))
        }
        progress.bytes?.remaining = 0
        #expect(progress.line(rate: 1000, width: 79, isUnicode: true).hasSuffix("/s"))
    }

    @Test("a body that is sent again has a rate from its start")
    func again() {
        let start = ContinuousClock.now
        var rate = TransferRate(0, now: start)
        #expect(rate.add(5000, now: start + .seconds(1)) == 5000)
        #expect(rate.add(0, now: start + .milliseconds(1500)) == 0)
        #expect(rate.add(1000, now: start + .seconds(2)) == 2000)
    }

    @Test("the rate is that of the last few seconds")
    func rate() {
        let start = ContinuousClock.now
        var rate = TransferRate(100, now: start)
        #expect(rate.add(1100, now: start + .seconds(1)) == 1000)
        for second in 2...10 { _ = rate.add(1100 + second, now: start + .seconds(second)) }
        #expect(rate.add(1110, now: start + .seconds(11)) < 2)
    }
}
