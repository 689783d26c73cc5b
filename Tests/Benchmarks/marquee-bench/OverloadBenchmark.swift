import Foundation

/// Requests four times as many new pictures from `marquee serve` as it can make, for `--seconds` (60). Measures how
/// many it still makes, how soon it refuses the rest, how soon it serves hits, and how much memory it needs.
///
/// A picture may wait for one second, and is refused then, or at once while as many wait as memory allows. There are
/// enough clients to ask for more meanwhile.
func overloadBenchmark(_ options: Options) async throws -> [BenchmarkResult] {
    let seconds = Double(options.number("seconds", default: 60))
    let scratch = try ScratchFolder()
    let (origin, server, originPort) = try PosterOrigin.start(path: benchmarkPoster)
    defer { server.stop() }
    let (budget, queueTime) = ((decoding: 64, pictures: 64), 1)
    let service = try ServiceProcess([
        scratch.path, "--cache-dir", scratch.path + "/cache", "--source", "127.0.0.1:\(originPort)",
        "--allow-private", "127.0.0.0/8", "--decode-memory", "\(budget.decoding)M", "--memory-size",
        "\(budget.pictures)M", "--cache-size", "256M", "--queue-time", "\(queueTime)",
    ])
    defer { service.stop() }
    let port = service.port
    @Sendable func hot(_ number: Int) -> String {
        pictureTarget(-1 - number % 50, "w342", originPort: originPort)
    }
    // First fills memory and disk with pictures, like a service that has run for a while. Then come the pictures that
    // are requested repeatedly, and the measurement of what the service can make.
    _ = await PictureLoad(port: port, clients: 32).run(seconds: 15) { number in
        pictureTarget(2_000_000 + number, "w342", originPort: originPort)
    }
    _ = await PictureLoad(port: port, clients: 4).run(seconds: 1, target: hot)
    async let firstHits = PictureLoad(port: port, clients: 8, rate: 200).run(seconds: 15, target: hot)
    async let made = PictureLoad(port: port, clients: 32).run(seconds: 15) { number in
        pictureTarget(number, "w342", originPort: originPort)
    }
    let (first, _) = (await made, await firstHits)
    let capacity = Double(first.with(200).count) / 15
    poll(nil, 0, 5000)
    let idle = try service.bytes

    async let hits = PictureLoad(port: port, clients: 8, rate: 200).run(seconds: seconds, target: hot)
    async let wanted = PictureLoad(port: port, clients: Int(capacity) * 5 + 200, rate: capacity * 4).run(
        seconds: seconds
    ) {
        number in pictureTarget(1_000_000 + number, "w342", originPort: originPort)
    }
    let (answers, hitAnswers) = (await wanted, await hits)
    let peak = try service.peakBytes
    poll(nil, 0, 10_000)
    let after = try service.bytes
    let refused = answers.with(503)
    let others = answers.count { $0.status != 200 && $0.status != 503 }
    func megabytes(_ bytes: Int) -> Double { Double(bytes) / Double(1 << 20) }
    return [
        BenchmarkResult(
            name: "new pictures made under four times the load", unit: "pictures/s",
            ours: Double(answers.with(200).count) / seconds, reference: capacity,
            referenceName: "capacity"),
        BenchmarkResult(
            name: "new pictures wanted", unit: "pictures/s", ours: Double(answers.count) / seconds),
        BenchmarkResult(
            name: "answers that are neither 200 nor 503", unit: "answers", ours: Double(others), exactly: 0),
        BenchmarkResult(
            name: "refusals, 99 % within the queue time and", unit: "ms",
            ours: refused.milliseconds(0.99) - Double(queueTime * 1000), atMost: 100),
        BenchmarkResult(
            name: "hits, 99 % within", unit: "ms", ours: hitAnswers.milliseconds(0.99), atMost: 10),
        BenchmarkResult(
            name: "hits that were answered", unit: "answers", ours: Double(hitAnswers.with(200).count),
            reference: Double(hitAnswers.count), referenceName: "of"),
        BenchmarkResult(
            name: "most memory", unit: "MiB", ours: megabytes(peak),
            // Both tiers, files, records and the program itself.
            atMost: Double(budget.decoding + budget.pictures + 64 + 32)),
        BenchmarkResult(
            name: "memory when idle again", unit: "MiB", ours: megabytes(after), reference: megabytes(idle),
            referenceName: "before"),
        BenchmarkResult(name: "requests at the origin", unit: "requests", ours: Double(origin.requests)),
    ]
}
