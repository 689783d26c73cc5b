import FoundationEssentials
import TestSupport
import Testing

@testable import LazyImages

@Suite("CurlTransport: timeouts", .timeLimit(.minutes(30)))
struct CurlTimeoutTests {
    private let transport = CurlTransport()

    @Test("a server that accepts and does not answer runs out of the time to the first byte")
    func firstByte() async throws {
        let origin = try ScriptedOrigin([.readHead, .awaitClose])
        #expect(await failure(origin, Timeouts(firstByte: .milliseconds(80))) == .firstByte)
        try await origin.closed.reaches(1)
    }

    @Test(
        "one that stops in the header, or in the body, has stalled",
        arguments: ["HTTP/1.1 200 OK\r\nX", "HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nabc"])
    func stall(answer: String) async throws {
        // The end of a header line is what counts as an arrival.
        let origin = try ScriptedOrigin([.readHead, .send(answer), .awaitClose])
        // Were it looked for only when another timeout runs out, this test would take too long.
        let timeouts = Timeouts(
            connect: .seconds(600), firstByte: .seconds(600), stall: .milliseconds(80), total: .seconds(600))
        #expect(await failure(origin, timeouts) == .stall)
        try await origin.closed.reaches(1)
    }

    @Test("one that never ends runs out of the time for all of it")
    func total() async throws {
        let origin = try ScriptedOrigin([
            .readHead, .send("HTTP/1.1 200 OK\r\n\r\n"),
            .forever([.sendBytes([UInt8](repeating: 7, count: 1000))]),
        ])
        #expect(await failure(origin, Timeouts(total: .milliseconds(100))) == .total)
        try await origin.closed.reaches(1)
    }

    @Test("one that does not take the connection runs out of the time to connect")
    func connect() async throws {
        let origin = try DeafOrigin()
        let url = try URL(typed: "http://127.0.0.1:\(origin.port)/a")
        #expect(await failure(url, Timeouts(connect: .milliseconds(80))) == .connect)
    }

    @Test("the time to the first byte does not run while there is no connection")
    func firstByteWithoutConnection() async throws {
        let origin = try DeafOrigin()
        let url = try URL(typed: "http://127.0.0.1:\(origin.port)/a")
        let timeouts = Timeouts(connect: .milliseconds(150), firstByte: .milliseconds(20))
        #expect(await failure(url, timeouts) == .connect)
    }

    @Test("a timeout says how long it was, and its transfer does not hold up the next")
    func afterwards() async throws {
        let origin = try ScriptedOrigin { number in
            number == 0 ? [.readHead, .awaitClose] : .answering([1])
        }
        let request = TransportRequest(url: origin.url(), timeouts: Timeouts(firstByte: .milliseconds(50)))
        let error = ImageLoadingError.timedOut(
            url: origin.url().absoluteString, phase: .firstByte, seconds: 0.05)
        await #expect(throws: error) { _ = try await transport.perform(request, into: RecordingReceiver()) }
        let next = TransportRequest(url: origin.url())
        #expect(try await transport.perform(next, into: RecordingReceiver()).status == 200)
    }

    @Test("timeouts without end do not overflow")
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
