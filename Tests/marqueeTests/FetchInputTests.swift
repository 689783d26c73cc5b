import FoundationEssentials
import Glibc
import TestSupport
import TestTraits
import Testing

@Suite("marquee fetch reads standard input, and can be interrupted", .bounded)
struct FetchInputTests {
    @Test("fetch - starts before its input ends")
    func streams() async throws {
        let fixture = try Fixture()
        let program = try Program(
            ["fetch", "-", "--json"], input: "\(fixture.base)posters/1.png\nfilm-2\nfilm", keepsInput: true,
            environment: fixture.environment)
        var urls: Set<String> = []
        for _ in 0..<2 {
            let record = try JSON.object(try #require(await program.nextLine()))
            urls.insert(record["url"] as? String ?? "")
        }
        #expect(urls == [fixture.base + "posters/1.png", fixture.base + "posters/2.png"])
        #expect(await program.end(SIGINT).status == -SIGINT)
    }

    @Test("fetch - accepts films as its arguments do, and a last line without a line feed")
    func films() async throws {
        let fixture = try Fixture()
        let fetched = try await fixture.run(
            "fetch", "-", "--json",
            input: "\u{FEFF}film-1\r\n# film-2\n\nfilm 3\nnosuch\n\(fixture.base)posters/4.png")
        #expect(fetched.status == 1)
        let records = try JSON.lines(fetched)
        #expect(
            Set(records.compactMap { $0["url"] as? String })
                == Set([1, 3, 4].map { fixture.base + "posters/\($0).png" } + ["nosuch"]))
        let codes = records.compactMap { ($0["error"] as? [String: Any])?["code"] as? String }
        #expect(codes == ["no-such-film"])
    }

    @Test("a catalogue that cannot be read fails films, not addresses")
    func lostCatalogue() async throws {
        let fixture = try Fixture()
        let fetched = try await fixture.run(
            "fetch", "film-1", fixture.base + "posters/2.png", "--json", "--catalogue", "/nowhere")
        #expect(fetched.status == 1)
        let outcomes = try JSON.lines(fetched).compactMap { $0["outcome"] as? String }.sorted()
        #expect(outcomes == ["failed", "network"])
        #expect(fetched.errorText.contains("/nowhere: there is no such file"))
    }

    @Test("input that cannot be read does not affect the other operands")
    func unreadableInput() async throws {
        let fixture = try Fixture()
        let run = try await Program.shell(
            "\"$MARQUEE\" fetch - film-1 --json </", environment: fixture.environment)
        #expect(run.status == 1)
        #expect(try JSON.lines(run).map { $0["outcome"] as? String } == ["network"])
        #expect(run.errorLines == ["marquee: standard input: it is a folder; name a file in it"])
    }

    @Test("after Ctrl-C every address has its object", arguments: ["fetch", "prewarm"])
    func cancelled(command: String) async throws {
        // The signal comes before the answer and any timeout, however late it is sent.
        let fixture = try Fixture { $0.server.latency = .seconds(600) }
        let addresses = ["data:,x"] + (1...6).map { fixture.base + "posters/\($0).png" }
        let program = try Program(
            [command, "-", "--json", "--any-content", "--timeout", "600", "--concurrency", "2"],
            input: addresses.joined(separator: "\n"), environment: fixture.environment)
        #expect(await program.nextLine() != nil)
        let outcome = await program.end(SIGINT)
        #expect(outcome.status == -SIGINT)
        #expect(outcome.errors.isEmpty, "\(outcome.errorText)")
        let records = try JSON.lines(outcome)
        #expect(records.compactMap { $0["url"] as? String }.sorted() == addresses.sorted())
        let codes = records.compactMap { ($0["error"] as? [String: Any])?["code"] as? String }
        #expect(codes == Array(repeating: "cancelled", count: 6))
    }

    @Test("after Ctrl-C a film that show prints has its object")
    func cancelledShow() async throws {
        let origin = try ScriptedOrigin([.readHead, .awaitClose])
        let fixture = try Fixture(
            films: #"[{"id":"a","title":"A","year":1920,"director":"D","poster":"\#(origin.url())"}]"#)
        let program = try Program(
            ["show", "a", "--json", "--timeout", "600"], environment: fixture.environment)
        try await origin.requests.wait(for: 1)
        let outcome = await program.end(SIGINT)
        #expect(outcome.status == -SIGINT)
        let fetch = try #require(try JSON.object(outcome.text)["fetch"] as? [String: Any])
        #expect((fetch["error"] as? [String: Any])?["code"] as? String == "cancelled")
    }
}
