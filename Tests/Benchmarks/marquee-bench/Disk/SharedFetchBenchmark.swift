import CatalogueService
import Foundation

/// Runs several `marquee prewarm` at once with one list and one cache folder. Counts the requests at the origin, and
/// compares the time with that of one process alone.
enum SharedFetch {
    private static let fileCount = 500

    static func results(_ count: Int, runs: Int) async throws -> [BenchmarkResult] {
        let scratch = try ScratchFolder()
        let files = try scratch.new("files")

        for number in 0..<fileCount {
            try Data(onePixel).write(to: URL(fileURLWithPath: files + "/\(number).png"))
        }
        var configuration = CatalogueService.Configuration()
        configuration.server.latency = .milliseconds(20)
        let origin = try CatalogueService(.folder(path: files), configuration: configuration)
        try origin.start()
        defer { origin.stop() }
        let list = scratch.path + "/list.txt"
        let urls = (0..<fileCount).map { "http://127.0.0.1:\(origin.port)/\($0).png" }
        try urls.joined(separator: "\n").write(toFile: list, atomically: true, encoding: .utf8)

        var most = 0
        let times = try await alternating(
            runs: runs,
            ours: {
                let before = origin.statistics.requests
                try prewarm(list, count, into: try scratch.new("shared"))
                most = max(most, origin.statistics.requests - before)
            }, reference: { try prewarm(list, 1, into: try scratch.new("alone")) })
        return [
            BenchmarkResult(
                name: "requests at the origin for \(count) prewarms at once", unit: "requests",
                ours: Double(most), reference: Double(fileCount), referenceName: "files"),
            BenchmarkResult(
                name: "\(count) prewarms at once of \(fileCount) files that take 20 ms", unit: "s",
                ours: times.ours, reference: times.reference, referenceName: "one alone"),
        ]
    }

    private static func prewarm(_ list: String, _ count: Int, into folder: String) throws {
        let processes = try (0..<count).map { _ in
            let process = Process()
            process.executableURL = URL(filePath: try Program.path("marquee"))
            process.arguments = ["prewarm", list, "--quiet", "--cache-dir", folder]
            process.standardOutput = FileHandle.nullDevice
            try process.run()
            return process
        }
        for process in processes {
            process.waitUntilExit()
            guard process.terminationStatus == 0 else {
                throw BenchmarkFailure(
                    description: "marquee prewarm ended with status \(process.terminationStatus)")
            }
        }
    }
}
