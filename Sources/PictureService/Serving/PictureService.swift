import HTTPSemantics
package import ImageCodecs
package import LazyImages
internal import CSystem
internal import Glibc
import Synchronization
import SystemSupport

/// Hands out pictures at the size wanted, of sources that it fetches through a cache: one transfer for each source, one decode
/// for all sizes that wait, one encode for each recipe, whoever asks.
///
/// What memory has is answered at once, on the thread of its connection. All else waits without a thread.
package final class PictureService: Sendable {
    /// What a service may do, and what it works with.
    package struct Configuration: Sendable {
        /// Which pictures may be made, and of what.
        package var rules: PictureRules
        /// Limits of transfers.
        package var downloads = ImageDownloader.Configuration()
        /// Networks that may be connected to although they are not public. Default none.
        package var allowedNetworks: [AddressRange] = []
        /// Sources decoded at once. Default: one for each processor.
        package var workers = max(1, Int(sysconf(Int32(_SC_NPROCESSORS_ONLN))))
        /// Sources under way beside those; further ones are answered 503. Default 128.
        package var queue = 128
        /// Bytes that decoding may take at once. Default 512 MiB.
        package var decodeMemory = 512 << 20
        /// Bytes of finished pictures in memory. Default: what `MemoryLimit.standard` says.
        package var pictureMemory = MemoryLimit.standard
        /// Where pictures and sources are kept; nil for memory alone. Nothing else may keep files in its folder.
        package var disk: DiskCache?
        /// How short memory is: a warning halves what is kept there, and when it is critical all goes. Default: nil, for a
        /// service that does not care.
        package var pressure: MemoryPressure?
        package var transport: any Transport = CurlTransport()
        package var decoders = ImageDecoders.standard
        package var clock = WallClock.system

        package init(rules: PictureRules) {
            self.rules = rules
            // A client waits: what takes longer than this is answered 504.
            downloads.timeouts = Timeouts(
                connect: .seconds(5), firstByte: .seconds(10), stall: .seconds(5), total: .seconds(15))
            downloads.transfers = 64
            downloads.transfersPerHost = 16
        }
    }

    package let rules: PictureRules
    package let counters = PictureCounters()
    package let tiers: PictureTiers
    package let gate: WorkGate
    private let surroundings: SourceWork.Surroundings
    private let flights = Lock<[CacheKey: SourceFlight]>([:])
    let clock: WallClock
    let addresses = KnownAddresses()
    private let relief = PressureReader()
    private let isTrimming = Atomic<Bool>(false)

    package init(_ configuration: Configuration) {
        rules = configuration.rules
        clock = configuration.clock
        tiers = PictureTiers(memory: configuration.pictureMemory, disk: configuration.disk)
        gate = WorkGate(
            workers: configuration.workers, queue: configuration.queue, memory: configuration.decodeMemory)
        surroundings = SourceWork.Surroundings(
            tiers: tiers, gate: gate, fetcher: PictureFetcher(configuration),
            threads: BlockingThreads(count: configuration.workers, name: "marquee-picture", niceness: 5),
            failures: FailureMemory(), revalidations: Revalidations(), counters: counters,
            decoders: configuration.decoders,
            limits: configuration.rules.limits, clock: configuration.clock)
        Task { [tiers] in await tiers.readNames() }
        relief.read(configuration.pressure) { [tiers] level in
            tiers.pictures.relieve(level)
            // The allocator keeps what is free for itself; where memory is short others need it.
            if level > .normal { csystem_trim_memory() }
        }
    }

    // MARK: Requests

    /// What memory has of a picture that may be used without asking.
    func pictureInMemory(_ address: KnownAddress) -> PictureOutcome? {
        let now = clock.seconds
        guard let record = tiers.recordInMemory(address.recordKey), record.use(now: now) == .fresh,
            let picture = tiers.pictureInMemory(address.pictureKey(record))
        else { return nil }
        counters.count(.memoryHit)
        return .picture(picture, record, .hit(record, now: now))
    }

    /// Why a picture cannot be had now, where that is certain without the disk: there is no place for its source, nobody works
    /// on it, and nothing of it is stored. A refusal by this takes no thread, so that refusing does not slow down the work.
    func refusalAtOnce(_ address: KnownAddress) -> PictureFailure? {
        guard gate.isFull, !tiers.mayHaveRecord(address.recordKey) else { return nil }
        if let failure = surroundings.failures.failure(of: address.recordKey) { return failure }
        let key = flightKey(address.original)
        return flights.withLock { $0[key] == nil } ? .busy : nil
    }

    /// Finds or makes a picture, and delivers it, or word that there is none, once, on any thread. Does not block.
    /// - Returns: what makes this caller leave. The last who leaves cancels the work.
    func begin(
        _ recipe: PictureRecipe, of original: PictureOriginal,
        deliver: @escaping @Sendable (PictureOutcome) -> Void
    ) -> @Sendable () -> Void {
        let key = flightKey(original)
        while true {
            let (flight, isNew) = flights.withLock { flights in
                if let flight = flights[key] { return (flight, false) }
                let flight = SourceFlight(original)
                flights[key] = flight
                return (flight, true)
            }
            guard let place = flight.join(recipe, now: clock.seconds, deliver) else {
                remove(flight, key)
                continue
            }
            if isNew {
                flight.setTask(Task { await run(flight, key) })
            } else {
                counters.count(.joined)
                if place.isFirst { deliverStored(recipe, flight) }
            }
            return { [self] in
                counters.count(.abandoned)
                if flight.leave(recipe, place.number) { remove(flight, key) }
            }
        }
    }

    /// Delivers the picture that the disk has. It does not wait behind those that are made of the same source.
    private func deliverStored(_ recipe: PictureRecipe, _ flight: SourceFlight) {
        // Without a record in memory the work has only begun, and looks itself.
        guard let record = tiers.recordInMemory(flight.original.recordKey) else { return }
        Task {
            if let stored = await SourceWork.stored(recipe, of: flight.original, record, surroundings) {
                flight.deliver(stored, for: recipe)
            }
        }
    }

    /// Signed addresses may be fetched by other rules: then they have transfers of their own.
    private func flightKey(_ original: PictureOriginal) -> CacheKey {
        if case .address(_, isSigned: true) = original, surroundings.fetcher.tellsSigned {
            return original.recordKey.variant(Self.signedVariant)
        }
        return original.recordKey
    }

    private static let signedVariant = "signed"

    private func remove(_ flight: SourceFlight, _ key: CacheKey) {
        flights.withLock { flights in
            if flights[key] === flight { flights[key] = nil }
        }
    }

    private func run(_ flight: SourceFlight, _ key: CacheKey) async {
        var work = SourceWork(flight, surroundings)
        while let recipe = flight.next() {
            let outcome = await work.outcome(for: recipe)
            flight.deliver(outcome, for: recipe)
            await work.keepMade()
        }
        remove(flight, key)
        work.end()
        if gate.usage.sources == 0 { giveMemoryBack() }
    }

    /// Has the allocator give back what a spike of work has left, once there is no work for a while.
    private func giveMemoryBack() {
        guard isTrimming.exchange(true, ordering: .relaxed) == false else { return }
        Task { [self] in
            // Losing the error is right: nobody cancels this.
            try? await Task.sleep(for: Self.idleTime)
            isTrimming.store(false, ordering: .relaxed)
            guard gate.usage.sources == 0 else { return }
            // Losing the error is right: it is tried again after the next work.
            try? await surroundings.threads.run { csystem_trim_memory() }
        }
    }

    private static let idleTime = Duration.seconds(2)

    // MARK: Keeping

    /// Forgets a source: what memory and disk have of it is found by nobody from then on.
    /// - Returns: whether there was anything.
    @discardableResult
    package func purge(_ source: PictureSource) async -> Bool {
        let key = PictureOriginal.recordKey(ofAddress: source)
        let isKnown = await tiers.record(key) != nil
        for key in [key, key.variant(Self.signedVariant)] {
            // Its clients get what they asked for, but nothing of it is kept.
            flights.withLock { $0.removeValue(forKey: key) }?.forget()
        }
        surroundings.revalidations.forget(key)
        surroundings.failures.forget(key)
        await surroundings.fetcher.remove(source)
        await tiers.removeRecord(key)
        return isKnown
    }

    /// Returns when what was made is on disk.
    package func flush() async { await surroundings.fetcher.flush() }

    /// Transfers under way or waiting.
    package var transferCount: Int { surroundings.fetcher.transferCount }
}
