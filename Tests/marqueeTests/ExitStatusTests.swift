import FoundationEssentials
import TestSupport
import TestTraits
import Testing

@Suite("Exit status: 0 all done, 1 some failed, 2 nothing done", .bounded)
struct ExitStatusTests {
    @Test("of fetch")
    func fetch() async throws {
        let fixture = try Fixture()
        let (good, bad) = (fixture.base + "posters/1.png", fixture.base + "posters/none.png")
        #expect(try await fixture.run("fetch", good).status == 0)
        #expect(try await fixture.run("fetch", good, bad).status == 1)
        #expect(try await fixture.run("fetch", bad, good).status == 1)
        #expect(try await fixture.run("fetch", bad).status == 2)
        #expect(try await fixture.run("fetch", bad, "nosuch", "ftp://h/x").status == 2)
        let closed = try ClosedPort()
        #expect(
            try await fixture.run("fetch", "--include", "http://127.0.0.1:\(closed.port)/x").status == 2)
        withExtendedLifetime(closed) {}
        let out = fixture.home.file("out")
        try FileManager.default.createDirectory(atPath: out + "/1.png/x", withIntermediateDirectories: true)
        #expect(try await fixture.run("fetch", good, "-o", out, "--force").status == 2)
    }

    @Test("of prewarm")
    func prewarm() async throws {
        let fixture = try Fixture()
        let (good, bad) = (fixture.base + "posters/1.png", fixture.base + "posters/none.png")
        #expect(try await fixture.run("prewarm", "-", input: good).status == 0)
        #expect(try await fixture.run("prewarm", "-", input: good).status == 0, "it is cached")
        #expect(try await fixture.run("prewarm", "-", input: "\(good)\n\(bad)").status == 1)
        #expect(try await fixture.run("prewarm", "-", input: "\(good)\nno address").status == 1)
        #expect(try await fixture.run("prewarm", "-", input: bad).status == 2)
        #expect(try await fixture.run("prewarm", "-", input: "\(bad)\nno address").status == 2)
        #expect(try await fixture.run("prewarm", "-", input: "no address").status == 2)
    }
}
