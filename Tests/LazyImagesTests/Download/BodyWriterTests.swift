import Coalescing
import FoundationEssentials
import Glibc
import Synchronization
import SystemSupport
import TestSupport
import TestTraits
import Testing

@testable import LazyImages

/// Bodies that go to files, over a real transport, on a disk that is slow, stuck or full.
@Suite("Writing bodies", .bounded)
struct BodyWriterTests {
    /// Moves to a partial file at 1 MiB. More than the bound for waiting bytes and the buffers of sockets follow.
    private static let large = SampleImages.png(bytes: 9_000_000)
    private static let small = SampleImages.png(bytes: 60_000)

    private let folder: TemporaryFolder
    private let disk = HeldDisk()
    private let transport = WatchedTransport()
    private let origin: ScriptedOrigin

    init() throws {
        folder = try TemporaryFolder()
        origin = try ScriptedOrigin([
            .forever([
                .reply { head, _ in
                    let body = head.hasPrefix("GET /large") ? Self.large : Self.small
                    return Array(
                        "HTTP/1.1 200 OK\r\nETag: \"1\"\r\nContent-Length: \(body.count)\r\n\r\n".utf8) + body
                }
            ])
        ])
    }

    @Test("a write that stands still delays no other transfer, of a large or a small picture")
    func heldWrite() async throws {
        defer { disk.open() }
        let loader = loader(disk.calls)
        let held = Task { try await loader.file(for: request("/large")) }
        try await disk.held.wait(for: 1)
        #expect(try await loader.file(for: request("/large-too")).bytes.array == Self.large)
        #expect(try await loader.file(for: request("/small")).bytes.array == Self.small)
        disk.open()
        #expect(try await held.value.bytes.array == Self.large)
    }

    @Test("cancelling a transfer that waits for the disk frees its slot and its connection at once")
    func cancelledWhilePaused() async throws {
        defer { disk.open() }
        let loader = loader(disk.calls, transfersPerHost: 1)
        let request = request("/large")
        let paused = Task { try await loader.file(for: request) }
        try await transport.pauses.wait(for: 1)
        // The file is there now: a store looks for files once.
        try await disk.held.wait(for: 1)
        paused.cancel()
        try await origin.closed.wait(for: 1)
        #expect(try await loader.file(for: self.request("/small")).bytes.array == Self.small)
        // What had arrived is kept, once the disk takes it.
        disk.open()
        let partials = PartialStore(path: folder.path, limit: 1 << 30)
        try await eventually {
            partials.partial(of: request.transferKey, from: request.url)?.count ?? 0 >= 1 << 20
        }
    }

    @Test("a body that waits for a slow disk again and again arrives whole")
    func slowDisk() async throws {
        defer { disk.open() }
        // Once the transfer is paused, each write is slow, and takes half of its bytes.
        let loader = loader(
            FileCalls { [disk] kind in
                guard kind == .write else { return nil }
                disk.hold()
                for _ in 0..<20 { sched_yield() }
                return .short
            })
        let load = Task { try await loader.file(for: request("/large")) }
        try await transport.pauses.wait(for: 1)
        disk.open()
        let file = try await load.value
        #expect(file.bytes.array == Self.large && file.source == .network)
        #expect(transport.pauses.count > 1)
    }

    @Test("a disk that is full ends a paused transfer, and keeps nothing")
    func fullDisk() async throws {
        defer { disk.open() }
        let writes = Atomic(0)
        let error = await loader(
            FileCalls { [disk] kind in
                guard kind == .write else { return nil }
                disk.hold()
                // The first MiB fits: if it did not, the body would stay in memory.
                return writes.add(1, ordering: .relaxed).newValue > 60 ? .failure(ENOSPC) : nil
            }
        ).error(for: request("/large"), openWhenPaused: (disk, transport))
        #expect(
            error
                == .storageFailed(url: origin.url("/large").absoluteString, reason: "No space left on device")
        )
        #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path).isEmpty)
        try await origin.closed.wait(for: 1)
    }

    @Test("bytes of 256 KiB that wait pause the transfer; the writer continues it once")
    func oneResume() async throws {
        defer { disk.open() }
        let budget = BodyBudget(limit: 1000)
        let body = body(budget, BlockingThreads(count: 1), disk.calls)
        let piece = [UInt8](repeating: 7, count: 64 * 1024)
        let resumes = Tally()
        for number in 1...4 {
            #expect(body.mayContinue { resumes.add() })
            #expect(body.take(piece))
            if number == 1 { try await disk.held.wait(for: 1) }
        }
        #expect(!body.mayContinue { resumes.add() })
        // From a transport that does not ask.
        #expect(body.take(piece))
        #expect(resumes.count == 0 && budget.bytesInUse == 5 * piece.count)
        disk.open()
        await body.written()
        #expect(resumes.count == 1 && budget.bytesInUse == 0)
        #expect(body.mayContinue { resumes.add() })
        #expect(body.take(piece))
        #expect(try await body.finish().count == 6 * piece.count)
        #expect(resumes.count == 1)
    }

    @Test("a transfer that asks while the writer drains is continued")
    func race() async throws {
        let threads = BlockingThreads(count: 1)
        let piece = [UInt8](repeating: 7, count: 256 * 1024)
        for _ in 0..<100 {
            let body = body(BodyBudget(limit: 1000), threads)
            #expect(body.take(piece))
            // Asks again and again, so that one question meets the end of the write. The last one with the answer false
            // must be resumed.
            var last: Tally?
            while true {
                let resumes = Tally()
                if body.mayContinue({ resumes.add() }) { break }
                last = resumes
            }
            try await last?.wait(for: 1)
            await body.written()
        }
    }

    /// A body that goes to a file without a name, after its head.
    private func body(
        _ budget: BodyBudget, _ threads: BlockingThreads, _ calls: FileCalls = FileCalls()
    ) -> BodyBuffer {
        let body = BodyBuffer(
            url: origin.url(), maximumBytes: 1 << 20, budget: budget, spillFolder: folder.path,
            flight: DownloadFlight { .cancelled(url: "") }, threads: threads, calls: calls)
        #expect(body.receive(ResponseHead(status: 200)))
        return body
    }

    private func request(_ path: String) -> ImageRequest { ImageRequest(origin.url(path)) }

    private func loader(_ calls: FileCalls, transfersPerHost: Int = 6) -> FileLoader {
        var configuration = ImageDownloader.Configuration.once
        configuration.transfersPerHost = transfersPerHost
        configuration.partialFolder = folder.path
        configuration.fileCalls = calls
        configuration.timeouts = .patient
        return FileLoader(memory: nil, disk: nil, configuration: configuration, transport: transport)
    }
}

extension FileLoader {
    /// Loads a request on a held disk, which is opened once the transfer is paused, and returns its error.
    fileprivate func error(
        for request: ImageRequest, openWhenPaused held: (disk: HeldDisk, transport: WatchedTransport)
    ) async -> ImageLoadingError? {
        async let error = error(for: request)
        // Ignored: the end of the test's time.
        try? await held.transport.pauses.wait(for: 1)
        held.disk.open()
        return await error
    }
}

extension BodyBuffer {
    fileprivate func take(_ bytes: [UInt8]) -> Bool { receive(bytes.span) }
}

/// Holds the first write until it is opened.
private final class HeldDisk: Sendable {
    private let isFirst = Atomic(true)
    private let gate = Gate()
    /// Counts the write that is held.
    let held = Tally()

    var calls: FileCalls {
        FileCalls { [self] kind in
            if kind == .write { hold() }
            return nil
        }
    }

    /// Blocks the first caller.
    func hold() {
        guard isFirst.exchange(false, ordering: .relaxed) else { return }
        held.add()
        gate.wait()
    }

    func open() { gate.open() }
}

/// A real transport that counts how often a receiver makes it wait.
private final class WatchedTransport: Transport {
    private final class Receiver: BodyReceiver {
        private let receiver: any BodyReceiver
        private let pauses: Tally

        init(_ receiver: any BodyReceiver, _ pauses: Tally) {
            self.receiver = receiver
            self.pauses = pauses
        }

        func receive(_ head: ResponseHead) -> Bool { receiver.receive(head) }
        func receive(_ bytes: Span<UInt8>) -> Bool { receiver.receive(bytes) }
        func receive(_ metrics: TransferMetrics) { receiver.receive(metrics) }
        func mayContinue(_ resume: @escaping @Sendable () -> Void) -> Bool {
            let mayContinue = receiver.mayContinue(resume)
            if !mayContinue { pauses.add() }
            return mayContinue
        }
    }

    let pauses = Tally()
    private let transport = CurlTransport()

    func perform(
        _ request: TransportRequest, into receiver: any BodyReceiver
    ) async throws(ImageLoadingError) -> ResponseHead {
        try await transport.perform(request, into: Receiver(receiver, pauses))
    }
}
