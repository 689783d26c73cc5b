import Foundation
import SystemSupport
import TestSupport

/// Measures `marquee serve` with a shared store that fails in nine ways. Requests `--pictures` new pictures (200) from 8
/// clients. Counts the answers that are errors or have other bytes than without a store, and finds the longest wait.
/// Reads from the metrics whether the breaker paused.
func storeBenchmark(_ options: Options) async throws -> [BenchmarkResult] {
    let trial = try StoreTrial(pictures: options.number("pictures", default: 200))
    defer { trial.stop() }
    let (expected, alone) = try await trial.run(sharing: nil)
    var results: [BenchmarkResult] = []
    for fault in StoreFault.allCases {
        let store = try FaultyStore(fault)
        if let server = store.server, fault.isFilled {
            _ = try await trial.run(sharing: store.address, key: fault == .wrongSeal ? "other" : "own")
            server.objects.change { $0 = fault.damage($0) }
        }
        let (bodies, run) = try await trial.run(sharing: store.address)
        let name = "a store \(fault.name)"
        results += [
            BenchmarkResult(
                name: "\(name): longest wait", unit: "ms", ours: run.longest, reference: alone.longest,
                referenceName: "without a store"),
            BenchmarkResult(
                name: "\(name): errors and wrong pictures, of \(expected.count)", unit: "answers",
                ours: Double(zip(bodies, expected).count { $0 != $1 } + expected.count { $0.isEmpty }),
                exactly: 0),
            BenchmarkResult(name: "\(name): values refused", unit: "values", ours: run.refused),
            BenchmarkResult(name: "\(name): pauses seen of reads and writes", unit: "of 2", ours: run.pauses),
        ]
    }
    return results
}

/// Runs of `marquee serve`, each with an empty cache.
private final class StoreTrial {
    struct Run {
        /// In milliseconds.
        var longest = 0.0
        var refused = 0.0
        var pauses = 0.0
    }

    private let pictures: Int
    private let scratch: ScratchFolder
    private let origin: (origin: PosterOrigin, server: any Sendable, port: UInt16)
    private let end: () -> Void

    init(pictures: Int) throws {
        self.pictures = pictures
        scratch = try ScratchFolder()
        let started = try PosterOrigin.start(path: benchmarkPoster)
        origin = (started.origin, started.server, started.port)
        end = { started.server.stop() }
        for (name, letter) in [("own", "a"), ("other", "b")] {
            try Data(String(repeating: letter, count: 64).utf8).write(
                to: URL(filePath: scratch.path + "/" + name))
        }
    }

    func stop() { end() }

    /// Requests all pictures from a new instance.
    /// - Returns: the pictures' bytes, empty for an error, and what was measured.
    func run(sharing store: String?, key: String = "own") async throws -> ([[UInt8]], Run) {
        let cache = try scratch.new("cache")
        let admin = scratch.path + "/admin"
        var arguments = [
            scratch.path, "--cache-dir", cache, "--source", "127.0.0.1:\(origin.port)",
            "--allow-private", "127.0.0.0/8", "--admin", "unix:" + admin,
        ]
        if let store { arguments += ["--shared", store, "--shared-key-file", scratch.path + "/" + key] }
        let service = try ServiceProcess(arguments)
        var bodies = [[UInt8]](repeating: [], count: pictures)
        var run = Run()
        let threads = BlockingThreads(count: 8, name: "bench-client")
        let (count, port, originPort) = (pictures, service.port, origin.port)
        try await withThrowingTaskGroup(of: [(Int, [UInt8], Duration)].self) { group in
            for first in 0..<8 {
                group.addTask {
                    try await threads.run {
                        Self.answers(stride(from: first, to: count, by: 8), port, originPort)
                    }
                }
            }
            for try await answers in group {
                for (number, body, time) in answers {
                    bodies[number] = body
                    run.longest = max(run.longest, time / .milliseconds(1))
                }
            }
        }
        let metrics = try RawClient(path: admin).get("/metrics", "Connection: close").text
        func value(_ name: String) -> Double {
            let line = metrics.split(separator: "\n").first { $0.hasPrefix(name + " ") }
            return line.flatMap { Double($0.dropFirst(name.count + 1)) } ?? 0
        }
        run.refused = value("marquee_shared_reads_total{result=\"refused\"}")
        run.pauses =
            value("marquee_shared_paused{operation=\"read\"}")
            + value("marquee_shared_paused{operation=\"write\"}")
        // The service writes what is queued for the store before it ends.
        service.stop()
        return (bodies, run)
    }

    private static func answers(
        _ numbers: StrideTo<Int>, _ port: UInt16, _ originPort: UInt16
    ) -> [(Int, [UInt8], Duration)] {
        numbers.map { number in
            let begin = ContinuousClock.now
            // Ignored: a request without an answer counts as an error.
            let answer = try? RawClient(port: port).get(
                pictureTarget(number, "w154", originPort: originPort), "Connection: close")
            let body = answer?.status == 200 ? answer?.body ?? [] : []
            return (number, body, begin.duration(to: .now))
        }
    }
}
