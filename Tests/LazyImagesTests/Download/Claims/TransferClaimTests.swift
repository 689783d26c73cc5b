import FoundationEssentials
import Glibc
import SystemSupport
import TestSupport
import TestTraits
import Testing

import LazyImages

/// Loaders of one folder, each with a cache of its own, share claims as processes do.
@Suite("Claims of transfers", .bounded)
struct TransferClaimTests {
    private let fixture: DiskFixture
    private let request: ImageRequest
    private let held = HeldTransport()
    /// The pauses of each loader's transfers between two looks at a claim.
    private let pauses = Shared<[ObjectIdentifier: Tally]>([:])

    init() throws {
        fixture = try DiskFixture()
        request = ImageRequest("http://localhost/a.png")
    }

    @Test("the others wait for the first, without a request, and find its file on disk")
    func shared() async throws {
        let loaders = (0..<4).map { _ in loader() }
        let first = try await loaders[0].callers(2, of: request)
        let transfer = try await held.transfer()
        var others: [Callers<LoadedFile>] = []
        for loader in loaders.dropFirst() { others.append(try await waiting(loader, 2)) }
        transfer.answer(SampleImages.png, fields: fresh)
        for outcome in await first.outcomes { #expect(try outcome.get().source == .network) }
        for callers in others {
            for outcome in await callers.outcomes {
                let file = try outcome.get()
                #expect(file.source == .disk && file.bytes.array == SampleImages.png && file.header != nil)
            }
        }
        #expect(held.started.count == 1)
        // What was found is in memory too.
        #expect(try await loaders[1].file(for: request).source == .memory)
    }

    @Test("a claim is held until the file is on disk, not only until the callers have it")
    func onDisk() async throws {
        let gate = CallGate()
        let first = loader(calls: gate.calls(before: .rename))
        let second = loader()
        let callers = try await first.callers(1, of: request)
        try await held.transfer().answer(SampleImages.png, fields: fresh)
        #expect(try await callers.outcomes[0].get().source == .network)
        try await gate.reached()
        let callersOfSecond = try await waiting(second)
        gate.open()
        #expect(try await callersOfSecond.outcomes[0].get().source == .disk)
        #expect(held.started.count == 1)
    }

    @Test("what another has fetched between a transfer's look on disk and its slot is not fetched again")
    func fetchedMeanwhile() async throws {
        let (busy, other) = (loader(transfers: 1), loader())
        let blocking = try await busy.callers(1, of: ImageRequest("http://localhost/b.png"))
        let blocker = try await held.transfer(0)
        let lined = await linedUp(busy)
        let quick = try await other.callers(1, of: request)
        try await held.transfer(1).answer(SampleImages.png, fields: fresh)
        #expect(try await quick.outcomes[0].get().source == .network)
        await other.flush()
        blocker.answer(SampleImages.png, fields: fresh)
        #expect(try await blocking.outcomes[0].get().source == .network)
        #expect(try await lined.outcomes[0].get().source == .disk)
        #expect(held.started.count == 2)
    }

    @Test("a wait for a slot begins with the first line, before the claim was settled, and is reported once")
    func wholeWait() async throws {
        let (busy, other) = (loader(transfers: 1), loader())
        let events = busy.downloader.activity.events
        let blocking = try await busy.callers(1, of: ImageRequest("http://localhost/b.png"))
        let blocker = try await held.transfer(0)
        let lined = await linedUp(busy)
        let start = ContinuousClock.now
        // The fetch of the other loader makes this one look on disk before it may fetch.
        let quick = try await other.callers(1, of: request)
        try await held.transfer(1).answer(SampleImages.png, fields: ["Cache-Control": "no-store"])
        #expect(try await quick.outcomes[0].get().source == .network)
        await other.flush()
        let waited = start.duration(to: .now)
        blocker.answer(SampleImages.png, fields: fresh)
        #expect(try await blocking.outcomes[0].get().source == .network)
        try await held.transfer(2).answer(SampleImages.png, fields: fresh)
        #expect(try await lined.outcomes[0].get().source == .network)
        var waits = 0
        var wait: Duration?
        for await event in events where event.url.hasSuffix("a.png") {
            if case .waiting = event.kind { waits += 1 }
            guard case .started(let queueWait) = event.kind else { continue }
            wait = queueWait
            break
        }
        #expect(try #require(wait) >= waited)
        #expect(waits == 1)
    }

    @Test("an answer that is not stored lets all go at once, and none waits for another")
    func notStored() async throws {
        let loaders = (0..<4).map { _ in loader() }
        let first = try await loaders[0].callers(1, of: request)
        let transfer = try await held.transfer()
        var others: [Callers<LoadedFile>] = []
        for loader in loaders.dropFirst() { others.append(try await waiting(loader)) }
        transfer.answer(SampleImages.png, fields: ["Cache-Control": "no-store"])
        #expect(try await first.outcomes[0].get().source == .network)
        // All three are held at the same time.
        let transfers = try await held.transfers(4)
        #expect(held.mostAtOnce == 3)
        for transfer in transfers.dropFirst() { transfer.answer(SampleImages.png, fields: fresh) }
        for callers in others { #expect(try await callers.outcomes[0].get().source == .network) }
    }

    @Test("a 404 is stored, and the waiting loaders find it on disk like a picture")
    func nothingThere() async throws {
        let (one, other) = (loader(), loader())
        let first = try await one.callers(1, of: request)
        let transfer = try await held.transfer()
        let second = try await waiting(other)
        transfer.answer([], status: 404)
        let expected = ImageLoadingError.httpStatus(url: "http://localhost/a.png", status: 404)
        #expect(await first.outcomes[0].error == expected)
        #expect(await second.outcomes[0].error == expected)
        #expect(held.started.count == 1)
    }

    @Test("when the first gives up, one of the others takes over")
    func takenOver() async throws {
        let loaders = (0..<4).map { _ in loader() }
        let first = try await loaders[0].callers(1, of: request)
        let transfer = try await held.transfer()
        var others: [Callers<LoadedFile>] = []
        for loader in loaders.dropFirst() { others.append(try await waiting(loader)) }
        for task in first.tasks { task.cancel() }
        #expect(await first.outcomes[0].error?.code == "cancelled")
        try await transfer.cancellation.wait(for: 1)
        try await held.transfer(1).answer(SampleImages.png, fields: fresh)
        var sources: [LoadedFile.Source] = []
        for callers in others { sources.append(try await callers.outcomes[0].get().source) }
        #expect(sources.filter { $0 == .network }.count == 1)
        #expect(sources.filter { $0 == .disk }.count == 2)
        #expect(held.started.count == 2)
    }

    @Test("when the first fails, the others fetch for themselves at once")
    func failed() async throws {
        let loaders = (0..<3).map { _ in loader() }
        let first = try await loaders[0].callers(1, of: request)
        let transfer = try await held.transfer()
        var others: [Callers<LoadedFile>] = []
        for loader in loaders.dropFirst() { others.append(try await waiting(loader)) }
        transfer.fail(.connectionLost(url: "http://localhost/a.png", received: 0, reason: "test"))
        #expect(await first.outcomes[0].error?.code == "connection-lost")
        for transfer in try await held.transfers(3).dropFirst() {
            transfer.answer(SampleImages.png, fields: fresh)
        }
        for callers in others { #expect(try await callers.outcomes[0].get().source == .network) }
    }

    @Test("a wait for a claim ends after the stall timeout, and the waiting loader fetches the file")
    func bounded() async throws {
        let time = PauseClock()
        let (one, other) = (loader(), loader(timing: time.timing, timeouts: Timeouts()))
        let first = try await one.callers(1, of: request)
        let stopped = try await held.transfer(0)
        let second = await linedUp(other)
        try await held.transfer(1).answer(SampleImages.png, fields: fresh)
        #expect(try await second.outcomes[0].get().source == .network)
        #expect(time.now >= Timeouts().stall && time.now < Timeouts().stall + .seconds(1))
        stopped.answer(SampleImages.png, fields: fresh)
        #expect(try await first.outcomes[0].get().source == .network)
    }

    @Test("a transfer that waits for a claim has no slot: others to its host go first")
    func withoutSlot() async throws {
        let (one, other) = (loader(), loader(transfers: 1))
        let first = try await one.callers(1, of: request)
        let transfer = try await held.transfer(0)
        let second = try await waiting(other)
        let next = try await other.callers(1, of: ImageRequest("http://localhost/b.png"))
        try await held.transfer(1).answer(SampleImages.png, fields: fresh)
        #expect(try await next.outcomes[0].get().source == .network)
        transfer.answer(SampleImages.png, fields: fresh)
        #expect(try await first.outcomes[0].get().source == .network)
        #expect(try await second.outcomes[0].get().source == .disk)
    }

    @Test("a waiting caller can be cancelled, and the first loader's transfer continues")
    func left() async throws {
        let (one, other) = (loader(), loader())
        let first = try await one.callers(1, of: request)
        let transfer = try await held.transfer()
        let second = try await waiting(other)
        for task in second.tasks { task.cancel() }
        #expect(await second.outcomes[0].error?.code == "cancelled")
        let again = try await waiting(other)
        transfer.answer(SampleImages.png, fields: fresh)
        #expect(try await first.outcomes[0].get().source == .network)
        #expect(try await again.outcomes[0].get().source == .disk)
        #expect(held.started.count == 1 && transfer.cancellation.count == 0)
    }

    @Test("a reload, and a request with a Cache-Control of its own, ask the network in any case")
    func reloaded() async throws {
        let (one, other) = (loader(), loader())
        let first = try await one.callers(1, of: request)
        let transfer = try await held.transfer(0)
        var reload = request
        reload.cachePolicy = .reload
        let noCache = ImageRequest(
            "http://localhost/a.png", options: .init(fields: ["Cache-Control": "no-cache"]))
        for (number, request) in [reload, noCache].enumerated() {
            let callers = try await other.callers(1, of: request)
            try await held.transfer(number + 1).answer(SampleImages.png, fields: fresh)
            #expect(try await callers.outcomes[0].get().source == .network)
        }
        transfer.answer(SampleImages.png, fields: fresh)
        #expect(try await first.outcomes[0].get().source == .network)
    }

    @Test("one revalidates for all, and what must be validated at every use counts as validated")
    func revalidated() async throws {
        let loaders = (0..<3).map { _ in loader() }
        let first = try await loaders[0].callers(1, of: request)
        try await held.transfer(0).answer(
            SampleImages.png,
            fields: ["ETag": "\"1\"", "Cache-Control": "no-cache", "Date": Self.date(1)])
        #expect(try await first.outcomes[0].get().source == .network)
        await loaders[0].flush()
        var callers = [try await loaders[0].callers(1, of: request)]
        let transfer = try await held.transfer(1)
        #expect(transfer.request.fields["if-none-match"] == "\"1\"")
        for loader in loaders.dropFirst() { callers.append(try await waiting(loader)) }
        transfer.answer([], status: 304, fields: ["ETag": "\"1\"", "Date": Self.date(2)])
        var sources: [LoadedFile.Source] = []
        for callers in callers { sources.append(try await callers.outcomes[0].get().source) }
        #expect(sources == [.revalidated, .disk, .disk])
        #expect(held.started.count == 2)
    }

    @Test("a file system without locks, and a folder that cannot be written: each fetches for itself")
    func withoutLocks() async throws {
        for (kind, code) in [(FileCalls.Kind.lock, ENOLCK), (.open, EROFS), (.makeFolder, EACCES)] {
            let plan = FaultPlan()
            plan.fail(at: 0, isPersistent: true, of: kind, .failure(code))
            let held = HeldTransport()
            let loaders = (0..<2).map { _ in
                loader(transport: held, folder: "\(kind)", calls: plan.calls)
            }
            var callers: [Callers<LoadedFile>] = []
            for loader in loaders { callers.append(try await loader.callers(1, of: request)) }
            for transfer in try await held.transfers(2) { transfer.answer(SampleImages.png, fields: fresh) }
            for callers in callers { #expect(try await callers.outcomes[0].get().source == .network) }
        }
    }

    @Test("the claims are looked at on the cache's threads, never on one that tasks need")
    func threads() async throws {
        let threads = Shared<[FileCalls.Kind: Set<String>]>([:])
        let calls = FileCalls(inject: { kind in
            // Ignored: the test then finds a name that it does not expect.
            let name = (try? FileCalls().contents(ofPath: "/proc/thread-self/comm")) ?? []
            let text = String(decoding: name, as: UTF8.self).filter { !$0.isNewline }
            threads.change { _ = $0[kind, default: []].insert(text) }
            return nil
        })
        let answering = HeldTransport { [fresh] _ in HeldTransport.Answer(SampleImages.png, fields: fresh) }
        let loader = loader(transport: answering, calls: calls)
        // Not the opening of the folder, which reads it on the thread of the caller.
        threads.change { $0 = [:] }
        for number in 0..<3 {
            // The second load finds the claims open, the third revalidates.
            _ = try await loader.file(for: ImageRequest("http://localhost/\(number).png"))
        }
        await loader.flush()
        #expect(threads.value[.read] != nil && threads.value[.lock] != nil)
        for (kind, names) in threads.value { #expect(names == ["LazyImages"], "\(kind)") }
    }

    @Test("a loader without a disk tier waits for nobody, and neither does one of another folder")
    func unshared() async throws {
        let ephemeral = FileLoader.ephemeral(transport: held)
        let loaders = [loader(), loader(folder: "elsewhere"), ephemeral]
        var callers: [Callers<LoadedFile>] = []
        for loader in loaders { callers.append(try await loader.callers(1, of: request)) }
        for transfer in try await held.transfers(3) { transfer.answer(SampleImages.png, fields: fresh) }
        for callers in callers { #expect(try await callers.outcomes[0].get().source == .network) }
    }

    private let fresh: HeaderFields = ["Cache-Control": "max-age=3600"]

    /// A caller of the request, when its transfer has lined up for a slot.
    private func linedUp(_ loader: FileLoader) async -> Callers<LoadedFile> {
        let events = loader.downloader.activity.events
        let request = request
        let callers = Callers(1) { _ throws(ImageLoadingError) in try await loader.file(for: request) }
        for await event in events { if case .waiting = event.kind { break } }
        return callers
    }

    /// So many callers of the request, when their transfer has found that another has the claim.
    private func waiting(_ loader: FileLoader, _ count: Int = 1) async throws -> Callers<LoadedFile> {
        let pauses = try #require(pauses.value[ObjectIdentifier(loader.downloader)])
        let before = pauses.count
        let request = request
        let callers = Callers(count) { _ throws(ImageLoadingError) in try await loader.file(for: request) }
        try await pauses.wait(for: before + 1)
        try await eventually { loader.downloader.callerCount == count }
        return callers
    }

    /// A date of the present day, so that two answers of one second differ.
    private static func date(_ second: Int) -> String { "Fri, 21 Nov 2025 08:40:0\(second) GMT" }

    private func loader(
        transport: HeldTransport? = nil, folder: String = "cache", transfers: Int = 6,
        timing: RetryTiming = .system, timeouts: Timeouts = .patient, calls: FileCalls = FileCalls()
    ) -> FileLoader {
        var configuration = ImageDownloader.Configuration.once
        configuration.transfers = transfers
        let pauses = Tally()
        configuration.timing = RetryTiming(
            now: timing.now,
            sleep: { pause in
                // Limits of time are longer than the pauses between two looks at a claim.
                if pause <= .milliseconds(100) { pauses.add() }
                try await timing.sleep(pause)
            }, random: timing.random)
        configuration.timeouts = timeouts
        let disk = DiskCache(
            folder: fixture.folder.file(folder), limit: 1 << 20, calls: calls)
        let loader = FileLoader(disk: disk, configuration: configuration, transport: transport ?? held)
        self.pauses.change { $0[ObjectIdentifier(loader.downloader)] = pauses }
        return loader
    }
}
