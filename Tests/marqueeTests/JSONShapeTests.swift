import Foundation
import TestSupport
import TestTraits
import Testing

@Suite("--json everywhere", .bounded)
struct JSONShapeTests {
    @Test("cache path is an object")
    func path() async throws {
        let fixture = try Fixture()
        let path = try JSON.object(try await fixture.run("cache", "path", "--json").text)
        #expect(path["path"] as? String == fixture.home.file("marquee") && path.count == 1)
    }

    @Test("a film's poster is always its address; the poster's outcome is beside it")
    func poster() async throws {
        let fixture = try Fixture()
        let shown = try JSON.object(try await fixture.run("show", "film-1", "--json").text)
        let listed = try JSON.array(try await fixture.run("list", "--json").text)
        #expect(shown["poster"] as? String == fixture.base + "posters/1.png")
        #expect(listed.first?["poster"] as? String == shown["poster"] as? String)
        #expect((shown["fetch"] as? [String: Any])?["outcome"] as? String == "network")
    }

    @Test("trim reports the number of removed entries and bytes")
    func trim() async throws {
        let fixture = try Fixture()
        _ = try await fixture.run("prewarm")
        func number(_ object: [String: Any], _ name: String) throws -> Int {
            try #require(object[name] as? Int, "\(name)")
        }
        let before = try JSON.object(try await fixture.run("cache", "info", "--json").text)
        let trimmed = try JSON.object(try await fixture.run("cache", "trim", "--to", "1K", "--json").text)
        #expect(
            try number(trimmed, "removedBytes") == number(before, "bytes") - number(trimmed, "bytes"))
        #expect(try number(trimmed, "removedBytes") > 0)
        let left = try number(trimmed, "entries")
        let text = try await fixture.run("cache", "trim", "--to", "1").text
        #expect(text == "0 entries, 0 bytes; \(left) removed, \(try number(trimmed, "bytes")) bytes\n")
    }

    @Test("queued is the wait for a slot, as --verbose tells it", arguments: ["fetch", "prewarm"])
    func queued(command: String) async throws {
        let fixture = try Fixture()
        let gate = Gate()
        defer { gate.open() }
        let head = "HTTP/1.1 200 OK\r\nCache-Control: max-age=86400\r\nContent-Length: 1\r\n\r\n"
        let origin = try ScriptedOrigin([.forever([.readHead, .wait(gate), .send(head + "a")])])
        let list = ["/a", "/b"].map { origin.url($0).absoluteString }.joined(separator: "\n")
        let options = "--any-content --json --verbose --per-host 1 --timeout 600"
        let program = try Program(
            ["-c", "exec \"$MARQUEE\" \(command) - \(options) 2>&1"], of: "/bin/sh", input: list,
            environment: fixture.environment.merging(["MARQUEE": BuiltProgram.path("marquee")]) { $1 })
        /// The transfers that have waited, and how long each waited until its start.
        var (waiting, waits): (Set<Substring>, [String: Double]) = ([], [:])
        var records: [[String: Any]] = []
        while let line = await program.nextLine() {
            // marquee: #2 http://127.0.0.1:8080/b starts after 28.9 ms in the queue
            let words = line.split(separator: " ")
            if line.hasPrefix("{") { records.append(try JSON.object(line)) }
            if line.hasSuffix(" waits") { waiting.insert(words[2]) }
            if line.hasSuffix(" in the queue") { waits[String(words[2])] = Double(words[5]) }
            // One has the slot, and the other waits for it.
            if waiting.count == 2, !waits.isEmpty { gate.open() }
        }
        #expect(await program.outcome().status == 0)
        #expect(records.count == 2 && waits.count == 2)
        for record in records {
            let url = try #require(record["url"] as? String)
            #expect(record["queued"] as? Double == waits[url], "\(record)")
            #expect(try #require(record["milliseconds"] as? Double) > 0)
        }
        #expect(try #require(waits.values.max()) > 0)
        let cached = try await fixture.run(command, "-", "--any-content", "--json", input: list)
        #expect(try JSON.lines(cached).map { $0["queued"] as? Double } == [0, 0])
    }

    @Test("a malformed line of a manifest has its object")
    func badLine() async throws {
        let fixture = try Fixture()
        let run = try await fixture.run(
            "prewarm", "-", "--json", input: "\(fixture.base)posters/1.png\nno address\nhttp://h/\u{1}\n")
        #expect(run.status == 1)
        let records = try JSON.lines(run)
        #expect(records.count == 3)
        let codes = records.compactMap { ($0["error"] as? [String: Any])?["code"] as? String }
        #expect(codes == ["invalid-entry", "invalid-url"])
    }
}
