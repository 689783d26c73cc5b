import CatalogueService
import FoundationEssentials
import Glibc
import TestSupport
import TestTraits
import Testing

extension OverSockets {
    @Suite("stays in its folder", .bounded)
    struct Folder {
        @Test(
            "links, folders, pipes and hidden files are not found",
            arguments: [
                "/link.txt", "/inside.txt", "/up/secret.txt", "/posters", "/posters/", "/pipe", "/.hidden",
                "/missing",
            ])
        func notFound(target: String) throws {
            let outside = try TemporaryFolder()
            try Data("secret".utf8).write(to: URL(filePath: outside.file("secret.txt")))
            let running = try RunningService(["movies.json": "[]", "posters/a.jpg": "", ".hidden": "h"])
            _ = unsafe symlink(outside.file("secret.txt"), running.folder.file("link.txt"))
            _ = unsafe symlink("movies.json", running.folder.file("inside.txt"))
            _ = unsafe symlink(outside.path, running.folder.file("up"))
            _ = unsafe mkfifo(running.folder.file("pipe"), 0o600)
            let client = try running.client()
            #expect(try client.get(target).status == 404)
            #expect(try client.get("/movies.json").status == 200)
        }

        @Test(
            "a path that leaves the folder is refused",
            arguments: ["/../movies.json", "/%2e%2e/x", "/a%2f..%2fb", "/a%00"])
        func climbing(target: String) throws {
            let running = try RunningService()
            #expect(try running.client().get(target).status == 400)
        }

        @Test("the folder may be a symbolic link")
        func linkedFolder() throws {
            let running = try RunningService()
            let links = try TemporaryFolder()
            _ = unsafe symlink(running.folder.path, links.file("catalogue"))
            let service = try CatalogueService(.folder(path: links.file("catalogue")))
            try service.start()
            defer { service.stop() }
            #expect(try RawClient(port: service.port).get("/movies.json").status == 200)
        }

        @Test("a file that shrinks while it is sent ends the connection, not the service")
        func truncated() async throws {
            let running = try RunningService(["a.txt": "a"])
            let path = running.folder.file("large.bin")
            try Data("x".utf8).write(to: URL(filePath: path))
            #expect(unsafe truncate(path, 256 << 20) == 0)
            let client = try running.client()
            client.send("GET /large.bin HTTP/1.1\r\nHost: localhost\r\n\r\n")
            // Longer than a head: the client has the file's Content-Length.
            try await eventually { running.service.statistics.bytesSent >= 1000 }
            #expect(unsafe truncate(path, 0) == 0)
            #expect(client.readToEnd().count < 256 << 20)
            #expect(try running.client().get("/a.txt").text == "a")
        }
    }
}
