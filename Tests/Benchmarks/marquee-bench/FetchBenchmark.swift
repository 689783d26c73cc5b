import Foundation
import LazyImages

/// Loads every URL of a list with a new loader, beside curl's own program with the same concurrency. Both begin without
/// a connection. With `--disk` ours stores the files in a new cache and waits until all are on disk; curl's files are
/// then renamed one by one. With `--cacert` both use HTTP/2 to an https server of these authorities, if it supports
/// that.
func fetchBenchmark(_ options: Options) async throws -> [BenchmarkResult] {
    guard options.words.count > 1 else {
        throw BenchmarkFailure(description: "fetch needs a file with a URL a line")
    }
    let list = try String(contentsOfFile: options.words[1], encoding: .utf8)
    let urls = list.split(separator: "\n").map(String.init)
    let requests = try urls.map { try ImageRequest(.text($0)) }
    let concurrency = options.number("concurrency", default: 32)
    let perHost = options.number("per-host", default: concurrency)
    let usesDisk = options.flags.contains("disk")
    let authorities = options.values["cacert"]
    let work = try ScratchFolder()
    let curl = try CurlProgram(
        urls: urls, concurrency: concurrency, folder: usesDisk ? work.path : nil, authorities: authorities,
        scratch: work)
    var configuration = ImageDownloader.Configuration()
    configuration.transfers = concurrency
    configuration.transfersPerHost = perHost
    configuration.security.certificateAuthorityFile = authorities

    let times = try await alternating(
        runs: options.runs,
        ours: {
            let disk = usesDisk ? DiskCache(folder: try work.new("cache")) : nil
            try await loadAll(requests, disk: disk, configuration)
        },
        reference: options.wantsReference ? { try curl.run() } : nil)
    return [
        BenchmarkResult(
            name: "fetch \(urls.count) files, \(concurrency) at once"
                + (authorities == nil ? "" : ", over TLS") + (usesDisk ? ", to disk" : ""),
            unit: "s",
            ours: times.ours, reference: times.reference,
            referenceName: usesDisk ? "curl --parallel, write and rename" : "curl --parallel")
    ]
}

/// Loads everything once, through all tiers.
private func loadAll(
    _ requests: [ImageRequest], disk: DiskCache?, _ configuration: ImageDownloader.Configuration
) async throws {
    // As in `prewarm` and `ImageLoader`: files stay in memory only without a disk tier.
    let memory = disk == nil ? MemoryCache<LoadedFile>(limit: 16 * 1024 * 1024) : nil
    let loader = FileLoader(memory: memory, disk: disk, configuration: configuration)
    try await withThrowingTaskGroup(of: Void.self) { group in
        var rest = requests[...]
        for request in rest.prefix(configuration.transfers * 2) {
            group.addTask { _ = try await loader.file(for: request) }
        }
        rest = rest.dropFirst(configuration.transfers * 2)
        while try await group.next() != nil {
            guard let request = rest.popFirst() else { continue }
            group.addTask { _ = try await loader.file(for: request) }
        }
    }
    await loader.flush()
}

/// curl's own program, configured to fetch a list of URLs.
private struct CurlProgram {
    private let configuration: String
    private let concurrency: Int
    private let authorities: String?
    private let files: [(from: String, to: String)]

    /// - Parameters:
    ///   - folder: the folder for the files; nil discards them.
    ///   - authorities: a file of trusted authorities; nil for the system's.
    init(urls: [String], concurrency: Int, folder: String?, authorities: String?, scratch: ScratchFolder)
        throws
    {
        self.authorities = authorities
        self.concurrency = concurrency
        configuration = scratch.path + "/curl.conf"
        files =
            folder.map { folder in urls.indices.map { ("\(folder)/part-\($0)", "\(folder)/file-\($0)") } }
            ?? []
        var text = ""
        for (index, url) in urls.enumerated() {
            text += "url = \"\(url)\"\noutput = \"\(files.isEmpty ? "/dev/null" : files[index].from)\"\n"
        }
        try text.write(toFile: configuration, atomically: true, encoding: .utf8)
    }

    func run() throws {
        var arguments = ["--silent", "--no-progress-meter", "--fail", "--parallel"]
        // Over TLS transfers may share a connection, which this option would prevent.
        arguments += authorities.map { ["--cacert", $0] } ?? ["--parallel-immediate"]
        arguments += ["--parallel-max", "\(concurrency)", "-K", configuration]
        try Subprocess.run("curl", arguments)
        for file in files {
            guard unsafe rename(file.from, file.to) == 0 else {
                throw BenchmarkFailure(description: "curl did not write \(file.from)")
            }
        }
    }
}
