import FoundationEssentials
import TestSupport
import TestTraits
import Testing

import LazyImages

/// Good and bad answers of real servers, over real sockets.
@Suite("CurlTransport: answers", .bounded)
struct CurlAnswerTests {
    private let transport = CurlTransport()
    private let receiver = RecordingReceiver()

    @Test(
        "unusual but valid answers are understood",
        arguments: [
            (
                "a header without a space after the colon",
                "HTTP/1.1 200 OK\r\nX-Test:yes\r\nContent-Length:3\r\n\r\nabc"
            ),
            ("a status line without a reason", "HTTP/1.1 200\r\nX-Test: yes\r\nContent-Length: 3\r\n\r\nabc"),
            ("bare line feeds", "HTTP/1.1 200 OK\nX-Test: yes\nContent-Length: 3\n\nabc"),
            ("spaces around a value", "HTTP/1.1 200 OK\r\nX-Test: \t yes \t\r\nContent-Length: 3\r\n\r\nabc"),
            (
                "a chunked body",
                "HTTP/1.1 200 OK\r\nX-Test: yes\r\nTransfer-Encoding: chunked\r\n\r\n1\r\na\r\n2\r\nbc\r\n0\r\n\r\n"
            ),
            (
                "a chunked body with a trailer",
                "HTTP/1.1 200 OK\r\nX-Test: yes\r\nTransfer-Encoding: chunked\r\n\r\n3;x=y\r\nabc\r\n0\r\nX-Test: no\r\n\r\n"
            ),
            ("a body that ends with the connection", "HTTP/1.0 200 OK\r\nX-Test: yes\r\n\r\nabc"),
            (
                "interim answers before the real one",
                "HTTP/1.1 103 Early Hints\r\nX-Test: no\r\n\r\nHTTP/1.1 102 Processing\r\n\r\n"
                    + "HTTP/1.1 200 OK\r\nX-Test: yes\r\nContent-Length: 3\r\n\r\nabc"
            ),
        ])
    func inTheWild(what: String, answer: String) async throws {
        let origin = try ScriptedOrigin([.readHead, .send(answer)])
        let head = try await get(origin)
        #expect(head.status == 200, "\(what)")
        #expect(head.fields.values(of: "x-test") == ["yes"], "\(what)")
        #expect(receiver.bytes == Array("abc".utf8), "\(what)")
        #expect(receiver.heads.count == 1, "\(what)")
    }

    @Test("a value in Latin-1 is read as Latin-1, and one in UTF-8 as UTF-8")
    func latin1() async throws {
        let head =
            Array("HTTP/1.1 200 OK\r\nA: Gr".utf8) + [0xF6, 0xDF]
            + Array("e\r\nB: Größe\r\nContent-Length: 0\r\n\r\n".utf8)
        let origin = try ScriptedOrigin([.readHead, .sendBytes(head)])
        let fields = try await get(origin).fields
        #expect(fields["a"] == "Größe")
        #expect(fields["b"] == "Größe")
    }

    @Test(
        "a connection that closes inside the header is an error, not an empty answer",
        arguments: [
            "", "HTTP/1.1", "HTTP/1.1 200 OK\r\n", "HTTP/1.1 200 OK\r\nContent-Type: image/png\r\n",
            "HTTP/1.1 200 OK\r\nContent-Le",
        ])
    func closedInTheHeader(answer: String) async throws {
        let origin = try ScriptedOrigin([.readHead, .send(answer)])
        let error = await failure(origin)
        #expect(
            error
                == .connectionLost(
                    url: origin.url().absoluteString, received: 0,
                    reason: "the server closed it inside the header"))
        #expect(receiver.heads.isEmpty)
    }

    @Test("a truncated body is an error with the number of bytes received")
    func cutBody() async throws {
        let origin = try ScriptedOrigin([
            .readHead, .send("HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nabc"),
        ])
        #expect(
            await failure(origin) == .truncated(url: origin.url().absoluteString, received: 3, expected: 10))
    }

    @Test("a reset connection is an error with that reason")
    func reset() async throws {
        let gate = Gate()
        let origin = try ScriptedOrigin([
            .readHead, .send("HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nabc"), .wait(gate), .reset,
        ])
        async let failing = failure(origin)
        try await receiver.arrivals.wait(for: 2)
        gate.open()
        let error = await failing
        #expect(
            error
                == .connectionLost(
                    url: origin.url().absoluteString, received: 3, reason: "Connection reset by peer"))
    }

    @Test(
        "an answer that is not HTTP is an error",
        arguments: ["SSH-2.0-OpenSSH_9.2\r\n", "HTTP/9.9 200 OK\r\n\r\n"])
    func noHTTP(answer: String) async throws {
        let origin = try ScriptedOrigin([.readHead, .send(answer)])
        #expect(await failure(origin)?.code == "malformed-response")
    }

    private func get(_ origin: ScriptedOrigin) async throws -> ResponseHead {
        try await transport.perform(origin.request(), into: receiver)
    }

    private func failure(_ origin: ScriptedOrigin) async -> ImageLoadingError? {
        await transport.error(for: origin.request(), into: receiver)
    }
}
