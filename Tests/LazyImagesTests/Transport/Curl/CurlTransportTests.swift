import FoundationEssentials
import TestSupport
import TestTraits
import Testing

import LazyImages

/// Successful transfers and their connections, over real sockets.
@Suite("CurlTransport", .bounded, .ownThread)
struct CurlTransportTests {
    private let transport = CurlTransport()
    private let receiver = RecordingReceiver()

    @Test("a plain GET sends its fields and receives head and body")
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

    @Test("a transfer reports its phases, its bytes, and whether it reused a connection")
    func metrics() async throws {
        let origin = try ScriptedOrigin(.answering([1, 2, 3]))
        for _ in 0..<2 {
            _ = try await transport.perform(origin.request(), into: receiver)
        }
        let (first, second) = (receiver.metrics[0], receiver.metrics[1])
        #expect(receiver.metrics.count == 2)
        #expect(first.protocolVersion == "HTTP/1.1" && first.bytes == 3 && second.bytes == 3)
        #expect(!first.isReused && second.isReused)
        #expect(first.connect > .zero && first.secureConnect == .zero)
        #expect(first.connect <= first.firstByte && first.firstByte <= first.total)
    }

    @Test("a failed transfer is measured too")
    func metricsOfFailure() async throws {
        let origin = try ScriptedOrigin([
            .readHead, .send("HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nabc"),
        ])
        await #expect(throws: ImageLoadingError.self) {
            _ = try await transport.perform(origin.request(), into: receiver)
        }
        #expect(receiver.metrics.map(\.bytes) == [3])
    }

    @Test("a request through a proxy names its whole URL")
    func proxy() async throws {
        let proxy = try ScriptedOrigin(.answering([1]))
        let transport = CurlTransport(configuration: .init(proxy: .url(proxy.url("").absoluteString)))
        let url = try URL(typed: "http://away.example/a.png")
        _ = try await transport.perform(TransportRequest(url: url), into: receiver)
        #expect(proxy.heads.map { $0.prefix { $0 != "\r\n" } } == ["GET http://away.example/a.png HTTP/1.1"])
        #expect(receiver.bytes == [1])
    }

    @Test("a proxy that refuses a secure connection is an error, and its answer is not an image")
    func refusingProxy() async throws {
        let proxy = try ScriptedOrigin([
            .readHead, .send("HTTP/1.1 403 Forbidden\r\nContent-Length: 2\r\n\r\nno"),
        ])
        let transport = CurlTransport(configuration: .init(proxy: .url(proxy.url("").absoluteString)))
        let request = TransportRequest(url: try URL(typed: "https://away.example/a.png"))
        let code = await transport.error(for: request, into: receiver)?.code
        #expect(code == "connection-lost" || code == "connection-failed")
        #expect(proxy.heads[0].hasPrefix("CONNECT away.example:443 "))
        #expect(receiver.heads.isEmpty)
    }

    @Test("one connection serves many requests in turn")
    func keepAlive() async throws {
        let origin = try ScriptedOrigin(.answering([1, 2, 3]))
        for _ in 0..<50 { _ = try await get(origin) }
        #expect(origin.connections.count == 1)
        #expect(origin.heads.count == 50)
    }

    @Test("an error's body and an empty body leave their connection to the next request")
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

    @Test("a receiver that wants no body gets the head and frees the connection")
    func noBodyWanted() async throws {
        let origin = try ScriptedOrigin([
            .readHead, .send("HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\n"), .awaitClose,
        ])
        let receiver = RecordingReceiver(wantsBody: false)
        #expect(
            try await transport.perform(origin.request(), into: receiver).status == 200)
        try await origin.closed.wait(for: 1)
        #expect(receiver.bytes.isEmpty)
    }

    @Test("a receiver that has enough ends the transfer")
    func enough() async throws {
        let origin = try ScriptedOrigin([
            .readHead, .send("HTTP/1.1 200 OK\r\n\r\n"),
            .forever([.sendBytes([UInt8](repeating: 7, count: 1000))]),
        ])
        let receiver = RecordingReceiver(limit: 5000)
        #expect(
            try await transport.perform(origin.request(), into: receiver).status == 200)
        try await origin.closed.wait(for: 1)
        #expect(receiver.bytes.count >= 5000)
    }

    @Test("the error says when no server listens")
    func refusedConnection() async throws {
        let closed = try ClosedPort()
        let url = try URL(typed: "http://127.0.0.1:\(closed.port)/a.png")
        let error = await failure(url)
        #expect(error == .connectionFailed(url: url.absoluteString, reason: "Connection refused"))
    }

    @Test("the error names a host that has no address")
    func unknownHost() async throws {
        let url = try URL(typed: "http://nothing.invalid/a.png")
        #expect(await failure(url) == .hostNotFound(url: url.absoluteString, host: "nothing.invalid"))
    }

    @Test("each of 200 concurrent transfers gets its own bytes")
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
                    _ = try await transport.perform(origin.request(), into: receiver)
                    let number = receiver.bytes.count - 1000
                    #expect(receiver.bytes.allSatisfy { $0 == UInt8(truncatingIfNeeded: number) })
                }
            }
            try await origin.requests.wait(for: 200)
            gate.open()
            try await group.waitForAll()
        }
        #expect(origin.connections.count == 200)
    }

    private func get(_ origin: ScriptedOrigin) async throws -> ResponseHead {
        try await transport.perform(origin.request(), into: receiver)
    }

    private func failure(_ url: URL) async -> ImageLoadingError? {
        // The test does not measure the time of the name service.
        await transport.error(for: TransportRequest(url: url, timeouts: .patient), into: receiver)
    }
}
