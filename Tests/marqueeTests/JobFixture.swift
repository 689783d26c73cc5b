import BackgroundTransfers
import FoundationEssentials
import Glibc
import LazyImages
import SystemSupport
import TestSupport

/// A server that records its requests, a list of its addresses, and a home folder for jobs.
final class JobFixture: Sendable {
    /// One request. The field `X-Run` tells the runs of a job apart; without it the run is 0.
    struct Request: Hashable {
        let path: String
        let run: Int
    }

    let home: TemporaryFolder
    let origin: ScriptedOrigin
    let count: Int
    private let record: Record

    private final class Record: Sendable {
        let requests = Lock<[Request]>([])
    }

    /// - Parameters:
    ///   - count: the number of addresses in the list.
    ///   - hold: a gate, and the number of requests that do not wait for it.
    ///   - beforeAnswer: called with each request's run before its answer. It may block.
    init(
        _ count: Int, holding: (after: Int, gate: Gate)? = nil,
        beforeAnswer: @escaping @Sendable (_ run: Int) -> Void = { _ in }
    ) throws {
        self.count = count
        home = try TemporaryFolder()
        let record = Record()
        self.record = record
        origin = try ScriptedOrigin { _ in
            [
                .forever([
                    .respond { head, _ in
                        let request = Request(head)
                        let number = record.requests.withLock { all in
                            all.append(request)
                            return all.count
                        }
                        if let holding, number > holding.after { holding.gate.wait() }
                        beforeAnswer(request.run)
                        let body = "the file of \(request.path)"
                        return
                            "HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nCache-Control: max-age=86400\r\n"
                            + "ETag: \"1\"\r\nContent-Length: \(body.utf8.count)\r\n\r\n" + body
                    }
                ])
            ]
        }
        try writeList((0..<count).map { origin.url("/\($0)") })
    }

    /// Writes these addresses as the list.
    func writeList(_ urls: [URL]) throws {
        let list = urls.map(\.absoluteString).joined(separator: "\n")
        try home.write(list, to: "list.txt")
    }

    /// Options with long timeouts, for answers that the test holds on a busy machine.
    static let patience = ["--timeout", "3600", "--max-time", "3600"]
    /// The same for a shell.
    static let patienceInShell = patience.joined(separator: " ")

    var environment: [String: String] { ["HOME": home.path] }
    var jobs: BackgroundJobs { BackgroundJobs(folder: home.file(".local/state/marquee/jobs")) }

    /// All requests, in order.
    var allRequests: [Request] { record.requests.withLock { $0 } }

    /// The number of requests for each path.
    var requests: [String: Int] { allRequests.reduce(into: [:]) { $0[$1.path, default: 0] += 1 } }

    func run(_ arguments: String...) async throws -> Program.Outcome {
        try await Program.run(arguments, environment: environment)
    }

    /// Starts a job with the list.
    func detach(_ name: String, _ options: String...) async throws -> Program.Outcome {
        try await Program.run(
            ["prewarm", home.file("list.txt"), "--any-content", "--detach", "--name", name]
                + Self.patience + options,
            environment: environment)
    }

    /// The paths in the job's results, once per result.
    func finished(_ name: String) throws -> [String] {
        let bytes = try FileCalls().contents(ofPath: jobs.folder + "/\(name)/results")
        return String(decoding: bytes, as: UTF8.self).split(separator: "\n").compactMap { line in
            line.contains("\"result\"") && line.hasSuffix("}") ? path(in: line) : nil
        }
    }

    /// The listed paths that are cached.
    func cached() async throws -> Set<String> {
        let outcome = try await run("prewarm", home.file("list.txt"), "--any-content", "--offline", "--json")
        return Set(outcome.lines.compactMap { $0.contains("\"error\"") ? nil : path(in: $0[...]) })
    }

    /// The path of the address in a line of JSON.
    private func path(in line: Substring) -> String? {
        guard let start = line.firstRange(of: "/127.0.0.1:"),
            let slash = line[start.upperBound...].firstIndex(of: "/")
        else { return nil }
        return String(line[slash...].prefix { $0 != "\"" })
    }
}

extension JobFixture.Request {
    /// The request of a head: `GET /7 HTTP/1.1`, then its fields.
    fileprivate init(_ head: String) {
        path = String(head.split(separator: " ")[1])
        let field = head.split(separator: "\r\n").first { $0.hasPrefix("X-Run: ") }
        run = field.flatMap { Int($0.dropFirst(7)) } ?? 0
    }
}

/// Limits the answers to each run of a job, so that a run that will be killed never finishes.
final class AnswerAllowances: Sendable {
    /// One run: its requests so far, those that may be answered, and those that wait.
    private struct Run {
        var requests = 0
        var allowed = 0
        let held = Tally()
        let gate = Gate()
    }

    private let runs = Lock<[Int: Run]>([:])

    /// Allows answers to the first requests of a run. Call it before the run begins.
    func allow(_ count: Int, to run: Int) { runs.withLock { $0[run, default: Run()].allowed = count } }

    /// Counts the requests of a run that wait.
    func held(of run: Int) -> Tally {
        runs.withLock { runs in
            let entry = runs[run, default: Run()]
            runs[run] = entry
            return entry.held
        }
    }

    /// Lets the requests of a run go that wait.
    func release(_ run: Int) { runs.withLock { $0[run]?.gate }?.open() }

    /// Counts a request. Blocks if its answer is not allowed, until `release(_:)`.
    func use(by run: Int) {
        let waiting: Run? = runs.withLock { runs in
            runs[run, default: Run()].requests += 1
            guard let entry = runs[run], entry.requests > entry.allowed else { return nil }
            return entry
        }
        guard let waiting else { return }
        waiting.held.add()
        waiting.gate.wait()
    }
}
