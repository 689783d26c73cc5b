import Foundation
import TerminalGraphics
import TestSupport
import TestTraits
import Testing

@testable import marquee

@Suite("marquee doctor", .bounded, .ownThread)
struct DoctorTests {
    private func findings(_ outcome: Program.Outcome) throws -> [String: (
        level: String, text: String, advice: String?
    )] {
        let array = try #require(try JSON.object(outcome.text)["findings"] as? [[String: Any]])
        return Dictionary(
            uniqueKeysWithValues: try array.map { finding in
                let name = try #require(finding["name"] as? String)
                let text = try #require(finding["text"] as? String)
                return (name, (try #require(finding["level"] as? String), text, finding["advice"] as? String))
            })
    }

    @Test("without a problem every check is a line of its own, and standard error is empty")
    func well() async throws {
        let folder = try TemporaryFolder()
        let outcome = try await Program.run(["doctor", "--cache-dir", folder.file("cache")])
        #expect(outcome.status == 0 && outcome.errorText.isEmpty)
        for name in ["terminal", "libcurl", "sqlite", "cache", "memory", "proxy", "catalogue"] {
            #expect(outcome.lines.contains { $0.hasPrefix("ok       \(name)") }, "\(name)")
        }
    }

    @Test(
        "an unwritable folder, missing libraries and a missing catalogue are problems, in one object"
    )
    func problems() async throws {
        let folder = try TemporaryFolder()
        try folder.write("", to: "file")
        let outcome = try await Program.run(
            [
                "doctor", "--json", "--cache-dir", folder.file("file/cache"), "--catalogue",
                folder.file("none.json"),
            ],
            environment: ["MARQUEE_LIBCURL": "/none/libcurl.so", "MARQUEE_LIBSQLITE": "/none/libsqlite.so"])
        #expect(outcome.status == 1 && outcome.errorText.isEmpty)
        let findings = try findings(outcome)
        for name in ["libcurl", "cache", "catalogue"] {
            #expect(findings[name]?.level == "problem", "\(name)")
        }
        // Only a library needs SQLite.
        #expect(findings["sqlite"]?.level == "warning")
        #expect(findings["cache"]?.advice?.contains("--cache-dir") == true)
    }

    @Test("credentials that a server refuses are a problem, accepted ones are not")
    func credentials() async throws {
        let origin = try ScriptedOrigin { _ in
            [
                .forever([
                    .respond { head, _ in
                        let isKnown = head.lowercased().contains(
                            "authorization: basic \(Data("a:b".utf8).base64EncodedString())".lowercased())
                        return isKnown
                            ? "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nhi"
                            : "HTTP/1.1 401 No\r\nWWW-Authenticate: Basic realm=\"x\"\r\nContent-Length: 0\r\n\r\n"
                    }
                ])
            ]
        }
        let folder = try TemporaryFolder()
        for (password, level, status) in [("b", "ok", Int32(0)), ("c", "problem", 1)] {
            let outcome = try await Program.run(
                ["doctor", "--json", "--cache-dir", folder.file("cache")],
                environment: ["MARQUEE_CREDENTIALS": "127.0.0.1:\(origin.port) a:\(password)"])
            #expect(try findings(outcome)["credentials"]?.level == level)
            #expect(outcome.status == status)
            #expect(!outcome.text.contains("a:\(password)"))
        }
    }

    @Test("the terminal's answers decide how pictures are drawn, and tmux's missing setting is named")
    func terminal() throws {
        let settings = try Settings(
            Arguments(["doctor"], commands: [DoctorCommand.specification]), environment: [:])
        var kitty = TerminalAnswers()
        for answer in [
            "\u{1B}P>|kitty(0.41.1)\u{1B}\\", "\u{1B}_Gi=31;OK\u{1B}\\", "\u{1B}[6;17;8t", "\u{1B}[?62c",
        ] {
            kitty.take(Array(answer.utf8))
        }
        let texts = TerminalCheck.findings(kitty, settings, isInTmux: false).map(\.text)
        #expect(texts == ["kitty 0.41.1", "in pixels, by kitty, cells of 8x17 pixels", "24 bits"])
        let tmux = TerminalCheck.findings(TerminalAnswers(isInTmux: true), settings, isInTmux: true)
        #expect(tmux.last?.advice == "add this to ~/.tmux.conf: set -g allow-passthrough on")
        #expect(TerminalCheck.findings(TerminalAnswers(), settings, isInTmux: false)[0].level == .warning)
    }
}
