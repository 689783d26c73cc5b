import CatalogueService
import Foundation
import LazyImages

/// Many callers of one URL at once: the requests at the origin, and the cost of a caller. Our own origin, on a real
/// socket, waits a moment before it answers, so that all callers come during the transfer.
func dedupeBenchmark(_ options: Options) async throws -> [BenchmarkResult] {
    let callers = options.number("callers", default: 10_000)
    let folder = try ScratchFolder()
    try Data(onePixel).write(to: URL(fileURLWithPath: folder.path + "/pixel.png"))
    var configuration = CatalogueService.Configuration()
    configuration.server.latency = .milliseconds(100)
    let origin = try CatalogueService(.folder(path: folder.path), configuration: configuration)
    try origin.start()
    defer { origin.stop() }

    var requests: [Double] = []
    var times: [Double] = []
    for run in 0..<max(1, options.runs) {
        let loader = FileLoader(disk: nil)
        let request = ImageRequest("http://127.0.0.1:\(origin.port)/pixel.png?run=\(run)")
        let before = origin.statistics.requests
        times.append(
            try await seconds {
                try await withThrowingTaskGroup(of: Void.self) { group in
                    for _ in 0..<callers { group.addTask { _ = try await loader.file(for: request) } }
                    try await group.waitForAll()
                }
            })
        requests.append(Double(origin.statistics.requests - before))
    }
    return [
        BenchmarkResult(
            name: "\(callers) callers of one URL: requests at the origin", unit: "requests",
            ours: requests.max() ?? 0,
            reference: 1, referenceName: "one transfer"),
        BenchmarkResult(
            name: "\(callers) callers of one URL: time a caller", unit: "us",
            ours: (median(times) - 0.1) * 1e6 / Double(callers)),
    ]
}

/// The smallest PNG: one transparent pixel.
let onePixel: [UInt8] = [
    0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A, 0x00, 0x00, 0x00, 0x0D, 0x49, 0x48, 0x44, 0x52,
    0x00, 0x00, 0x00, 0x01, 0x00, 0x00, 0x00, 0x01, 0x08, 0x06, 0x00, 0x00, 0x00, 0x1F, 0x15, 0xC4,
    0x89, 0x00, 0x00, 0x00, 0x0B, 0x49, 0x44, 0x41, 0x54, 0x78, 0x9C, 0x63, 0x60, 0x00, 0x02, 0x00,
    0x00, 0x05, 0x00, 0x01, 0x7A, 0x5E, 0xAB, 0x3F, 0x00, 0x00, 0x00, 0x00, 0x49, 0x45, 0x4E, 0x44,
    0xAE, 0x42, 0x60, 0x82,
]
