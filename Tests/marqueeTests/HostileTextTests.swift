import Foundation
import TestSupport
import TestTraits
import Testing

@Suite("Untrusted text is harmless in every output", .bounded)
struct HostileTextTests {
    /// Text that controls terminals or misleads readers, alone and within other text.
    static let strings: [String] = {
        let bare = [
            "\u{1B}[31m", "\u{1B}]0;title\u{7}", "\u{1B}]52;c;cm0gLXJm\u{7}", "\u{1B}P1$r\u{1B}\\",
            "\u{1B}[2J", "\u{1B}c",
            "\u{1B}[6n", "\u{1B}_Gi=1;AAAA\u{1B}\\", "\u{9B}31m", "\u{9D}0;x\u{9C}", "\u{90}q\u{9C}",
            "\u{8}\u{8}\u{8}", "\u{7}",
            "\r", "\u{0B}", "\u{0C}", "\u{0E}", "\u{0F}", "\u{7F}", "\u{85}", "\u{202A}", "\u{202E}",
            "\u{202C}", "\u{2066}",
            "\u{2069}", "\u{200B}", "\u{200D}", "\u{200E}", "\u{200F}", "\u{2028}", "\u{2029}", "\u{2060}",
            "\u{FEFF}",
            "\u{61C}", "\u{AD}", "\u{E0041}", "\u{FFF9}", "\u{180E}", "\u{E000}", "\u{1D173}",
        ]
        return bare.map { "a" + $0 + "b" }
    }()

    /// Whether the bytes have a control character other than line feed and tab, or a format character.
    static func hasHostile(_ bytes: [UInt8]) -> Bool {
        guard let text = String(validating: bytes, as: UTF8.self) else { return true }
        return text.unicodeScalars.contains { scalar in
            if scalar == "\n" || scalar == "\t" { return false }
            switch scalar.properties.generalCategory {
            case .control, .format, .lineSeparator, .paragraphSeparator, .privateUse: return true
            default: return false
            }
        }
    }

    private func check(_ outcome: Program.Outcome, _ words: [String]) {
        #expect(!Self.hasHostile(outcome.output), "standard output of \(words)")
        #expect(!Self.hasHostile(outcome.errors), "standard error of \(words)")
        #expect(outcome.status >= 0, "\(words)")
    }

    @Test("there are forty strings, and each is hostile")
    func forty() {
        #expect(Self.strings.count == 40)
        for string in Self.strings {
            #expect(Self.hasHostile(Array(string.utf8)), "\(string.debugDescription)")
        }
    }

    @Test("in every field of a catalogue")
    func catalogue() async throws {
        let films = Self.strings.enumerated().map { number, string in
            [
                "id": "film\(number)\(string)", "title": "T" + string, "originalTitle": "O" + string,
                "year": 1920,
                "director": "D" + string, "country": string, "genres": [string], "overview": "o " + string,
                "poster": "posters/" + string + ".png",
            ] as [String: Any]
        }
        let json = String(decoding: try JSONSerialization.data(withJSONObject: films), as: UTF8.self)
        let fixture = try Fixture(films: json)
        for words in [
            ["list"], ["list", "--plain"], ["list", "--json"], ["show", "T"], ["show", "Txyz"], ["prewarm"],
            ["prewarm", "--json"], ["fetch", "T"], ["show", "Tb", "--json"],
        ] {
            check(try await Program.run(words, environment: fixture.environment), words)
        }
    }

    @Test("in a film that show prints", arguments: [0, 1, 8, 21, 25])
    func shown(index: Int) async throws {
        let string = Self.strings[index]
        let film: [String: Any] = [
            "id": "x", "title": "T" + string, "year": 1920, "director": "D" + string, "country": string,
            "genres": [string], "overview": "o " + string, "poster": "posters/" + string,
        ]
        let json = String(decoding: try JSONSerialization.data(withJSONObject: [film]), as: UTF8.self)
        let fixture = try Fixture(films: json)
        for words in [["show", "x"], ["show", "x", "--json"], ["show", "x", "--verbose"]] {
            let shown = try await Program.run(words, environment: fixture.environment)
            check(shown, words)
            if words.last == "x" { #expect(shown.text.contains("director    Da")) }
        }
    }

    @Test("in addresses and errors")
    func addresses() async throws {
        let fixture = try Fixture()
        let lists = Self.strings.map {
            fixture.base + $0 + "\nhttp://" + $0 + "/\n" + $0 + "\n" + $0 + "://x"
        }
        let list = lists.joined(separator: "\n")
        for words in [
            ["fetch", "-"], ["fetch", "-", "--json"], ["prewarm", "-"], ["prewarm", "-", "--json"],
        ] {
            check(try await Program.run(words, input: list, environment: fixture.environment), words)
        }
    }

    @Test("in a server's answer", arguments: [["--verbose"], ["--json"], ["--checksum", "--any-content"]])
    func server(options: [String]) async throws {
        let origins = try HostileServer.places.map { try HostileServer.started($0) }
        let addresses = origins.flatMap { origin in
            Self.strings.indices.map { origin.url("/\($0).png").absoluteString }
        }
        let words = ["fetch", "--no-disk-cache"] + options + addresses
        let outcome = try await Program.run(words)
        check(outcome, words)
        #expect(outcome.status == 1 || outcome.status == 2)
        for origin in origins { #expect(origin.requests.count >= Self.strings.count) }
    }

    @Test("in words of the command line, one string of each kind", arguments: [0, 8, 21, 25])
    func commandLines(index: Int) async throws {
        let string = Self.strings[index]
        let home = try TemporaryFolder()
        for words in [
            [string], ["list", "--" + string], ["list", "-" + string], ["list", "--sort", string],
            ["--header", string, "list"], ["--header", "K\(string): v", "list"], ["--catalogue", string],
            ["cache", string], ["cache", "path", "--cache-dir", "/" + string], ["serve", string],
            ["serve", "--address", string], ["fetch", "data:," + string, "-o", "/proc/" + string],
            ["--insecure-http", "http://" + string, "list"], ["--timeout", string, "list"],
        ] {
            check(try await Program.run(words, environment: ["XDG_CACHE_HOME": home.path]), words)
        }
    }

    @Test("piped output has no escapes of the program either")
    func piped() async throws {
        let fixture = try Fixture()
        for words in [["list"], ["show", "film-1"], ["prewarm"], ["cache", "info"], ["--help"]] {
            let outcome = try await Program.run(
                words, environment: fixture.environment.merging(["TERM": "xterm-256color"]) { _, new in new })
            #expect(!outcome.output.contains(0x1B) && !outcome.errors.contains(0x1B), "\(words)")
        }
    }
}
