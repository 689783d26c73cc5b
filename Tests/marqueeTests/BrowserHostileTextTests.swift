import Foundation
import TestSupport
import TestTraits
import Testing

/// The strings of `HostileTextTests` in every text that the full screen shows.
@Suite("Untrusted text is harmless in the browser", .bounded, .ownThread)
struct BrowserHostileTextTests {
    private let folder: TemporaryFolder
    private let strings = HostileTextTests.strings

    init() throws { folder = try TemporaryFolder() }

    /// Starts the browser on a catalogue and waits for its first film.
    private func started(_ catalogue: Any, showing text: String, columns: Int = 200, rows: Int = 50) throws
        -> PseudoTerminal
    {
        try folder.write(JSONSerialization.data(withJSONObject: catalogue), to: "films.json")
        // With blocks the browser itself sends no strings and no queries.
        return try .browser(
            ["--catalogue", folder.file("films.json"), "--graphics", "blocks"], in: folder, columns: columns,
            rows: rows, showing: text)
    }

    private func check(_ terminal: PseudoTerminal) {
        for string in strings {
            #expect(!terminal.output.contains(sequence: string), "\(string.debugDescription)")
        }
        #expect(terminal.screen.unknown.isEmpty && terminal.screen.strings.isEmpty)
        #expect(terminal.screen.queries.isEmpty)
        // Nothing is drawn before the browser has set up the screen.
        #expect(terminal.output.starts(with: Array("\u{1B}[?1049h".utf8)))
        terminal.quit("\u{3}")
        // Checked at the end: output that was read earlier may end within a character.
        #expect(!HostileTextTests.hasHostile(terminal.output.withoutSequences))
    }

    @Test(
        "in the list and on every film's page: titles, people, places, overviews, and reasons of missing posters"
    )
    func films() throws {
        let films = strings.enumerated().map { number, string in
            [
                "id": "\(number)", "title": "T\(number)" + string, "originalTitle": "O" + string,
                "year": 1920,
                "director": "D" + string, "country": string, "genres": [string], "overview": "o " + string,
                "poster": number.isMultiple(of: 2) ? "posters/" + string : string + "://" + string,
            ] as [String: Any]
        }
        let name = strings.joined()
        let terminal = try started(["name": name, "movies": films], showing: "T0a")
        terminal.type("\r")
        for number in strings.indices {
            try #require(
                terminal.waits {
                    $0.row(containing: "T\(number)a") == 2 && $0.row(containing: "No poster") != nil
                },
                "\(terminal.screen.rows)")
            terminal.type("n")
        }
        check(terminal)
    }

    @Test(
        "in a server's answer: its reason, its fields, its Location, its body",
        arguments: HostileServer.places)
    func server(place: HostileServer.Place) throws {
        let origin = try HostileServer.started(place)
        let films = strings.indices.map { number in
            [
                "id": "\(number)", "title": "Film \(number).", "year": 1920, "director": "D",
                "poster": origin.url("/\(number).png").absoluteString,
            ] as [String: Any]
        }
        let terminal = try started(films, showing: "Film 0.", columns: 100, rows: 30)
        terminal.type("\r")
        for number in films.indices {
            try #require(
                terminal.waits {
                    $0.row(containing: "Film \(number).") == 2 && $0.row(containing: "No poster") != nil
                },
                "\(terminal.screen.rows)")
            terminal.type("n")
        }
        #expect(origin.requests.count >= films.count)
        check(terminal)
    }

    @Test("in the filter, pasted and typed")
    func filter() throws {
        let film: [String: Any] = ["id": "x", "title": "Film", "year": 1920, "director": "D"]
        let terminal = try started([film], showing: "Film")
        for string in strings {
            try terminal.type("/\u{1B}[200~\(string)\u{1B}[201~") { $0.text(ofRow: 0).contains("/a") }
            // Shows all films again, whatever the string did to the filter.
            try terminal.type("\u{1B}") {
                !$0.text(ofRow: 0).contains("/a") && $0.row(containing: "1920") == 3
            }
        }
        for string in strings where !string.utf8.contains(where: { $0 < 0x20 || $0 == 0x7F }) {
            try terminal.type("/\(string)") { $0.text(ofRow: 0).contains("/a") }
            try terminal.type("\u{1B}") {
                !$0.text(ofRow: 0).contains("/a") && $0.row(containing: "1920") == 3
            }
        }
        check(terminal)
    }
}
