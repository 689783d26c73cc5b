import CatalogueService
import FoundationEssentials
import Glibc
import TestSupport
import TestTraits
import Testing

extension OverSockets {
    @Suite("stays in its folder", .bounded)
    struct Folder {
        /// One name more than a path may have.
        private static let deep = "a/b/c/d/e/f/g/h/i/j/k/l/m/n/o/p/q.jpg"

        @Test(
            "links, folders, pipes, hidden files and those too far down are not found",
            arguments: [
                "/link.txt", "/inside.txt", "/up/secret.txt", "/posters", "/posters/", "/pipe",
                "/.hidden.jpg",
                "/%2ehidden.jpg", "/missing", "/\(deep)",
            ])
        func notFound(target: String) throws {
            let outside = try TemporaryFolder()
            try Data("secret".utf8).write(to: URL(filePath: outside.file("secret.txt")))
            let running = try RunningService([
                "movies.json": "[]", "posters/a.jpg": "", ".hidden.jpg": "h", Self.deep: "d",
            ])
            _ = unsafe symlink(outside.file("secret.txt"), running.folder.file("link.txt"))
            _ = unsafe symlink("movies.json", running.folder.file("inside.txt"))
            _ = unsafe symlink(outside.path, running.folder.file("up"))
            _ = unsafe mkfifo(running.folder.file("pipe"), 0o600)
            let client = try running.client()
            #expect(try client.get(target).status == 404)
            #expect(try client.get("/movies.json").status == 200)
        }

        /// A folder as an operator may have it.
        private static let files = [
            "movies.json": #"""
            [{"id": "a", "title": "A", "poster": "art/poster", "media": "video/a.mkv"},
             {"id": "b", "title": "B", "media": "video/b%20c.mkv", "poster": "../secret.pem"}]
            """#,
            "video/a.mkv": "a", "video/b c.mkv": "b", "video/c.mkv": "c", "art/poster": "p", "art/other": "o",
            "old/movies.json": #"{"name": "Old", "movies": []}"#,
            "old/list.xml": "<?xml version=\"1.0\"?><catalogue/>",
            "list.txt": "\u{FEFF}# list\n\nposters/a b.jpg  sha256:00\nhttps://example.org/x\n",
            "manifest.json": #" {"images": ["extra/sheet"]}"#, "extra/sheet": "s",
            "fleet/run.sh": "#!/bin/sh", "fleet/nginx.conf": "http {}", "key.pem": "k",
            "notes.txt": "key.pem\nREADME\n",
            "tokens.txt": "lDM0bXBsZQ/a+x==", "package.json": #"{"name": "x"}"#,
            "settings.xml": "<settings/>",
            "empty.txt": "", "data.json": "", "films.db": "SQLite", "README": "r", "page.html": "<p>",
            "index.html": "<p>", "sub/index.html": "<p>",
        ]

        @Test(
            "the catalogue, a manifest, the page of the folder and what its films name are served",
            arguments: [
                "/movies.json", "/manifest.json",
                "/index.html", "/video/a.mkv", "/video/b%20c.mkv", "/art/poster",
            ])
        func served(target: String) throws {
            let running = try RunningService(Self.files)
            #expect(try running.client().get(target).status == 200)
        }

        @Test(
            "pictures of all types are served, also of those that cannot be decoded",
            arguments: [
                "jpg", "JPEG", "png", "webp", "gif", "avif", "heic", "heif", "jxl", "tif", "tiff", "bmp",
                "svg", "ico", "apng", "ppm", "jp2", "psd", "tga", "qoi", "exr", "dng", "cr2", "nef",
            ])
        func pictures(ending: String) throws {
            let running = try RunningService(["movies.json": "[]", "posters/a.\(ending)": "x"])
            let answer = try running.client().get("/posters/a.\(ending)")
            #expect(answer.status == 200 && answer.fields["content-type"]?.hasPrefix("image/") == true)
        }

        @Test(
            "a folder's other files are not found",
            arguments: [
                "/old/movies.json", "/old/list.xml", "/list.txt", "/fleet/run.sh", "/fleet/nginx.conf",
                "/key.pem", "/notes.txt", "/tokens.txt",
                "/package.json",
                "/settings.xml", "/empty.txt", "/data.json", "/films.db", "/README", "/page.html",
                "/sub/index.html", "/video/c.mkv", "/art/other", "/extra/sheet",
            ])
        func others(target: String) throws {
            let running = try RunningService(Self.files)
            let client = try running.client()
            let answer = try client.get(target)
            #expect(answer.status == 404 && answer.text == "404 Not Found\n")
            client.send("HEAD \(target) HTTP/1.1\r\nHost: localhost\r\n\r\n")
            #expect(try client.answer(hasBody: false).status == 404)
        }

        @Test("what a catalogue names changes with it, and stays while it is broken")
        func namedLater() throws {
            let running = try RunningService(Self.files)
            let client = try running.client()
            #expect(try client.get("/video/c.mkv").status == 404)
            func write(_ text: String) throws {
                try Data(text.utf8).write(
                    to: URL(filePath: running.folder.file("movies.json")), options: .atomic)
            }
            try write(#"[{"id": "c", "title": "C", "media": "video/c.mkv"}]"#)
            #expect(try client.get("/video/c.mkv").text == "c")
            #expect(try client.get("/video/a.mkv").status == 404)
            try write("[{")
            #expect(try client.get("/video/c.mkv").status == 200)
        }

        @Test(
            "a path that leaves the folder is refused",
            arguments: ["/../movies.json", "/%2e%2e/x", "/.%2E/a", "/a%2f..%2fb", "/a%5Cb", "/a%00"])
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
            let running = try RunningService(["a.png": "a"])
            let path = running.folder.file("large.png")
            try Data("x".utf8).write(to: URL(filePath: path))
            #expect(unsafe truncate(path, 256 << 20) == 0)
            let client = try running.client()
            client.send("GET /large.png HTTP/1.1\r\nHost: localhost\r\n\r\n")
            // Longer than a head: the client has the file's Content-Length.
            try await eventually { running.service.statistics.bytesSent >= 1000 }
            #expect(unsafe truncate(path, 0) == 0)
            #expect(client.readToEnd().count < 256 << 20)
            #expect(try running.client().get("/a.png").text == "a")
        }
    }
}
