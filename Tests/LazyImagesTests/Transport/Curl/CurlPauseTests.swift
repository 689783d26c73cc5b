import SystemSupport
import TestSupport
import TestTraits
import Testing

import LazyImages

@Suite("CurlTransport: pauses", .bounded)
struct CurlPauseTests {
    private let transport = CurlTransport()

    enum Framing: CaseIterable { case length, chunks, close }

    @Test(
        "a receiver that makes it wait before every piece gets each byte once",
        arguments: [false, true], Framing.allCases)
    func everyPiece(resumesAtOnce: Bool, framing: Framing) async throws {
        let body = variedBytes(1_000_000)
        let threads = BlockingThreads(count: 1)
        let receiver = PausingReceiver { receiver in
            // Ignored: a test that gets no thread ends at its time limit.
            if resumesAtOnce { receiver.resume(1) } else { try? threads.enqueue { receiver.resume(1) } }
        }
        let origin = try ScriptedOrigin([.readHead, .sendBytes(Self.answer(body, framing))])
        #expect(try await transport.perform(origin.request(), into: receiver).status == 200)
        let isWhole = receiver.bytes == body
        #expect(isWhole)
        // libcurl's pieces have at most 64 KiB.
        #expect(receiver.pauses.count > 15)
    }

    @Test("while a transfer is paused the others continue, and its stall timeout does not run")
    func stall() async throws {
        let timeouts = Timeouts(
            connect: .seconds(600), firstByte: .seconds(600), stall: .milliseconds(80), total: .seconds(600))
        let origin = try ScriptedOrigin([
            .readHead, .send("HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nabc"), .awaitClose,
        ])
        let request = TransportRequest(url: origin.url(), timeouts: timeouts)
        let (paused, other) = (PausingReceiver(), RecordingReceiver())
        let outcome = Task { await transport.error(for: request, into: paused) }
        try await paused.pauses.wait(for: 1)
        // Its last byte comes after that of the paused one. When it has stalled, the paused one would have.
        let stalled = ImageLoadingError.timedOut(
            url: origin.url().absoluteString, phase: .stall, seconds: 0.08)
        #expect(await transport.error(for: request, into: other) == stalled)
        #expect(other.bytes == Array("abc".utf8))
        paused.resume()
        #expect(await outcome.value == stalled)
        #expect(paused.bytes == Array("abc".utf8))
    }

    @Test("the total timeout ends a paused transfer")
    func total() async throws {
        let origin = try ScriptedOrigin([
            .readHead, .sendBytes(Self.answer([1, 2, 3], .length)), .awaitClose,
        ])
        var timeouts = Timeouts.patient
        timeouts.total = .milliseconds(80)
        let request = TransportRequest(url: origin.url(), timeouts: timeouts)
        #expect(
            await transport.error(for: request, into: PausingReceiver())
                == .timedOut(url: origin.url().absoluteString, phase: .total, seconds: 0.08))
        try await eventually { origin.closed.count == origin.connections.count }
    }

    @Test("cancelling a paused transfer frees its connection; a late resume concerns no other transfer")
    func cancelled() async throws {
        let origin = try ScriptedOrigin { number in
            number < 2
                ? [.readHead, .send("HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nabc"), .awaitClose]
                : .answering([1])
        }
        let (first, second) = (PausingReceiver(), PausingReceiver())
        let cancelled = Task { await transport.error(for: origin.request(), into: first) }
        try await first.pauses.wait(for: 1)
        cancelled.cancel()
        #expect(await cancelled.value?.code == "cancelled")
        try await origin.closed.wait(for: 1)
        // Gets the first one's handle.
        let other = Task { await transport.error(for: origin.request(), into: second) }
        try await second.pauses.wait(for: 1)
        first.resume()
        // The thread has read the late message when this transfer has ended.
        #expect(await transport.error(for: origin.request(), into: RecordingReceiver()) == nil)
        #expect(first.bytes.isEmpty && second.bytes.isEmpty && second.pauses.count == 1)
        other.cancel()
        #expect(await other.value?.code == "cancelled")
    }

    @Test("a receiver that wants no more after a pause ends the transfer with success")
    func enough() async throws {
        let origin = try ScriptedOrigin([
            .readHead, .send("HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nabc"), .awaitClose,
        ])
        let receiver = PausingReceiver(limit: 3) { $0.resume() }
        #expect(await transport.error(for: origin.request(), into: receiver) == nil)
        #expect(receiver.bytes == Array("abc".utf8))
        try await origin.closed.wait(for: 1)
    }

    private static func answer(_ body: [UInt8], _ framing: Framing) -> [UInt8] {
        let field =
            switch framing {
            case .length: "Content-Length: \(body.count)"
            case .chunks: "Transfer-Encoding: chunked"
            case .close: "Connection: close"
            }
        var answer = Array("HTTP/1.1 200 OK\r\n\(field)\r\n\r\n".utf8)
        guard framing == .chunks else { return answer + body }
        for start in stride(from: 0, to: body.count, by: 30_000) {
            let chunk = body[start..<min(start + 30_000, body.count)]
            answer += Array("\(String(chunk.count, radix: 16))\r\n".utf8) + chunk + Array("\r\n".utf8)
        }
        return answer + Array("0\r\n\r\n".utf8)
    }
}

/// Takes as many pieces of the body as it was allowed to. Makes the transfer wait before others.
private final class PausingReceiver: BodyReceiver {
    private struct State {
        var bytes: [UInt8] = []
        var allowed = 0
        var resume: (@Sendable () -> Void)?
    }

    private let limit: Int
    private let whenPaused: @Sendable (PausingReceiver) -> Void
    private let state = Lock(State())
    let pauses = Tally()

    /// - Parameters:
    ///   - limit: the number of bytes after which it stops the transfer.
    ///   - whenPaused: called before `mayContinue` returns false.
    init(limit: Int = .max, whenPaused: @escaping @Sendable (PausingReceiver) -> Void = { _ in }) {
        self.limit = limit
        self.whenPaused = whenPaused
    }

    var bytes: [UInt8] { state.withLock { $0.bytes } }

    /// Continues the transfer for so many pieces.
    func resume(_ pieces: Int = .max) {
        let resume = state.withLock { state in
            state.allowed = pieces
            return state.resume.take()
        }
        resume?()
    }

    func mayContinue(_ resume: @escaping @Sendable () -> Void) -> Bool {
        let mayContinue = state.withLock { state in
            if state.allowed == 0 { state.resume = resume }
            defer { state.allowed = max(0, state.allowed - 1) }
            return state.allowed > 0
        }
        if !mayContinue {
            pauses.add()
            whenPaused(self)
        }
        return mayContinue
    }

    func receive(_ head: ResponseHead) -> Bool { true }

    func receive(_ bytes: Span<UInt8>) -> Bool {
        let copy = [UInt8](copying: bytes)
        return state.withLock { state in
            state.bytes += copy
            return state.bytes.count < limit
        }
    }
}
