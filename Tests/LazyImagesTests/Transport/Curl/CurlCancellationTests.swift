import FoundationEssentials
import Glibc
import Synchronization
import SystemSupport
import TestSupport
import TestTraits
import Testing

import LazyImages

@Suite("CurlTransport: cancellation and end", .bounded, .serialized)
struct CurlCancellationTests {
    private let transport = CurlTransport()

    @Test("cancelling a transfer during its body frees the connection at once")
    func inTheBody() async throws {
        let origin = try ScriptedOrigin([
            .readHead, .send("HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nabc"), .awaitClose,
        ])
        let receiver = RecordingReceiver()
        let task = start(origin.url(), into: receiver)
        try await receiver.arrivals.wait(for: 2)
        task.cancel()
        #expect(await task.value?.code == "cancelled")
        try await origin.closed.wait(for: 1)
    }

    @Test("cancelling a transfer that connects ends it at once")
    func whileConnecting() async throws {
        let deaf = try BlackHolePort()
        let task = start(try URL(typed: "http://127.0.0.1:\(deaf.port)/"))
        await Task.yield()
        task.cancel()
        #expect(await task.value?.code == "cancelled")
    }

    @Test("a transfer that is cancelled before it starts sends nothing")
    func before() async throws {
        let origin = try ScriptedOrigin(.answering([1]))
        let task = Task { [transport] () async -> ImageLoadingError? in
            // Waits for the cancellation.
            try? await Tally().wait(for: 1)
            return await Self.failure(of: transport, origin.url(), RecordingReceiver())
        }
        task.cancel()
        #expect(await task.value?.code == "cancelled")
        #expect(origin.connections.count == 0)
    }

    @Test(
        "ten thousand transfers, each cancelled at some moment, each finish once, and the transport keeps working"
    )
    func anyMoment() async throws {
        let origin = try ScriptedOrigin(.answering(SampleImages.png))
        #if THREAD_SANITIZER
            let count = 1_000
        #else
            let count = 10_000
        #endif
        var numbers = SeededNumbers(seed: 4)
        await withTaskGroup(of: Void.self) { group in
            for index in 0..<count {
                if index >= 32 { await group.next() }
                let yields = numbers.below(60)
                group.addTask {
                    let task = start(origin.url())
                    for _ in 0..<yields { await Task.yield() }
                    task.cancel()
                    let error = await task.value
                    #expect(error == nil || error?.code == "cancelled")
                }
            }
        }
        #expect(await Self.failure(of: transport, origin.url(), RecordingReceiver()) == nil)
    }

    @Test("a released transport ends its thread and closes its connections")
    func end() async throws {
        let origin = try ScriptedOrigin(.answering([1]))
        let before = Self.pollerCount()
        for _ in 0..<100 {
            let transport = CurlTransport()
            #expect(await Self.failure(of: transport, origin.url(), RecordingReceiver()) == nil)
        }
        // Each transport kept its connection open until its release.
        try await origin.closed.wait(for: 100)
        // Other tests create and release transports meanwhile. A hundred leaked ones would show.
        try await eventually { Self.pollerCount() <= before + 50 }
    }

    @Test(
        "when the process exits, the transport's thread is outside libcurl, whose TLS library is freed then")
    func endOfTheProcess() async {
        await #expect(processExitsWith: .exitCode(7)) {
            // Registered before libcurl is opened: exit handlers run in reverse order.
            atexit {
                let before = CountingReceiver.count.load(ordering: .relaxed)
                for _ in 0..<10_000 { sched_yield() }
                if CountingReceiver.count.load(ordering: .relaxed) != before { _exit(8) }
            }
            let origin = try ScriptedOrigin([
                .readHead, .send("HTTP/1.1 200 OK\r\n\r\n"),
                .forever([.sendBytes([UInt8](repeating: 7, count: 1000))]),
            ])
            let transport = CurlTransport()
            let transfer = Task {
                try await transport.perform(TransportRequest(url: origin.url()), into: CountingReceiver())
            }
            try await eventually { CountingReceiver.count.load(ordering: .relaxed) >= 10 }
            exit(withExtendedLifetime(transfer) { 7 })
        }
    }

    /// How many epoll descriptors this process has.
    private static func pollerCount() -> Int {
        let folder = "/proc/self/fd"
        // Ignored: a descriptor may be closed after the listing.
        let names = (try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? []
        return names.count { name in
            // Ignored: as above.
            let target = try? FileManager.default.destinationOfSymbolicLink(atPath: "\(folder)/\(name)")
            return target?.contains("eventpoll") == true
        }
    }

    private func start(
        _ url: URL, into receiver: RecordingReceiver = RecordingReceiver()
    ) -> Task<ImageLoadingError?, Never> {
        Task { [transport] in await Self.failure(of: transport, url, receiver) }
    }

    private static func failure(
        of transport: CurlTransport, _ url: URL, _ receiver: RecordingReceiver
    ) async -> ImageLoadingError? {
        // No timeout ends the transfer before the cancellation, however late that is.
        await transport.error(for: TransportRequest(url: url, timeouts: .patient), into: receiver)
    }
}

/// Accepts all bytes, and counts the calls.
private final class CountingReceiver: BodyReceiver {
    static let count = Atomic(0)

    func receive(_ head: ResponseHead) -> Bool { true }
    func receive(_ bytes: Span<UInt8>) -> Bool {
        Self.count.add(1, ordering: .relaxed)
        return true
    }
    func receive(_ metrics: TransferMetrics) {}
}
