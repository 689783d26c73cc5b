import CatalogueService
import FoundationEssentials
import TestSupport

/// A small catalogue with posters of one pixel, a service that counts its requests, and a separate cache
/// folder for the programs of a test.
final class Fixture: Sendable {
    let folder: TemporaryFolder
    let home: TemporaryFolder
    let service: CatalogueService

    /// A PNG of one pixel.
    static let pixel =
        Data(
            base64Encoded:
                "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="
        )
        ?? Data()

    /// - Parameters:
    ///   - films: the catalogue as JSON. Default: six films with posters, `film-1` to `film-6`.
    ///   - posters: the number of posters.
    init(
        films: String? = nil, posters: Int = 6,
        configure: (inout CatalogueService.Configuration) -> Void = { _ in }
    ) throws {
        folder = try TemporaryFolder()
        home = try TemporaryFolder()
        try folder.write(films ?? Self.films(posters), to: "movies.json")
        for number in 1...posters {
            try folder.write(Self.pixel, to: "posters/\(number).png")
        }
        var configuration = CatalogueService.Configuration()
        configure(&configuration)
        service = try CatalogueService(.folder(path: folder.path), configuration: configuration)
        try service.start()
    }

    deinit { service.stop() }

    var base: String { "http://127.0.0.1:\(service.port)/" }
    var environment: [String: String] {
        ["XDG_CACHE_HOME": home.path, "HOME": home.path, "MARQUEE_CATALOGUE": base + "movies.json"]
    }

    /// The number of requests for posters: all requests except `catalogueReads`.
    func posterRequests(catalogueReads: Int) -> Int { service.statistics.requests - catalogueReads }

    func run(_ arguments: String..., input: String = "") async throws -> Program.Outcome {
        try await Program.run(arguments, input: input, environment: environment)
    }

    /// The files of the entries on disk.
    func entries() throws -> [String] {
        let root = home.file("marquee")
        guard FileManager.default.fileExists(atPath: root) else { return [] }
        return try FileManager.default.subpathsOfDirectory(atPath: root).filter { $0.count == 67 }
            .map { root + "/" + $0 }
    }

    /// Temporary files that a crash left in the cache.
    func temporaryFiles() -> [String] {
        // Ignored: without the folder there are no files.
        (try? FileManager.default.contentsOfDirectory(atPath: home.file("marquee/tmp"))) ?? []
    }

    /// A catalogue with this number of films.
    static func films(
        _ count: Int, poster: (_ number: Int) -> String = { "posters/\($0).png" }
    ) -> String {
        let films = (1...count).map { number in
            """
            {"id":"film-\(number)","title":"Film \(number)","year":\(1910 + number),"director":"Someone \(number)",\
            "score":\(Double(number) + 0.5),"overview":"About \(number).","poster":"\(poster(number))"}
            """
        }
        return "[" + films.joined(separator: ",\n") + "]"
    }
}
