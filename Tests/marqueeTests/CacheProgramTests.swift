import FoundationEssentials
import Glibc
import TestTraits
import Testing

@Suite("marquee cache", .bounded)
struct CacheProgramTests {
    @Test("path and info report folder, size and hosts")
    func info() async throws {
        let fixture = try Fixture()
        #expect(try await fixture.run("cache", "path").text == fixture.home.file("marquee") + "\n")
        let none = try JSON.object(try await fixture.run("cache", "info", "--json").text)
        #expect(none["entries"] as? Int == 0)
        _ = try await fixture.run("prewarm")
        let info = try JSON.object(
            try await fixture.run("cache", "info", "--json", "--cache-size", "1G").text)
        // The catalogue itself is the seventh entry.
        #expect(info["entries"] as? Int == 7)
        #expect(info["limit"] as? Int == 1 << 30)
        let hosts = try #require(info["hosts"] as? [[String: Any]])
        #expect(hosts.map { $0["host"] as? String } == ["127.0.0.1"])
        #expect(hosts.first?["entries"] as? Int == 7 && info["faults"] as? Int == 0)
        let misses = try #require(info["misses"] as? Int)
        _ = try await fixture.run("prewarm")
        let again = try JSON.object(try await fixture.run("cache", "info", "--json").text)
        #expect(try #require(again["hits"] as? Int) >= 6 && again["misses"] as? Int == misses)
        #expect(try await fixture.run("cache", "info").text.contains("lookups hit"))
    }

    @Test("verify removes a corrupt entry and ends with 1; the next verify finds no fault")
    func verify() async throws {
        let fixture = try Fixture()
        _ = try await fixture.run("prewarm")
        let victim = try #require(try fixture.entries().first)
        var bytes = [UInt8](try Data(contentsOf: URL(filePath: victim)))
        bytes[bytes.count - 1] ^= 1
        try Data(bytes).write(to: URL(filePath: victim))
        let found = try await fixture.run("cache", "verify", "--json")
        #expect(found.status == 1)
        #expect(try JSON.object(found.text)["removedEntries"] as? Int == 1)
        #expect(!FileManager.default.fileExists(atPath: victim))
        #expect(try await fixture.run("cache", "verify").status == 0)
    }

    @Test("a corrupt entry is fetched again, not shown")
    func damaged() async throws {
        let fixture = try Fixture()
        _ = try await fixture.run("fetch", fixture.base + "posters/1.png")
        let entry = try #require(try fixture.entries().first)
        try Data([UInt8](Data(contentsOf: URL(filePath: entry)).dropLast(5))).write(to: URL(filePath: entry))
        let fetched = try await fixture.run("fetch", fixture.base + "posters/1.png", "--json")
        #expect(try JSON.lines(fetched).first?["outcome"] as? String == "network")
    }

    @Test("trim and clear remove the requested part, and report how much")
    func trimAndClear() async throws {
        let fixture = try Fixture()
        _ = try await fixture.run("prewarm")
        #expect(
            try await fixture.run("cache", "clear", "--yes", "--host", "other.example").text
                .contains("; 0 removed"))
        let trimmed = try JSON.object(try await fixture.run("cache", "trim", "--to", "1K", "--json").text)
        let left = try #require(trimmed["entries"] as? Int)
        #expect(trimmed["removedEntries"] as? Int == 7 - left)
        #expect(try #require(trimmed["bytes"] as? Int) <= 1024)
        #expect(left > 0)
        let cleared = try await fixture.run("cache", "clear", "--yes", "--host", "127.0.0.1")
        #expect(cleared.text.hasPrefix("0 entries, 0 bytes; \(left) removed"))
        #expect(try fixture.entries().isEmpty)
    }
}
