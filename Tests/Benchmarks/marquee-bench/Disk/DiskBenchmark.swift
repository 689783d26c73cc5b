import Foundation
import LazyImages

/// A verified hit of the disk tier, beside open, fstat, read and close of a file of the same length. Bodies of 60 KB, all
/// in the page cache.
func diskBenchmark(_ options: Options) async throws -> [BenchmarkResult] {
    let folder = try ScratchFolder()
    let files = try PlainFiles(folder: folder.new("files"))
    let cache = DiskCache(folder: try folder.new("cache"))
    for key in files.keys { await cache.store(files.body, for: key) }
    await cache.flush()

    let hit = try await alternating(
        runs: options.runs * 3,
        ours: { try lookUp(files.keys, in: cache) },
        reference: options.wantsReference ? { try files.readAll() } : nil)
    let each = 1e6 / Double(PlainFiles.count)
    return [
        BenchmarkResult(
            name: "verified disk hit, 60 KB", unit: "us", ours: hit.ours * each,
            reference: hit.reference.map { $0 * each },
            referenceName: "open, fstat, read, close")
    ]
}

/// Synchronous, like a call on a thread that may block.
private func lookUp(_ keys: [CacheKey], in cache: DiskCache) throws {
    for key in keys {
        guard let entry = cache.readEntry(for: key), entry.body.count == PlainFiles.size else {
            throw BenchmarkFailure(description: "an entry of the benchmark's own cache is missing")
        }
    }
}

/// The same bytes as plain files.
private struct PlainFiles {
    static let count = 500
    static let size = 60_000

    let body: [UInt8]
    let keys: [CacheKey]
    private let folder: String

    init(folder: String) throws {
        self.folder = folder
        body = (0..<Self.size).map { _ in UInt8.random(in: 0...255) }
        keys = (0..<Self.count).map { CacheKey(url: URL(fileURLWithPath: "/poster-\($0)")) }
        for number in 0..<Self.count { try Data(body).write(to: URL(filePath: "\(folder)/\(number)")) }
    }

    /// Reads every file into one buffer.
    func readAll() throws {
        var buffer = [UInt8](repeating: 0, count: Self.size + 4096)
        for number in 0..<Self.count {
            let descriptor = unsafe open("\(folder)/\(number)", O_RDONLY | O_CLOEXEC)
            var status = stat()
            unsafe fstat(descriptor, &status)
            let count = unsafe read(descriptor, &buffer, Int(status.st_size))
            close(descriptor)
            guard count == Self.size else { throw BenchmarkFailure(description: "\(folder) cannot be read") }
        }
    }
}
