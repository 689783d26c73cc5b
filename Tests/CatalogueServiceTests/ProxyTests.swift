import FilmSources
import FoundationEssentials
import HTTPServer
import TestSupport
import TestTraits
import Testing

@testable import CatalogueService

/// The film service behind nginx, with the configuration of the article "Running the service".
@Suite("Behind nginx", .bounded, .enabled(if: NginxProcess.isInstalled, "nginx is not installed"))
struct ProxyTests {
    private static let token = "0123456789abcdefghijklmn"

    /// A request that is refused, and the status of its answer.
    private static let cases: [(status: Int, target: String, method: String, fields: [String])] = [
        (401, "/films/a/poster", "PUT", ["Content-Type: image/png"]),
        (401, "/films", "POST", ["Content-Type: application/json"]),
        (403, "/films", "POST", ["Origin: https://evil.example", "Authorization: Bearer \(token)"]),
        (413, "/films", "POST", ["Content-Type: application/json", "Authorization: Bearer \(token)"]),
        (415, "/films", "POST", ["Content-Type: text/csv", "Authorization: Bearer \(token)"]),
        (415, "/films/a/poster", "PUT", ["Content-Type: text/plain", "Authorization: Bearer \(token)"]),
        (404, "/nothing/here", "POST", ["Authorization: Bearer \(token)"]),
        (405, "/films", "PUT", ["Authorization: Bearer \(token)"]),
        (431, "/films", "POST", (0..<3).map { "X-Long-\($0): " + String(repeating: "x", count: 7000) }),
    ]

    /// The server block of the article, for a port of this machine and without TLS.
    private static func server(_ port: UInt16, before service: UInt16) throws -> String {
        let root = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .deletingLastPathComponent()
        let article = try String(
            contentsOf: root.appending(path: "Sources/LazyImages/LazyImages.docc/RunningTheService.md"),
            encoding: .utf8)
        let start = try #require(article.firstRange(of: "server {\n    listen 443 ssl;")).lowerBound
        let block = article[start...].prefix(while: { $0 != "`" })
        let lines = block.split(separator: "\n").filter { !$0.contains("ssl_certificate") }
        return lines.joined(separator: "\n")
            .replacing("listen 443 ssl;", with: "listen 127.0.0.1:\(port);")
            .replacing("127.0.0.1:8080", with: "127.0.0.1:\(service)")
    }

    @Test("each refusal of a body of 3 to 60 megabytes keeps its own status: nginx makes no 502 of it")
    func refusals() async throws {
        let folder = try TemporaryFolder()
        let library = try FilmLibrary(path: folder.file("films.db"), access: .creating)
        var configuration = FilmServiceConfiguration()
        configuration.isWritable = true
        configuration.writers = WriteAccess([WriteAccess.Token(name: "laptop", value: Self.token)])
        let server = try HTTPServer(
            configuration: HTTPServer.Configuration(),
            handler: FilmService(library: library, configuration: configuration))
        try server.start()
        let port = try #require(server.ports[0])
        let nginx = try await NginxProcess { own in
            // Ignored: without the article nginx has no server, and the requests below fail.
            (try? Self.server(own, before: port)) ?? ""
        }
        let body = [UInt8](repeating: UInt8(ascii: "x"), count: 60_000_000)
        let rounds = Rounds.count(2 * Self.cases.count, many: 100)
        for round in 0..<rounds {
            let (status, target, method, fields) = Self.cases[round % Self.cases.count]
            let count = 3_000_000 + (round * 7_919_000) % (Rounds.count(20, many: 57) * 1_000_000)
            let lines =
                ["\(method) \(target) HTTP/1.1", "Host: 127.0.0.1", "Content-Length: \(count)"] + fields
            let client = try RawClient(port: nginx.port)
            client.send(Array((lines.joined(separator: "\r\n") + "\r\n\r\n").utf8) + body[..<count])
            let answer = try client.answer()
            #expect(answer.status == status, "\(method) \(target) with \(count) bytes, round \(round)")
        }
        server.stop()
    }
}
