import CatalogueService
import Foundation
import LazyImages

/// Loads without a pause for `--seconds`, `--concurrency` at once, from our own origin in the same process, no URL
/// twice: requests a second, the growth of resident memory in the second half, and whether every descriptor is closed
/// again. One load in fifty is cancelled at some moment.
func soakBenchmark(_ options: Options) async throws -> [BenchmarkResult] {
    let duration = Duration.seconds(options.number("seconds", default: 60))
    let scratch = try ScratchFolder()
    let poster = Data(onePixel) + Data(count: 60_000 - onePixel.count)
    try poster.write(to: URL(fileURLWithPath: scratch.path + "/poster.png"))
    let origin = try CatalogueService(.folder(path: scratch.path))
    try origin.start()
    defer { origin.stop() }

    // The system's library opens a timer for each clock at its first wait, and keeps it.
    try await Task.sleep(for: .milliseconds(1), clock: .continuous)
    try await Task.sleep(for: .milliseconds(1), clock: .suspending)
    let descriptors = openDescriptors
    let start = ContinuousClock.now
    var memory: [Double] = []
    var loads = 0
    do {
        var configuration = ImageDownloader.Configuration()
        configuration.transfers = options.number("concurrency", default: 64)
        configuration.transfersPerHost = configuration.transfers
        let loader = FileLoader(
            memory: MemoryCache(limit: 4 << 20), disk: nil, configuration: configuration)
        // Reads the memory twenty times, at equal intervals.
        for part in 1...20 {
            loads += try await load(
                from: origin.port, with: loader, atOnce: configuration.transfers, first: loads,
                until: start + duration * part / 20)
            memory.append(residentMegabytes)
        }
    }
    let elapsed = (ContinuousClock.now - start) / .seconds(1)
    // The transport's thread and the origin's connections end some time after their loader.
    let patience = ContinuousClock.now + .seconds(10)
    while openDescriptors != descriptors, ContinuousClock.now < patience { poll(nil, 0, 20) }
    let secondHalf = memory[9...]
    return [
        BenchmarkResult(name: "soak: loads", unit: "loads/s", ours: Double(loads) / elapsed),
        BenchmarkResult(
            name: "soak: growth of resident memory in the second half", unit: "MB",
            ours: (secondHalf.last ?? 0) - (secondHalf.first ?? 0), atMost: 2),
        BenchmarkResult(name: "soak: most resident memory", unit: "MB", ours: memory.max() ?? 0),
        BenchmarkResult(
            name: "soak: descriptors at the end", unit: "descriptors", ours: Double(openDescriptors),
            reference: Double(descriptors), referenceName: "at the beginning"),
    ]
}

/// Loads until `end`; returns the number of loads.
private func load(
    from port: UInt16, with loader: FileLoader, atOnce count: Int, first: Int,
    until end: ContinuousClock.Instant
) async throws -> Int {
    try await withThrowingTaskGroup(of: Void.self) { group in
        var started = 0
        func start() throws {
            started += 1
            let number = first + started
            let request = ImageRequest("http://127.0.0.1:\(port)/poster.png?\(number)")
            group.addTask {
                if number.isMultiple(of: 50) {
                    let load = Task { try await loader.file(for: request) }
                    for _ in 0..<Int.random(in: 0..<200) { await Task.yield() }
                    load.cancel()
                    _ = await load.result
                } else {
                    _ = try await loader.file(for: request)
                }
            }
        }
        for _ in 0..<count { try start() }
        while try await group.next() != nil {
            if ContinuousClock.now < end { try start() }
        }
        return started
    }
}

private var openDescriptors: Int {
    // Ignored: the figure is then 0. The folder itself is one of the descriptors, each time.
    (try? FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd").count) ?? 0
}

/// The second number of `/proc/self/statm`, in pages (proc(5)).
var residentMegabytes: Double {
    // Ignored: the figure is then 0.
    let text = (try? String(contentsOfFile: "/proc/self/statm", encoding: .utf8)) ?? ""
    let pages = text.split(separator: " ").dropFirst().first.flatMap { Double($0) } ?? 0
    return pages * Double(sysconf(Int32(_SC_PAGESIZE))) / 1e6
}
