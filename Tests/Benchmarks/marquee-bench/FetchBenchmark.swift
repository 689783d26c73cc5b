import Foundation
import LazyImages

/// Loads every URL of a list with a new loader, beside curl's own program with the same concurrency. Both begin without
/// a connection. With `--cacert` both use HTTP/2 to an https server of these authorities, if it supports that.
func fetchBenchmark(_ options: Options) async throws -> [BenchmarkResult] {
    guard options.words.count > 1 else {
        throw BenchmarkFailure(description: "fetch needs a file with a URL a line")
    }
    let list = try String(contentsOfFile: options.words[1], encoding: .utf8)
    let urls = list.split(separator: "\n").map(String.init)
    let requests = try urls.map { try ImageRequest(URL(typed: $0)) }
    let concurrency = options.number("concurrency", default: 32)
    let perHost = options.number("per-host", default: concurrency)
    let authorities = options.values["cacert"]
    let curl = try CurlProgram(urls: urls, concurrency: concurrency, authorities: authorities)
    var configuration = ImageDownloader.Configuration()
    configuration.transfers = concurrency
    configuration.transfersPerHost = perHost
    configuration.security.certificateAuthorityFile = authorities

    let times = try await alternating(
        runs: options.runs,
        ours: { try await loadAll(requests, configuration) },
        reference: options.wantsReference ? { try curl.run() } : nil)
    return [
        BenchmarkResult(
            name: "fetch \(urls.count) files, \(concurrency) at once"
                + (authorities == nil ? "" : ", over TLS"),
            unit: "s",
            ours: times.ours, reference: times.reference,
            referenceName: "curl --parallel")
    ]
}

/// Loads everything once, through the memory tier.
private func loadAll(
    _ requests: [ImageRequest], _ configuration: ImageDownloader.Configuration
) async throws {
    let memory = MemoryCache<LoadedFile>(limit: 16 * 1024 * 1024)
    let loader = FileLoader(memory: memory, disk: nil, configuration: configuration)
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
    private let folder: ScratchFolder
    private let concurrency: Int
    private let authorities: String?
    private var configuration: String { folder.path + "/curl.conf" }

    /// - Parameter authorities: a file of trusted authorities; nil for the system's.
    init(urls: [String], concurrency: Int, authorities: String?) throws {
        folder = try ScratchFolder()
        self.authorities = authorities
        self.concurrency = concurrency
        let text = urls.map { "url = \"\($0)\"\noutput = \"/dev/null\"\n" }.joined()
        try text.write(toFile: configuration, atomically: true, encoding: .utf8)
    }

    func run() throws {
        var arguments = ["--silent", "--no-progress-meter", "--fail", "--parallel"]
        // Over TLS transfers may share a connection, which this option would prevent.
        arguments += authorities.map { ["--cacert", $0] } ?? ["--parallel-immediate"]
        arguments += ["--parallel-max", "\(concurrency)", "-K", configuration]
        try Subprocess.run("curl", arguments)
    }
}
