import FoundationEssentials
import Glibc
import TestSupport
import TestTraits
import Testing

@testable import LazyImages

/// Requests with methods and bodies over real sockets.
@Suite("CurlTransport, methods and bodies", .bounded, .ownThread)
struct CurlUploadTests {
    private let transport = CurlTransport()
    private let receiver = RecordingReceiver()
    private let folder: TemporaryFolder

    init() throws { folder = try TemporaryFolder() }

    private func request(
        _ origin: ScriptedOrigin, _ method: RequestMethod, _ body: UploadBody?, timeouts: Timeouts = .patient
    ) throws -> TransportRequest {
        var request = TransportRequest(url: origin.url("/films"), timeouts: timeouts)
        request.method = method
        request.body = try body?.open()
        return request
    }

    private func lines(_ origin: ScriptedOrigin) -> [Substring] { origin.heads[0].split(separator: "\r\n") }

    @Test(
        "every method sends its body and the body's length",
        arguments: ["POST", "PUT", "PATCH", "DELETE"])
    func methods(name: String) async throws {
        let origin = try ScriptedOrigin(.acceptingBodies(status: "201 Created", answer: "yes"))
        let head = try await transport.perform(
            request(origin, RequestMethod(rawValue: name), .bytes(Array("film".utf8))), into: receiver)
        #expect(head.status == 201 && receiver.bytes == Array("yes".utf8))
        #expect(lines(origin)[0] == "\(name) /films HTTP/1.1")
        #expect(lines(origin).contains("Content-Length: 4"))
        #expect(!origin.heads[0].lowercased().contains("expect"))
        #expect(origin.bodies == [Array("film".utf8)])
        #expect(receiver.sent.last == 4 && receiver.metrics.map(\.sent) == [4])
    }

    @Test(
        "a POST without a body sends a length of 0, a DELETE and a GET send none, and a HEAD waits for no body"
    )
    func withoutBody() async throws {
        let origin = try ScriptedOrigin([
            .readHead, .send("HTTP/1.1 204 No Content\r\n\r\n"),
            .readHead, .send("HTTP/1.1 204 No Content\r\n\r\n"),
            .readHead, .send("HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\n"),
            .readHead, .send("HTTP/1.1 200 OK\r\nContent-Length: 1\r\n\r\nx"),
        ])
        for method in [RequestMethod.post, .delete, .head, .get] {
            _ = try await transport.perform(request(origin, method, nil), into: receiver)
        }
        #expect(origin.heads.map { $0.prefix { $0 != " " } } == ["POST", "DELETE", "HEAD", "GET"])
        #expect(origin.heads.map { $0.contains("Content-Length: 0") } == [true, false, false, false])
        #expect(receiver.bytes == Array("x".utf8))
        #expect(origin.connections.count == 1)
    }

    @Test("a body above one MiB waits for 100 Continue, a smaller one is sent at once", arguments: [0, 1])
    func expectation(more: Int) async throws {
        let count = 1024 * 1024 + more
        let answer = ScriptedOrigin.Step.send("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n")
        let origin = try ScriptedOrigin(
            [.readHead]
                + (more > 0 ? [.send("HTTP/1.1 100 Continue\r\n\r\n")] : []) + [.readBody, answer])
        let body = variedBytes(count)
        let path = folder.file("body")
        try Data(body).write(to: URL(filePath: path))
        _ = try await transport.perform(request(origin, .put, .file(path)), into: receiver)
        #expect(origin.heads[0].contains("Expect: 100-continue") == (more > 0))
        #expect(origin.bodies == [body])
        // The body is read in pieces of at most 64 KiB.
        #expect(zip([0] + receiver.sent, receiver.sent).allSatisfy { $1 - $0 <= 64 * 1024 })
    }

    @Test("a server that refuses a large body early gets none of it")
    func refusedBeforehand() async throws {
        let origin = try ScriptedOrigin([
            .readHead,
            .send("HTTP/1.1 413 Content Too Large\r\nContent-Length: 0\r\nConnection: close\r\n\r\n"),
            .awaitClose,
        ])
        let body = [UInt8](repeating: 1, count: 4 * 1024 * 1024)
        let head = try await transport.perform(request(origin, .post, .bytes(body)), into: receiver)
        #expect(head.status == 413 && receiver.metrics[0].sent == 0)
    }

    @Test("a form's parts are sent as browsers send them")
    func form() async throws {
        let origin = try ScriptedOrigin(.acceptingBodies())
        let path = folder.file("a \"b\".jpg")
        try Data([1, 2, 3]).write(to: URL(filePath: path))
        let body = UploadBody.form(
            [.field("ti\r\ntle", "El Camión"), .file("poster", path: path, mediaType: "image/jpeg\r\nX: y")])
        let type = try #require(body.mediaType)
        #expect(type.hasPrefix("multipart/form-data; boundary="))
        let boundary = type.drop { $0 != "=" }.dropFirst()
        _ = try await transport.perform(request(origin, .post, body), into: receiver)
        let beginning = """
            --\(boundary)\r
            Content-Disposition: form-data; name="ti%0D%0Atle"\r
            \r
            El Camión\r
            --\(boundary)\r
            Content-Disposition: form-data; name="poster"; filename="a %22b%22.jpg"\r
            Content-Type: image/jpegX: y\r
            \r\n
            """
        #expect(origin.bodies == [Array(beginning.utf8) + [1, 2, 3] + Array("\r\n--\(boundary)--\r\n".utf8)])
    }

    @Test("a file that grows, shrinks or changes while it is sent is an error", arguments: [0, 1, 2])
    func changed(how: Int) async throws {
        let path = folder.file("body")
        try Data([UInt8](repeating: 1, count: 300_000)).write(to: URL(filePath: path))
        let origin = try ScriptedOrigin([.forever([.readHead, .readBody, .send("HTTP/1.1 200 OK\r\n\r\n")])])
        let request = try request(origin, .put, .file(path))
        let file = unsafe open(path, O_WRONLY | (how == 0 ? O_APPEND : 0))
        if how == 1 { ftruncate(file, 100_000) } else { unsafe _ = write(file, "x", 1) }
        // A write within one tick of the system's clock would not show.
        unsafe futimens(file, [timespec(tv_sec: 1, tv_nsec: 0), timespec(tv_sec: 1, tv_nsec: 0)])
        close(file)
        await #expect(throws: ImageLoadingError.fileChanged(path: path)) {
            _ = try await transport.perform(request, into: receiver)
        }
        #expect(origin.bodies.isEmpty)
    }

    @Test("a path that is not a readable file is an error before anything is sent")
    func unreadable() throws {
        for (path, reason) in [
            (folder.file("none"), "No such file or directory"), (folder.path, "it is a folder"),
            ("/dev/null", "it is not a regular file"),
        ] {
            #expect(throws: ImageLoadingError.unreadableFile(path: path, reason: reason)) {
                _ = try UploadBody.file(path).open()
            }
        }
    }

    @Test(
        "when the server closes a reused connection under a request, it is sent again only if it may arrive twice",
        arguments: [
            (RequestMethod.put, [1, 2, 3], Bool?.none, 3, true), (.post, [1, 2, 3], nil, 2, false),
            (.post, [], nil, 2, true), (.put, [1, 2, 3], false, 2, false), (.put, [], false, 2, true),
            (.post, [1, 2, 3], true, 3, true), (.post, [], true, 3, true),
        ])
    func closedUnderRequest(
        method: RequestMethod, body: [UInt8], mayBeRepeated: Bool?, requests: Int, isAnswered: Bool
    ) async throws {
        let origin = try ScriptedOrigin([
            .readHead, .readBody, .send("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n"), .readHead, .readBody,
        ])
        _ = try await transport.perform(request(origin, .get, nil), into: receiver)
        do throws(ImageLoadingError) {
            var request = try sending(method, body, to: origin)
            request.mayBeRepeated = mayBeRepeated
            _ = try await transport.perform(request, into: receiver)
            #expect(isAnswered)
        } catch {
            #expect(error.code == "connection-lost" && !isAnswered)
        }
        // An empty request that must not arrive twice uses a new connection, where the server answers.
        #expect(origin.requests.count == requests)
    }

    private func sending(
        _ method: RequestMethod, _ body: [UInt8], to origin: ScriptedOrigin
    ) throws(ImageLoadingError) -> TransportRequest {
        var request = TransportRequest(url: origin.url("/films"), timeouts: .patient)
        request.method = method
        request.body = try UploadBody.bytes(body).open()
        return request
    }

    @Test(
        "a server that stops reading is a stall; one that has the body and does not answer exceeds the time to the first byte"
    )
    func timeouts() async throws {
        let origin = try ScriptedOrigin([.readHead, .readSome(1), .awaitClose])
        let deaf = try ScriptedOrigin([.readHead, .wait(Gate())])
        let body = UploadBody.bytes([UInt8](repeating: 1, count: 64 * 1024))
        let large = UploadBody.bytes([UInt8](repeating: 1, count: 64 * 1024 * 1024))
        var limits = Timeouts.patient
        limits.firstByte = .milliseconds(80)
        #expect(await phase(try request(origin, .put, body, timeouts: limits)) == .firstByte)
        limits = .patient
        limits.stall = .milliseconds(80)
        #expect(await phase(try request(deaf, .put, large, timeouts: limits)) == .stall)
    }

    private func phase(_ request: TransportRequest) async -> Timeouts.Phase? {
        do {
            _ = try await transport.perform(request, into: receiver)
            return nil
        } catch {
            guard case .timedOut(_, let phase, _) = error else { return nil }
            return phase
        }
    }
}
