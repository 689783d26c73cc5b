import FoundationEssentials
import Glibc
import TestSupport
import TestTraits
import Testing

@testable import LazyImages

@Suite("SpooledStream", .bounded)
struct SpooledStreamTests {
    private let folder: TemporaryFolder

    init() throws { folder = try TemporaryFolder() }

    private struct NoShell: Error {}

    /// A stream that delivers these pieces one by one.
    private func stream(_ pieces: [[UInt8]]) throws -> SpooledStream {
        let script = pieces.indices.map { "cat '\(folder.file("\($0)"))'" }.joined(separator: "; ")
        for (index, piece) in pieces.enumerated() {
            try Data(piece).write(to: URL(filePath: folder.file("\(index)")))
        }
        guard let pipe = unsafe popen(script.isEmpty ? "true" : script, "r") else { throw NoShell() }
        defer { unsafe pclose(pipe) }
        return try SpooledStream(unsafe fileno(pipe), folder: folder.path)
    }

    @Test("a stream's bytes are kept to its end, and its file has no name")
    func bytes() throws {
        let pieces = [[UInt8](repeating: 1, count: 70_000), [2], [UInt8](repeating: 3, count: 200_000)]
        let stream = try stream(pieces)
        #expect(stream.count == 270_001)
        let kept = try unsafe [UInt8](unsafeUninitializedCapacity: stream.count) { bytes, count in
            try unsafe stream.read(at: 0, into: UnsafeMutableRawBufferPointer(bytes))
            count = bytes.count
        }
        #expect(kept == pieces.flatMap(\.self))
        #expect(try self.stream([]).count == 0)
        #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path).sorted() == ["0", "1", "2"])
    }

    @Test("a stream is sent whole, alone and in a form, and again after a redirect")
    func sent() async throws {
        let body = variedBytes(300_000)
        let stream = try stream([body])
        let origin = try ScriptedOrigin([
            .readHead, .readBody,
            .send("HTTP/1.1 307 Moved\r\nLocation: /x\r\nContent-Length: 0\r\n\r\n"),
            .forever([.readHead, .readBody, .send("HTTP/1.1 204 No Content\r\n\r\n")]),
        ])
        let uploader = Uploader(FileLoader.ephemeral())
        let alone = UploadRequest(url: origin.url("/a"), .put, .stream(stream, mediaType: "a/b"))
        #expect(try await uploader.upload(alone).status == 204)
        #expect(origin.bodies == [body, body])
        #expect(origin.heads[0].contains("Content-Type: a/b"))
        let part = FormPart.file("f", stream: stream, fileName: "n", mediaType: "a/b")
        let form = UploadRequest(url: origin.url("/x"), .put, .form([.field("k", "v"), part]))
        #expect(try await uploader.upload(form).status == 204)
        let sent = try #require(origin.bodies.last)
        #expect(sent.contains(sequence: body) && sent.count > body.count)
    }

    @Test("a stream that cannot be read is an error, and so is a folder that cannot be written")
    func faults() throws {
        #expect(throws: ImageLoadingError.self) { try SpooledStream(-1, folder: folder.path) }
        let error = #expect(throws: ImageLoadingError.self) { try SpooledStream(0, folder: "/nowhere") }
        #expect(error?.code == "storage-failed")
    }

    @Test("fields are url-encoded as in forms")
    func urlEncoded() throws {
        let body = UploadBody.urlEncoded([("a b", "c&d=é"), ("e", ""), ("e", "1+1")])
        #expect(body.mediaType == "application/x-www-form-urlencoded")
        let open = try body.open()
        let text = String(decoding: try open.bytes(at: 0, limit: open.count), as: UTF8.self)
        #expect(text == "a%20b=c%26d%3D%C3%A9&e=&e=1%2B1")
    }
}
