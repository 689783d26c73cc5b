import FoundationEssentials
import TestSupport
import TestTraits
import Testing

import LazyImages

@Suite(
    "Uploads to nginx", .bounded,
    .enabled(if: NginxDAV.isInstalled, "nginx with its DAV module is not installed"))
struct NginxUploadTests {
    private let folder: TemporaryFolder
    private let loader: FileLoader
    private let uploader: Uploader

    init() throws {
        folder = try TemporaryFolder()
        loader = FileLoader(
            disk: DiskCache(folder: folder.file("cache")), configuration: .with { $0.timeouts = .patient })
        uploader = Uploader(loader)
    }

    @Test("a file is put, read, replaced and deleted, and the cache never has an outdated file")
    func life() async throws {
        let server = try await NginxDAV()
        let url = server.url("/posters/a.png")
        let path = folder.file("a.png")
        for (bytes, status) in [(SampleImages.png, 201), (SampleImages.jpeg, 204)] {
            try Data(bytes).write(to: URL(filePath: path))
            #expect(try await uploader.upload(UploadRequest(url: url, .put, .file(path))).status == status)
            let cached = ImageRequest(url, cachePolicy: .returnCacheElseLoad)
            for _ in 0..<2 { #expect(try await loader.file(for: cached).bytes.array == bytes) }
        }
        #expect(try await uploader.upload(UploadRequest(url: url, .delete)).status == 204)
        await #expect(throws: ImageLoadingError.httpStatus(url: url.absoluteString, status: 404)) {
            _ = try await loader.file(
                for: ImageRequest(url, cachePolicy: .returnCacheElseLoad))
        }
    }

    @Test("bodies of unusual lengths arrive unchanged, from memory and from a file")
    func lengths() async throws {
        let server = try await NginxDAV()
        for count in [0, 1, 65_535, 65_536, 65_537, 1 << 20, 1 << 20 + 1, 5_000_000] {
            let body = Data(variedBytes(count))
            let path = folder.file("\(count)")
            try body.write(to: URL(filePath: path))
            for (name, sent) in [("bytes", UploadBody.bytes([UInt8](body))), ("file", .file(path))] {
                let target = "/\(name)-\(count)"
                let response = try await uploader.upload(
                    UploadRequest(url: server.url(target), .put, sent))
                #expect(response.status == 201)
                #expect(server.contents(target) == body)
            }
        }
    }

    @Test("an upload that is cancelled half-way leaves nothing at the server")
    func cancelled() async throws {
        let server = try await NginxDAV()
        let path = folder.file("sparse")
        _ = Shell.output("truncate -s 1G '\(path)'")
        let task = uploader.task(for: UploadRequest(url: server.url("/half"), .put, .file(path)))
        for await progress in task.progress where progress.sent > 1 << 20 {
            #expect(progress.sent < progress.total)
            task.cancel()
        }
        await #expect(throws: ImageLoadingError.self) { _ = try await task.value }
        try await eventually { server.unfinishedBodies.isEmpty }
        #expect(!FileManager.default.fileExists(atPath: server.file("/half")))
    }
}
