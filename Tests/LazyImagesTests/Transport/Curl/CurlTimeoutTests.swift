import FoundationEssentials
import TestSupport
import TestTraits
import Testing

import LazyImages

@Suite("CurlTransport: timeouts", .bounded)
struct CurlTimeoutTests {
    private let transport = CurlTransport()

    @Test("a server that accepts and does not answer exceeds the time to the first byte")
    func firstByte() async throws {
        let origin = try ScriptedOrigin([.readHead, .awaitClose])
        #expect(await failure(origin, Timeouts(firstByte: .milliseconds(80))) == .firstByte)
        try await origin.closed.wait(for: 1)
    }

    @Test(
        "a server that stops in the header or in the body has stalled",
        arguments: ["HTTP/1.1 200 OK\r\nX", "HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nabc"])
    func stall(answer: String) async throws {
        // Only the end of a header line counts as progress.
        let origin = try ScriptedOrigin([.readHead, .send(answer), .awaitClose])
        // This test would take too long if the stall were checked only when another timeout expires.
        let timeouts = Timeouts(
            connect: .seconds(600), firstByte: .seconds(600), stall: .milliseconds(80), total: .seconds(600))
        #expect(await failure(origin, timeouts) == .stall)
        try await origin.closed.wait(for: 1)
    }

    @Test("a server whose answer never ends exceeds the total time")
    func total() async throws {
        let origin = try ScriptedOrigin([
            .readHead, .send("HTTP/1.1 200 OK\r\n\r\n"),
            .forever([.sendBytes([UInt8](repeating: 7, count: 1000))]),
        ])
        #expect(await failure(origin, Timeouts(total: .milliseconds(100))) == .total)
        // On a busy machine the time may pass before there is a connection.
        try await eventually { origin.closed.count == origin.connections.count }
    }

    @Test("a server that does not accept the connection exceeds the time to connect")
    func connect() async throws {
        let origin = try BlackHolePort()
        let url = try URL(typed: "http://127.0.0.1:\(origin.port)/a")
        #expect(await failure(url, Timeouts(connect: .milliseconds(80))) == .connect)
    }

    @Test("the time to the first byte starts only once there is a connection")
    func firstByteWithoutConnection() async throws {
        let origin = try BlackHolePort()
        let url = try URL(typed: "http://127.0.0.1:\(origin.port)/a")
        let timeouts = Timeouts(connect: .milliseconds(150), firstByte: .milliseconds(20))
        #expect(await failure(url, timeouts) == .connect)
    }

    @Test("infinite timeouts do not overflow")
    func forever() async throws {
        let origin = try ScriptedOrigin(.answering([1]))
        let timeouts = Timeouts(each: Duration(secondsComponent: .max, attosecondsComponent: 0))
        let request = TransportRequest(url: origin.url(), timeouts: timeouts)
        #expect(try await transport.perform(request, into: RecordingReceiver()).status == 200)
    }

    private func failure(_ origin: ScriptedOrigin, _ timeouts: Timeouts) async -> Timeouts.Phase? {
        await failure(origin.url(), timeouts)
    }

    private func failure(_ url: URL, _ timeouts: Timeouts) async -> Timeouts.Phase? {
        do throws(ImageLoadingError) {
            let request = TransportRequest(url: url, timeouts: timeouts)
            _ = try await transport.perform(request, into: RecordingReceiver())
            return nil
        } catch {
            guard case .timedOut(_, let phase, _) = error else { return nil }
            return phase
        }
    }
}
