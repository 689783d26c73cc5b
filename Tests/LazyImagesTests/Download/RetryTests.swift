import FoundationEssentials
import TestSupport
import TestTraits
import Testing

import LazyImages

@Suite("Retries", .bounded)
struct RetryTests {
    private let transport = HeldTransport()
    private let pauses = PauseClock()
    private let request: ImageRequest

    init() throws { request = ImageRequest("http://localhost/a.png") }

    @Test(
        "a busy server is retried after growing pauses",
        arguments: [408, 425, 429, 500, 502, 503, 504])
    func busy(status: Int) async throws {
        let caller = try await downloader().callers(1, of: request)
        try await transport.transfer(0).answer([], status: status)
        try await transport.transfer(1).answer([], status: status)
        try await transport.transfer(2).answer(SampleImages.png)
        #expect(await caller.outcomes[0].error == nil)
        #expect(pauses.all == [.milliseconds(100), .milliseconds(200)])
    }

    @Test("the error of the last attempt is thrown")
    func lastTry() async throws {
        let caller = try await downloader().callers(1, of: request)
        for index in 0..<3 { try await transport.transfer(index).answer([], status: 503) }
        #expect(await caller.outcomes[0].error == .httpStatus(url: "http://localhost/a.png", status: 503))
        #expect(transport.started.count == 3)
    }

    @Test("a lost connection is retried, and its bytes are not joined to the new ones")
    func connectionLost() async throws {
        let caller = try await downloader().callers(1, of: request)
        let first = try await transport.transfer(0)
        first.respond(200)
        first.send(Array(SampleImages.png.prefix(30)))
        first.fail(.connectionLost(url: "", received: 30, reason: ""))
        try await transport.transfer(1).answer(SampleImages.png)
        #expect(try await caller.outcomes[0].get().bytes.array == SampleImages.png)
    }

    @Test("RFC 9110 section 10.2.3: a Retry-After is obeyed, and one above the limit ends the attempts")
    func retryAfter() async throws {
        let caller = try await downloader().callers(1, of: request)
        try await transport.transfer(0).answer([], status: 429, fields: ["Retry-After": "7"])
        try await transport.transfer(1).answer([], status: 503, fields: ["Retry-After": "3600"])
        #expect(await caller.outcomes[0].error?.code == "http-status")
        #expect(pauses.all == [.seconds(7)] && transport.started.count == 2)
    }

    @Test("all attempts share the total time, and there is no attempt after it")
    func totalTime() async throws {
        let caller = try await downloader().callers(1, of: request)
        let lost = ImageLoadingError.connectionLost(url: "", received: 1, reason: "")
        let first = try await transport.transfer(0)
        #expect(first.request.timeouts.total == .seconds(300))
        pauses.advance(by: .seconds(299))
        first.fail(lost)
        let second = try await transport.transfer(1)
        #expect(second.request.timeouts.total == .seconds(1))
        pauses.advance(by: .seconds(2))
        second.fail(lost)
        #expect(await caller.outcomes[0].error?.code == "connection-lost")
        #expect(transport.started.count == 2)
    }

    @Test("the error of an exceeded total time has the configured time, and is not retried")
    func totalTimeRanOut() async throws {
        let caller = try await downloader().callers(1, of: request)
        let first = try await transport.transfer(0)
        pauses.advance(by: .seconds(100))
        first.fail(.connectionLost(url: "", received: 1, reason: ""))
        try await transport.transfer(1).fail(.timedOut(url: "", phase: .total, seconds: 200))
        #expect(
            await caller.outcomes[0].error
                == .timedOut(url: "http://localhost/a.png", phase: .total, seconds: 300))
        #expect(transport.started.count == 2)
    }

    @Test("redirects share the total time")
    func totalTimeOfRedirects() async throws {
        let caller = try await downloader().callers(1, of: request)
        let first = try await transport.transfer(0)
        pauses.advance(by: .seconds(200))
        first.answer([], status: 302, fields: ["Location": "/b.png"])
        let second = try await transport.transfer(1)
        #expect(second.request.timeouts.total == .seconds(100))
        second.answer(SampleImages.png)
        #expect(await caller.outcomes[0].error == nil)
    }

    @Test("cancelling during a pause ends the transfer at once")
    func cancellation() async throws {
        var configuration = ImageDownloader.Configuration()
        let (sleeping, woken) = (Tally(), Tally())
        configuration.timing.sleep = { _ in
            sleeping.add()
            defer { woken.add() }
            try await Tally().wait(for: 1)
        }
        let downloader = ImageDownloader(transport: transport, configuration: configuration)
        let caller = try await downloader.callers(1, of: request)
        try await transport.transfer(0).answer([], status: 503)
        try await sleeping.wait(for: 1)
        caller.tasks[0].cancel()
        #expect(await caller.outcomes[0].error?.code == "cancelled")
        try await woken.wait(for: 1)
        #expect(transport.started.count == 1)
        #expect(downloader.transferCount == 0)
    }

    @Test("a transfer frees its slot during a pause")
    func place() async throws {
        var configuration = ImageDownloader.Configuration()
        configuration.transfers = 1
        let pause = Tally()
        configuration.timing.sleep = { _ in try await pause.wait(for: 1) }
        let downloader = ImageDownloader(transport: transport, configuration: configuration)
        let first = try await downloader.callers(1, of: request)
        try await transport.transfer(0).answer([], status: 503)
        let second = try await downloader.callers(1, of: ImageRequest("http://localhost/b.png"))
        try await transport.transfer(1).answer(SampleImages.png)
        #expect(await second.outcomes[0].error == nil)
        pause.add()
        try await transport.transfer(2).answer(SampleImages.png)
        #expect(await first.outcomes[0].error == nil)
    }

    @Test(
        "a dead host's circuit opens, one probe runs after the pause, and the circuit closes when the host answers"
    )
    func deadHost() async throws {
        let isDead = Shared(true)
        let transport = HeldTransport { request in
            isDead.value
                ? HeldTransport.Answer.failure(
                    .connectionFailed(url: request.url.displayText, reason: "refused"))
                : HeldTransport.Answer(SampleImages.png)
        }
        var configuration = ImageDownloader.Configuration()
        configuration.timing = pauses.timing
        configuration.retry = RetryPolicy(attempts: 1, failuresOfHost: 3, pauseOfHost: .seconds(2))
        let downloader = ImageDownloader(transport: transport, configuration: configuration)
        func load(_ count: Int) async throws -> [String?] {
            var codes: [String?] = []
            for number in 0..<count {
                let request = ImageRequest("http://dead.localhost/\(number)")
                codes.append(await downloader.unjoinedCallers(of: request).outcomes[0].error?.code)
            }
            return codes
        }
        #expect(try await load(100) == [String?](repeating: "connection-failed", count: 100))
        #expect(transport.started.count == 3)
        pauses.advance(by: .seconds(2))
        _ = try await load(100)
        #expect(transport.started.count == 4)
        isDead.change { $0 = false }
        _ = try await load(1)
        #expect(transport.started.count == 4)
        pauses.advance(by: .seconds(4))
        #expect(try await load(10) == [String?](repeating: nil, count: 10))
        #expect(transport.started.count == 14)
    }

    private func downloader() -> ImageDownloader {
        ImageDownloader(transport: transport, configuration: .with { $0.timing = pauses.timing })
    }
}
