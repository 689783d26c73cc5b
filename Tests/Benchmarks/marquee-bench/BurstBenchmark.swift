import Foundation
import HTTPServer

/// Requests `--posters` (400) new posters of as many sources at once, by `--clients` (300) connections, as browsers do
/// that open a page of them. Browsers do not ask again for a picture that was refused. Measures how many come, and how
/// soon hits come meanwhile.
func burstBenchmark(_ options: Options) async throws -> [BenchmarkResult] {
    let posters = options.number("posters", default: 400)
    let clients = options.number("clients", default: 300)
    let scratch = try ScratchFolder()
    let (origin, server, originPort) = try PosterOrigin.start(path: benchmarkPoster)
    defer { server.stop() }
    let service = try ServiceProcess([
        scratch.path, "--cache-dir", scratch.path + "/cache", "--source", "127.0.0.1:\(originPort)",
        "--allow-private", "127.0.0.0/8",
    ])
    defer { service.stop() }
    let port = service.port
    @Sendable func hot(_ number: Int) -> String {
        pictureTarget(-1 - number % 50, "w342", originPort: originPort)
    }
    _ = await PictureLoad(port: port, clients: 4, most: 100).run(seconds: 60, target: hot)
    async let hits = PictureLoad(port: port, clients: 8, rate: 200).run(seconds: 2, target: hot)
    let start = ContinuousClock.now
    let answers = await PictureLoad(port: port, clients: clients, most: posters).run(seconds: 60) { number in
        pictureTarget(number, "w342", originPort: originPort)
    }
    let time = start.duration(to: .now) / .milliseconds(1)
    let hitAnswers = await hits
    return [
        BenchmarkResult(
            name: "answers of 200", unit: "answers", ours: Double(answers.with(200).count),
            reference: Double(posters), referenceName: "of"),
        BenchmarkResult(
            name: "answers of 503", unit: "answers", ours: Double(answers.with(503).count)),
        BenchmarkResult(name: "all answers after", unit: "ms", ours: time),
        BenchmarkResult(
            name: "half of the pictures within", unit: "ms", ours: answers.with(200).milliseconds(0.5)),
        BenchmarkResult(name: "hits, 99 % within", unit: "ms", ours: hitAnswers.milliseconds(0.99)),
        BenchmarkResult(
            name: "hits that were answered", unit: "answers", ours: Double(hitAnswers.with(200).count),
            reference: Double(hitAnswers.count), referenceName: "of"),
        BenchmarkResult(name: "requests at the origin", unit: "requests", ours: Double(origin.requests)),
        BenchmarkResult(
            name: "most memory", unit: "MiB", ours: Double(try service.peakBytes) / Double(1 << 20)),
    ]
}
