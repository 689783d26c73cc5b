import Foundation
import ImageCodecs
import LazyImages

/// Requests made from text, from a URL, and from text with a size, beside Foundation's time to make a URL of the same
/// text: 2,000 typical addresses of catalogues, every third with a query; then addresses whose spelling must be
/// corrected first.
func requestBenchmark(_ options: Options) async throws -> [BenchmarkResult] {
    let plain = (0..<2_000).map { number in
        "https://posters.example.org/2024/films/\(10_000 + number)/poster-w500.jpg"
            + (number % 3 == 0 ? "?width=500&v=\(number)" : "")
    }
    let odd = plain.map {
        $0.replacing("posters.example", with: "Posters.Example").replacing("poster-", with: "El Camión ")
    }
    let urls = plain.compactMap { URL(string: $0) }
    let size = ImageSize(width: 300, height: 450)
    var results: [BenchmarkResult] = []
    func measure(_ name: String, _ texts: [String], _ make: (Int) throws -> ImageRequest) async throws {
        var differing = Set<CacheKey>()
        for index in texts.indices { differing.insert(try make(index).key) }
        precondition(differing.count == texts.count, "every request of this benchmark has a key of its own")
        let rounds = 20
        let times = try await alternating(
            runs: options.runs * 3,
            ours: {
                for _ in 0..<rounds {
                    for index in texts.indices { _ = try make(index) }
                }
            },
            reference: options.wantsReference
                ? {
                    for _ in 0..<rounds {
                        for text in texts { precondition(URL(string: text) != nil) }
                    }
                } : nil)
        let each = 1e9 / Double(rounds * texts.count)
        results.append(
            BenchmarkResult(
                name: "request \(name)", unit: "ns", ours: times.ours * each,
                reference: times.reference.map { $0 * each }, referenceName: "Foundation's URL"))
    }
    try await measure("from text", plain) { try ImageRequest(.text(plain[$0])) }
    try await measure("from a URL", plain) { ImageRequest(.url(urls[$0])) }
    try await measure("from text, with a size", plain) {
        try ImageRequest(.text(plain[$0]), targetSize: size)
    }
    try await measure("from odd text", odd) { try ImageRequest(.text(odd[$0])) }
    return results
}
