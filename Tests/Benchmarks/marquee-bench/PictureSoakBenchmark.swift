import Foundation
import HTTPServer
import TestSupport

/// `marquee serve` under mixed load, `--rate` (200) requests a second for `--seconds` (1800): pictures in memory, new
/// pictures, refused sizes, missing sources, the list of films, and clients that leave before their answer. Measures
/// the growth of its memory in the second half, and whether every descriptor is closed again.
func pictureSoakBenchmark(_ options: Options) async throws -> [BenchmarkResult] {
    let seconds = Double(options.number("seconds", default: 1800))
    let rate = Double(options.number("rate", default: 200))
    let scratch = try ScratchFolder()
    let (origin, server, originPort) = try PosterOrigin.start(path: benchmarkPoster)
    defer { server.stop() }
    let service = try ServiceProcess([
        scratch.path, "--cache-dir", scratch.path + "/cache", "--cache-size", "64M", "--source",
        "127.0.0.1:\(originPort)", "--allow-private", "127.0.0.0/8", "--memory-size", "32M",
    ])
    defer { service.stop() }
    let port = service.port
    @Sendable func target(_ number: Int) -> String {
        switch number % 20 {
        case 0..<5: pictureTarget(number, "w342", originPort: originPort)
        case 5: pictureTarget(number, "w343", originPort: originPort)
        case 6: "/image/-/w342/bm9uZQ"
        case 7: "/films"
        default:
            pictureTarget(-1 - number % 100, ["w92", "w185", "w342"][number % 3], originPort: originPort)
        }
    }
    var memory: [Double] = []
    var descriptors: [Int] = []
    var byStatus: [Int: Int] = [:]
    var answered = 0
    let parts = 20
    for part in 0..<parts {
        let first = part * 10_000_000
        // Clients that leave: each requests a new picture and closes.
        for number in 0..<50 {
            let client = try RawClient(port: port)
            client.send(
                "GET \(pictureTarget(-1000 - first - number, "w500", originPort: originPort)) HTTP/1.1\r\n"
                    + "Host: localhost\r\n\r\n")
        }
        let samples = await PictureLoad(port: port, clients: 32, rate: rate)
            .run(seconds: seconds / Double(parts)) { target(first + $0) }
        for sample in samples { byStatus[sample.status, default: 0] += 1 }
        answered += samples.count
        memory.append(Double(try service.bytes) / Double(1 << 20))
        descriptors.append(try service.descriptors)
    }
    let late = memory[(parts / 2)...]
    let idle = try service.returns(to: 40)
    return [
        BenchmarkResult(name: "mixed load", unit: "requests/s", ours: Double(answered) / seconds),
        BenchmarkResult(
            name: "requests that got no answer", unit: "requests", ours: Double(byStatus[0] ?? 0)),
        BenchmarkResult(
            name: "answers of 5xx", unit: "answers",
            ours: Double(byStatus.filter { $0.key >= 500 }.values.reduce(0, +))),
        BenchmarkResult(name: "requests at the origin", unit: "requests", ours: Double(origin.requests)),
        BenchmarkResult(
            name: "growth of memory in the second half", unit: "MiB",
            ours: (late.last ?? 0) - (late.first ?? 0), atMost: 8),
        BenchmarkResult(name: "most memory", unit: "MiB", ours: memory.max() ?? 0),
        BenchmarkResult(
            name: "descriptors under load", unit: "descriptors", ours: Double(descriptors.max() ?? 0)),
        BenchmarkResult(
            name: "descriptors afterwards", unit: "descriptors", ours: Double(idle), atMost: 40),
    ]
}
