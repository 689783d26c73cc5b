import FoundationEssentials
import TestSupport

@testable import CatalogueService

/// A service with a temporary folder. It stops when the object is released.
final class RunningService {
    let folder: TemporaryFolder
    let service: CatalogueService

    init(
        _ files: [String: String] = ["movies.json": "[]", "posters/a.jpg": "0123456789"],
        configure: (inout CatalogueService.Configuration) -> Void = { _ in }
    ) throws {
        folder = try TemporaryFolder()
        for (name, content) in files {
            let path = folder.file(name)
            try FileManager.default.createDirectory(
                atPath: String(path[..<(path.lastIndex(of: "/") ?? path.endIndex)]),
                withIntermediateDirectories: true)
            try Data(content.utf8).write(to: URL(filePath: path))
        }
        var configuration = CatalogueService.Configuration()
        configure(&configuration)
        service = try CatalogueService(.folder(path: folder.path), configuration: configuration)
        try service.start()
    }

    deinit { service.stop() }

    func client() throws -> RawClient { try RawClient(port: service.port, owner: self) }

    /// A client with the answer to its first request. The service closes silent connections, and on a busy
    /// machine a client may be that late. Then it tries another.
    func answered(_ target: String) throws -> (client: RawClient, answer: RawClient.Answer) {
        while true {
            try Task.checkCancellation()
            let client = try client()
            do {
                return (client, try client.get(target))
            } catch RawClient.Failure.noAnswer(got: "") {
                continue
            }
        }
    }
}
