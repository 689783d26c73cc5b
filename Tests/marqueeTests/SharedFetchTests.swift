import FoundationEssentials
import Glibc
import SystemSupport
import TestSupport
import TestTraits
import Testing

@Suite("Processes that fetch the same", .bounded)
struct SharedFetchTests {
    /// What the programs have said, each of which has ended well with one line.
    @discardableResult
    private func finished(_ programs: [Program]) async -> [String] {
        var texts: [String] = []
        for program in programs {
            let outcome = await program.outcome()
            #expect(outcome.status == 0 && outcome.errorLines.count == 1, "\(outcome.errorText)")
            texts.append(outcome.errorText)
        }
        return texts
    }

    @Test("16 at once with one manifest: every URL is fetched once", arguments: [true, false])
    func once(isHeld: Bool) async throws {
        let fixture = try SharedFetchFixture(60, held: isHeld ? .max : 0)
        let programs = try (0..<16).map { try fixture.prewarm($0, isHeld ? ["--per-host", "256"] : []) }
        // All are at work before the first file comes, or each gets what it can.
        if isHeld { try await fixture.origin.own.wait(for: 16) }
        fixture.origin.gate.open()
        let fetched = await finished(programs).map {
            Int($0.drop { !$0.isNumber }.prefix { $0.isNumber }) ?? 0
        }
        let requests = fixture.origin.requests
        #expect(requests.count == 60 && requests.values.allSatisfy { $0 == 1 }, "\(requests)")
        #expect(fetched.reduce(0, +) == 60 + 16)
    }

    @Test("the others take over a killed program's transfers, long before any timeout, each file once")
    func killed() async throws {
        let fixture = try SharedFetchFixture(5)
        let first = try fixture.prewarm(0)
        try await fixture.origin.shared.wait(for: 5)
        let others = try (1...3).map { try fixture.prewarm($0) }
        try await fixture.origin.own.wait(for: 4)
        first.send(SIGKILL)
        // The programs' timeouts are an hour.
        try await fixture.origin.shared.wait(for: 10)
        fixture.origin.gate.open()
        #expect(await first.outcome().status == -SIGKILL)
        await finished(others)
        let requests = fixture.origin.requests
        #expect(requests.count == 5 && requests.values.allSatisfy { $0 == 2 }, "\(requests)")
    }

    @Test("each program fetches a no-store file for itself")
    func notStored() async throws {
        let fixture = try SharedFetchFixture(3, cacheControl: "no-store")
        let programs = try (0..<4).map { try fixture.prewarm($0) }
        try await fixture.origin.own.wait(for: 4)
        fixture.origin.gate.open()
        #expect(await finished(programs).allSatisfy { $0.hasPrefix("marquee: 4 fetched") })
        #expect(fixture.origin.requests.values.allSatisfy { $0 == 4 })
    }

    @Test("a fetch that stores nothing leaves an empty folder as a cache")
    func emptyFolder() async throws {
        let fixture = try SharedFetchFixture(1, cacheControl: "no-store")
        fixture.origin.gate.open()
        try FileManager.default.createDirectory(atPath: fixture.cache, withIntermediateDirectories: true)
        for number in 0..<2 {
            await finished([try fixture.prewarm(number)])
            #expect(FileManager.default.fileExists(atPath: fixture.cache + "/CACHEDIR.TAG"))
        }
    }

    @Test("if claims are impossible in the folder, each program fetches for itself, without a message")
    func withoutClaims() async throws {
        let fixture = try SharedFetchFixture(3)
        try fixture.home.makeFolder("cache/claims")
        let programs = try (0..<2).map { try fixture.prewarm($0) }
        try await fixture.origin.shared.wait(for: 6)
        fixture.origin.gate.open()
        await finished(programs)
        #expect(fixture.origin.requests.values.allSatisfy { $0 == 2 })
    }
}

/// A cache folder, and a list for each program that shares it: the same shared files, and one file of its own.
private final class SharedFetchFixture: Sendable {
    let home: TemporaryFolder
    let origin: SharedFetchOrigin
    private let count: Int

    /// - Parameters:
    ///   - count: how many files all want.
    ///   - held: how many requests for them wait for the origin's gate, the first ones. Default: all.
    init(_ count: Int, held: Int = .max, cacheControl: String = "max-age=86400") throws {
        home = try TemporaryFolder()
        origin = try SharedFetchOrigin(held: held, cacheControl: cacheControl)
        self.count = count
    }

    var cache: String { home.file("cache") }

    /// Starts a program. Its own file is last in its list: once that is requested, the program's other loads run too.
    func prewarm(_ number: Int, _ options: [String] = []) throws -> Program {
        let paths = (0..<count).map { "/shared-\($0)" } + ["/own-\(number)"]
        let list = paths.map { origin.url($0) }.joined(separator: "\n")
        try home.write(list, to: "list-\(number)")
        return try Program(
            ["prewarm", home.file("list-\(number)"), "--any-content", "--concurrency", "256"]
                + ["--cache-dir", cache] + JobFixture.patience + options,
            environment: ["HOME": home.path])
    }
}

/// Holds the answers for what all programs want until its gate is open, and counts all requests.
private final class SharedFetchOrigin: Sendable {
    /// Counts the requests for the programs' own files, and those for the shared files.
    let (own, shared) = (Tally(), Tally())
    let gate: Gate
    private let origin: ScriptedOrigin
    private let record: RequestRecord

    init(held: Int, cacheControl: String) throws {
        let (own, shared, gate, record) = (own, shared, Gate(), RequestRecord())
        origin = try ScriptedOrigin { _ in
            [
                .forever([
                    .respond { head, _ in
                        let path = String(head.split(separator: " ")[1])
                        if path.hasPrefix("/own") {
                            own.add()
                        } else {
                            let number = record.note(path)
                            shared.add()
                            if number <= held { gate.wait() }
                        }
                        return "HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nETag: \"1\"\r\n"
                            + "Cache-Control: \(cacheControl)\r\n"
                            + "Content-Length: \(path.utf8.count)\r\n\r\n" + path
                    }
                ])
            ]
        }
        (self.gate, self.record) = (gate, record)
    }

    deinit { gate.open() }

    func url(_ path: String) -> String { origin.url(path).absoluteString }

    /// How often each file that all want was asked for.
    var requests: [String: Int] { record.counts }
}

/// How often each path was asked for.
private final class RequestRecord: Sendable {
    private let paths = Lock<[String: Int]>([:])

    var counts: [String: Int] { paths.withLock { $0 } }

    /// Counts a request; how many there are now.
    func note(_ path: String) -> Int {
        paths.withLock { paths in
            paths[path, default: 0] += 1
            return paths.values.reduce(0, +)
        }
    }
}
