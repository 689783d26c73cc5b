import Foundation
import TestSupport
import TestTraits
import Testing

/// Opened addresses, the answers to failed requests of posters, and a network that fails and returns.
@Suite("Addresses and answers in the browser", .bounded, .ownThread)
struct BrowserAddressTests {
    private let folder: TemporaryFolder
    private let origin: ScriptedOrigin
    /// The gate of the slow address.
    private let gate = Gate()

    init() throws {
        folder = try TemporaryFolder()
        origin = try ScriptedOrigin { [gate] _ in
            [
                .forever([
                    .respond { head, _ in
                        if head.contains(" /slow") { gate.wait() }
                        return Self.answer(to: head)
                    }
                ])
            ]
        }
    }

    private static func answer(to head: String) -> String {
        let body = "<h1>Moved out</h1>\n<p>to nowhere</p>\n"
        let status = head.contains(" /page") ? "200 OK" : "410 Gone"
        return
            "HTTP/1.1 \(status)\r\nContent-Type: text/html\r\nX-Reason: sold\r\nContent-Length: \(body.utf8.count)\r\n"
            + "\r\n\(body)"
    }

    private func started(_ posters: [String]) throws -> PseudoTerminal {
        let films = posters.enumerated().map {
            ["id": "\($0.offset)", "title": "Film \($0.offset)", "poster": $0.element]
        }
        try folder.write(JSONSerialization.data(withJSONObject: films), to: "films.json")
        return try .browser(
            ["--catalogue", folder.file("films.json"), "--graphics", "blocks"], in: folder,
            showing: posters.isEmpty ? "has no films" : "Film 0")
    }

    private func address(_ path: String) -> String { "http://127.0.0.1:\(origin.port)\(path)" }

    @Test("i on a failed poster shows the address, the status, the header and the source")
    func answer() throws {
        let terminal = try started([address("/gone.jpg")])
        try #require(terminal.waits { $0.row(containing: "i shows the answer") != nil })
        try terminal.type("i") { $0.row(containing: "HTTP 410 Gone") != nil }
        for text in ["/gone.jpg", "the server answered 410", "X-Reason: sold", "<h1>Moved out</h1>", "<p>to"]
        {
            #expect(terminal.screen.row(containing: text) != nil, "\(text)")
        }
        try terminal.type("\u{1B}") {
            $0.row(containing: "HTTP 410") == nil && $0.row(containing: "Film 0") != nil
        }
        terminal.quit("\u{3}")
    }

    @Test("o in the list opens a picture, a page as text, and a file; a malformed address is an error")
    func opening() throws {
        let terminal = try started([])
        try folder.write(SampleImages.png, to: "a.png")
        try terminal.type("onowhere\r") { $0.row(containing: "nowhere is not a URL") != nil }
        try terminal.type("\u{15}\(folder.file("a.png"))\r") { $0.row(containing: "PNG ") != nil }
        try terminal.type("\u{1B}") { $0.row(containing: "PNG ") == nil }
        try terminal.type("o\(address("/page"))\r") { $0.row(containing: "not an image") != nil }
        #expect(terminal.waits { $0.row(containing: "<p>to nowhere</p>") != nil })
        terminal.quit("\u{3}")
    }

    @Test("while an address loads the list is dim, other keys do nothing, and Esc cancels")
    func stopping() throws {
        let terminal = try started([])
        try terminal.type("o\(address("/slow"))\r") { $0.row(containing: "Esc stop") != nil }
        let row = try #require(terminal.screen.row(containing: "/slow"))
        #expect(terminal.screen.rows[row].contains("Address"))
        try terminal.type("?jo\u{1B}") { $0.row(containing: "/slow") == nil }
        gate.open()
        try terminal.type("?") { $0.row(containing: "Ctrl-Z") != nil }
        #expect(terminal.screen.row(containing: "410") == nil)
        terminal.quit("\u{3}")
    }

    @Test("no answer of any type controls the terminal")
    func hostile() throws {
        let strings = HostileTextTests.strings.joined(separator: " ")
        let bytes = (0...255).map { UInt8($0) }
        var random: UInt32 = 7
        let noise = (0..<4000).map { _ in
            random = random &* 1_664_525 &+ 1_013_904_223
            return UInt8(truncatingIfNeeded: random >> 24)
        }
        let bodies: [[UInt8]] = [
            Array(strings.utf8), bytes, noise, strings.utf16.flatMap { [UInt8($0 & 255), UInt8($0 >> 8)] },
            [0xFF, 0xFE] + bytes + bytes, Array("GIF89a".utf8) + bytes,
        ]
        let types = [
            "text/plain", "text/html; charset=utf-8", "text/plain; charset=utf-16",
            "text/plain; charset=latin1",
            "application/json", "image/png", "application/octet-stream", "text/plain; charset=nonsense",
        ]
        let hostile = try ScriptedOrigin { connection in
            let body = bodies[connection / types.count % bodies.count]
            let head =
                "HTTP/1.1 404 \u{1B}[2J\r\nContent-Type: \(types[connection % types.count])\r\nX-Y: \u{9B}31m\r\n"
            return [
                .readHead, .send(head + "Content-Length: \(body.count)\r\nConnection: close\r\n\r\n"),
                .sendBytes(body),
            ]
        }
        let terminal = try started([])
        for number in 0..<bodies.count * types.count {
            terminal.type("ohttp://127.0.0.1:\(hostile.port)/\(number)\r")
            try #require(
                terminal.waits { $0.row(containing: "127.0.0.1:\(hostile.port)/\(number)") == 2 },
                "\(number): \(terminal.screen.rows)")
            // Scrolls to the end of a text that is longer than the window.
            if terminal.screen.row(containing: "lines 1-") != nil {
                try terminal.type("G") { $0.row(containing: " ↑") != nil }
            }
            try terminal.type("\u{1B}") { $0.row(containing: "/ find") != nil }
        }
        #expect(terminal.screen.unknown.isEmpty && terminal.screen.strings.isEmpty)
        for string in HostileTextTests.strings {
            #expect(!terminal.output.contains(sequence: string), "\(string.debugDescription)")
        }
        terminal.quit("\u{3}")
    }

    @Test(
        "the browser says when there is no network, and retries failures when there is one",
        .enabled(if: NetworkNamespace.isPossible, "\(NetworkNamespace.requirement)"))
    func offline() throws {
        let namespace = try NetworkNamespace()
        let films = #"[{"id":"a","title":"Far","poster":"https://192.0.2.9:9/x.jpg"}]"#
        try folder.write(films, to: "films.json")
        let program = "\"$MARQUEE\" \(folder.file("films.json"))"
        let terminal = try PseudoTerminal(
            "/usr/bin/unshare", namespace.arguments(program),
            environment: [
                "MARQUEE": BuiltProgram.path("marquee"), "HOME": folder.path, "XDG_CACHE_HOME": folder.path,
            ])
        try #require(
            terminal.waits { $0.row(containing: "offline") == 0 && $0.row(containing: "unreachable") != nil },
            "\(terminal.screen.rows)")
        // The address now belongs to this machine, where no server listens.
        try namespace.run("ip link set lo up; pair 7; ip addr add 192.0.2.9/24 dev eth7")
        #expect(
            terminal.waits { $0.row(containing: "offline") == nil && $0.row(containing: "refused") != nil },
            "\(terminal.screen.rows)")
        try namespace.run("ip link del eth7")
        #expect(terminal.waits { $0.row(containing: "offline") == 0 })
        terminal.quit("\u{3}")
    }
}
