import FoundationEssentials
import TestSupport
import Testing

@testable import LazyImages

/// Answers as servers really give them, over real sockets.
@Suite("CurlTransport", .timeLimit(.minutes(1)))
struct CurlTransportTests {
    private let transport = CurlTransport()
    private let receiver = RecordingReceiver()

    @Test("a plain GET brings head and body, and sends what it was given")
    func plain() async throws {
        let origin = try ScriptedOrigin(.answering([1, 2, 3]))
        let request = TransportRequest(
            url: origin.url("/a%2Fb?c=d#e"), fields: ["X-Test": "yes", "Empty": ""])
        let head = try await transport.perform(request, into: receiver)
        #expect(head.status == 200)
        #expect(head.fields["content-type"] == "image/png")
        #expect(head.contentLength == 3)
        #expect(receiver.heads == [head])
        #expect(receiver.bytes == [1, 2, 3])
        let lines = origin.heads[0].split(separator: "\r\n")
        #expect(lines[0] == "GET /a%2Fb?c=d HTTP/1.1")
        #expect(lines.contains("Host: 127.0.0.1:\(origin.port)"))
        #expect(lines.contains("X-Test: yes"))
        #expect(lines.contains("Empty:"))
    }

    @Test("one connection serves many requests, one after the other")
    func keepAlive() async throws {
        let origin = try ScriptedOrigin(.answering([1, 2, 3]))
        for _ in 0..<50 { _ = try await get(origin) }
        #expect(origin.connections.count == 1)
        #expect(origin.heads.count == 50)
    }

    @Test("an error's body and an empty one leave their connection to the next request")
    func keepAliveAfterOthers() async throws {
        let answers = [
            "404 Not Found\r\nContent-Length: 2\r\n\r\nno", "204 No Content\r\n\r\n",
            "304 Not Modified\r\n\r\n",
        ]
        let origin = try ScriptedOrigin([
            .forever(answers.flatMap { [.readHead, .send("HTTP/1.1 \($0)")] })
        ])
        for status in [404, 204, 304, 404] { #expect(try await get(origin).status == status) }
        #expect(origin.connections.count == 1)
    }

    @Test(
        "what servers in the wild write is understood",
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

    @Test("a Latin-1 value is read as such, and UTF-8 as UTF-8")
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
        "a connection that closes inside the header is an error and no empty answer",
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

    @Test("a body cut short is an error that says how much came")
    func cutBody() async throws {
        let origin = try ScriptedOrigin([
            .readHead, .send("HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nabc"),
        ])
        #expect(
            await failure(origin) == .truncated(url: origin.url().absoluteString, received: 3, expected: 10))
    }

    @Test("a chunked body cut short is an error")
    func cutChunks() async throws {
        let origin = try ScriptedOrigin([
            .readHead, .send("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n5\r\nde"),
        ])
        let code = await failure(origin)?.code
        #expect(code == "truncated" || code == "connection-lost")
    }

    @Test("a reset is an error that says so")
    func reset() async throws {
        let gate = Gate()
        let origin = try ScriptedOrigin([
            .readHead, .send("HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nabc"), .wait(gate), .reset,
        ])
        async let failing = failure(origin)
        try await receiver.arrivals.reaches(2)
        gate.open()
        let error = await failing
        #expect(
            error
                == .connectionLost(
                    url: origin.url().absoluteString, received: 3, reason: "Connection reset by peer"))
    }

    @Test(
        "what is no HTTP is an error",
        arguments: ["SSH-2.0-OpenSSH_9.2\r\n", "HTTP/9.9 200 OK\r\n\r\n"])
    func noHTTP(answer: String) async throws {
        let origin = try ScriptedOrigin([.readHead, .send(answer)])
        #expect(await failure(origin)?.code == "malformed-response")
    }

    @Test("a length that is no number promises nothing: the body ends with the connection")
    func absurdLength() async throws {
        let origin = try ScriptedOrigin([
            .readHead, .send("HTTP/1.1 200 OK\r\nContent-Length: 99999999999999999999\r\n\r\nabc"),
        ])
        #expect(try await get(origin).contentLength == nil)
        #expect(receiver.bytes == Array("abc".utf8))
    }

    @Test("the largest length there is stops nothing")
    func largestLength() async throws {
        let origin = try ScriptedOrigin([
            .readHead, .send("HTTP/1.1 200 OK\r\nContent-Length: 9223372036854775807\r\n\r\nabc"),
        ])
        #expect(await failure(origin)?.code == "truncated")
        #expect(receiver.heads[0].contentLength == .max)
    }

    @Test("a header without an end is an error", arguments: [false, true])
    func endlessHeader(isOneLine: Bool) async throws {
        let piece = String(repeating: "x", count: 1000)
        let origin = try ScriptedOrigin([
            .readHead, .send("HTTP/1.1 200 OK\r\nX: "),
            .forever([.send(isOneLine ? piece : "\(piece)\r\nX: ")]),
        ])
        #expect(await failure(origin)?.code == "malformed-response")
        try await origin.closed.reaches(1)
    }

    @Test("a receiver that wants no body frees the connection and has its head")
    func noBodyWanted() async throws {
        let origin = try ScriptedOrigin([
            .readHead, .send("HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\n"), .awaitClose,
        ])
        let receiver = RecordingReceiver(wantsBody: false)
        #expect(
            try await transport.perform(TransportRequest(url: origin.url()), into: receiver).status == 200)
        try await origin.closed.reaches(1)
        #expect(receiver.bytes.isEmpty)
    }

    @Test("a receiver that has enough stops the transfer")
    func enough() async throws {
        let origin = try ScriptedOrigin([
            .readHead, .send("HTTP/1.1 200 OK\r\n\r\n"),
            .forever([.sendBytes([UInt8](repeating: 7, count: 1000))]),
        ])
        let receiver = RecordingReceiver(limit: 5000)
        #expect(
            try await transport.perform(TransportRequest(url: origin.url()), into: receiver).status == 200)
        try await origin.closed.reaches(1)
        #expect(receiver.bytes.count >= 5000)
    }

    @Test("a host of another name is reached where the configuration says, under its own name")
    func connectTo() async throws {
        let origin = try ScriptedOrigin(.answering([1]))
        let mapped = CurlTransport(
            configuration: CurlTransport.Configuration(connectTo: [
                "sample.localhost:80": "127.0.0.1:\(origin.port)"
            ]))
        let url = try URL(typed: "http://sample.localhost/a.png")
        #expect(try await mapped.perform(TransportRequest(url: url), into: receiver).status == 200)
        #expect(origin.heads[0].contains("\r\nHost: sample.localhost\r\n"))
    }

    @Test("nobody listens: the error says so")
    func refusedConnection() async throws {
        let closed = try ClosedPort()
        let url = try URL(typed: "http://127.0.0.1:\(closed.port)/a.png")
        let error = await failure(url)
        #expect(error == .connectionFailed(url: url.absoluteString, reason: "Connection refused"))
    }

    @Test("a host that no name service knows is named")
    func unknownHost() async throws {
        let url = try URL(typed: "http://nothing.invalid/a.png")
        #expect(await failure(url) == .hostNotFound(url: url.absoluteString, host: "nothing.invalid"))
    }

    @Test("200 transfers at once bring each its own bytes")
    func manyAtOnce() async throws {
        let gate = Gate()
        let origin = try ScriptedOrigin { number in
            let body = [UInt8](repeating: UInt8(truncatingIfNeeded: number), count: 1000 + number)
            return [
                .readHead, .wait(gate), .send("HTTP/1.1 200 OK\r\nContent-Length: \(body.count)\r\n\r\n"),
                .sendBytes(body),
            ]
        }
        try await withThrowingTaskGroup { group in
            for _ in 0..<200 {
                group.addTask {
                    let receiver = RecordingReceiver()
                    _ = try await transport.perform(TransportRequest(url: origin.url()), into: receiver)
                    let number = receiver.bytes.count - 1000
                    #expect(receiver.bytes.allSatisfy { $0 == UInt8(truncatingIfNeeded: number) })
                }
            }
            try await origin.requests.reaches(200)
            gate.open()
            try await group.waitForAll()
        }
        #expect(origin.connections.count == 200)
    }

    @Test("a server that is slow with one answer holds up no other")
    func slowAnswer() async throws {
        let origin = try ScriptedOrigin { number in number == 0 ? [.readHead, .awaitClose] : .answering([1]) }
        let slow = Task {
            try await transport.perform(TransportRequest(url: origin.url()), into: RecordingReceiver())
        }
        try await origin.requests.reaches(1)
        #expect(try await get(origin).status == 200)
        slow.cancel()
        _ = await slow.result
    }

    @Test("two transports at once know nothing of each other")
    func twoTransports() async throws {
        let origin = try ScriptedOrigin(.answering([1, 2, 3]))
        let other = CurlTransport()
        for _ in 0..<5 {
            async let one = transport.perform(TransportRequest(url: origin.url()), into: RecordingReceiver())
            async let two = other.perform(TransportRequest(url: origin.url()), into: RecordingReceiver())
            #expect(try await one.status == 200)
            #expect(try await two.status == 200)
        }
        #expect(origin.connections.count == 2)
    }

    private func get(_ origin: ScriptedOrigin) async throws -> ResponseHead {
        try await transport.perform(TransportRequest(url: origin.url()), into: receiver)
    }

    private func failure(_ origin: ScriptedOrigin) async -> ImageLoadingError? { await failure(origin.url()) }

    private func failure(_ url: URL) async -> ImageLoadingError? {
        do throws(ImageLoadingError) {
            _ = try await transport.perform(TransportRequest(url: url), into: receiver)
            return nil
        } catch {
            return error
        }
    }
}
