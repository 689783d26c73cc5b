import CMarqueeSystem
import Coalescing
import FoundationEssentials
import HTTPSemantics
import ImageCodecs
import LazyImages
import PictureService
import Synchronization
import SystemSupport

/// Finds or makes pictures, as an `ImageLoader` finds or makes images: results on the tiers of its file loaders. What the
/// tiers know of a source, its record, has the freshness and the SHA-256 of the source, and that names the pictures. So a
/// changed source never gives an old picture, an unchanged one keeps all of them, and a removal of the source ends all.
///
///     picture w92  --> stored? --no--> source --> make, one picture after the other
///     picture w342 --> stored? --no-----'
///
/// Two tables of flights share the work: pictures by recipe, and sources. A stored picture does not wait for others that
/// are being made. Safe for concurrent use.
final class PictureLoader: Sendable {
    /// Names a source. One that only a signature allows has transfers of its own.
    struct SourceKey: Hashable, Sendable {
        /// The key of the source's file.
        let file: CacheKey
        var isSigned = false
        /// Whether stored pictures are sent meanwhile.
        var isInBackground = false
    }

    private struct PictureKey: Hashable {
        let source: SourceKey
        /// Recipes of one derivation give the same picture.
        let derivation: String
    }

    /// Why a source gives no picture. A lasting fault of the source answers all requests for a minute, and so costs neither
    /// a transfer nor a decode; another one those that came before it.
    private final class Fault: Sendable {
        let failure: PictureFailure
        let source: SourceKey
        let number: Int

        init(_ failure: PictureFailure, _ source: SourceKey, _ number: Int) {
            (self.failure, self.source, self.number) = (failure, source, number)
        }

        var isLasting: Bool { failure.status == .unprocessableContent && failure != .needsMemory }
    }

    /// The request that begins a picture's flight.
    private struct FirstCaller {
        let client: IPAddress?
        /// How many reads of sources there were before. It may share the outcome of later ones.
        let reads: Int
        /// Whether it has joined its source.
        let hasJoined: Bool
    }

    private typealias PictureFlight = Flight<ServedPicture, PictureFailure, Never>

    let gate: WorkGate
    let counters = PictureCounters()
    /// Makes the pictures.
    let threads: BlockingThreads
    let decoders: ImageDecoders
    let limits: DecodingLimits
    /// The finished pictures in memory, by their content.
    let pictures: MemoryCache<LoadedFile>
    /// The records in memory.
    private let records: MemoryCache<LoadedFile>
    private let faults = MemoryCache<Fault>(
        limit: 4 << 20, timeToLive: .seconds(PictureFreshness.failureLifetime))
    /// Fetches the listed sources, which any client may ask for.
    private let listed: FileLoader
    /// Fetches the sources of signed addresses.
    private let signed: FileLoader
    private let clock: WallClock
    private let report: @Sendable (any Error) -> Void
    private let works = FlightTable<PictureKey, ServedPicture, PictureFailure, Never>()
    private let sources = FlightTable<SourceKey, OpenSource, PictureFailure, Never>()
    /// The sources from which pictures are made now.
    private let open = Lock<[SourceKey: OpenSource.Reference]>([:])
    /// How many sources were read, or could not be read.
    private let reads = Atomic(0)
    private let relief = PressureReader()
    private let isTrimming = Atomic(false)

    /// The most bytes of source files in memory. Clients mostly want several sizes of a picture at about the same time.
    private static let fileMemory = 16 << 20
    /// The assumed memory of a record or a fault in bytes. Records get an eighth of the pictures' memory: even small
    /// pictures take ten times as much each.
    private static let (recordCost, recordPart, leastRecordMemory) = (768, 8, 1 << 20)
    /// The share of the memory for decoding that sources take before they are decoded.
    private static let sourcePart = 8
    private static let idleTime = Duration.seconds(2)

    init(_ configuration: PictureServer.Configuration) {
        let downloads = configuration.downloads
        gate = WorkGate(
            WorkGate.Limits(
                workers: configuration.workers, memory: configuration.decodeMemory,
                transfers: downloads.transfers, transfersPerHost: downloads.transfersPerHost,
                sourceMemory: configuration.decodeMemory / Self.sourcePart,
                queueTime: configuration.queueTime, queue: configuration.queue), timing: downloads.timing)
        threads = BlockingThreads(count: configuration.workers, name: "marquee-picture", niceness: 5)
        (decoders, limits) = (configuration.decoders, configuration.rules.limits)
        (clock, report) = (configuration.clock, configuration.reportFailure)
        pictures = MemoryCache(limit: configuration.pictureMemory)
        records = MemoryCache(
            limit: max(Self.leastRecordMemory, configuration.pictureMemory / Self.recordPart))
        // A host sees its limit once, whoever allows its address.
        let slots = downloads.makeSlots()
        func loader(_ fetchGuard: FetchGuard) -> FileLoader {
            var downloads = downloads
            downloads.slots = slots
            downloads.cacheKind = .shared
            downloads.storesBodiesByContent = true
            downloads.acceptsAnyContent = false
            downloads.acceptsAnyStatus = false
            downloads.security.fetchGuard = fetchGuard
            return FileLoader(
                memory: MemoryCache(limit: Self.fileMemory), disk: configuration.disk,
                shared: configuration.shared, configuration: downloads, transport: configuration.transport,
                pressure: configuration.pressure, clock: configuration.clock)
        }
        let rules = configuration.rules
        listed = loader(rules.sources.allowing(configuration.allowedNetworks))
        // Also without keys: the service may get some while it runs.
        signed =
            rules.signatureAllowsSources
            ? loader(FetchGuard(anyHostAllowing: configuration.allowedNetworks)) : listed
        relief.read(configuration.pressure) { [pictures] level in
            pictures.relieve(level)
            // The allocator keeps freed memory. Other processes need it now.
            if level > .normal { csystem_trim_memory() }
        }
    }

    private func loader(of original: PictureOriginal) -> FileLoader { original.isSigned ? signed : listed }

    /// Signed addresses may have other rules for fetching. They then have their own transfers.
    private func key(of original: PictureOriginal) -> SourceKey {
        SourceKey(file: original.request.key, isSigned: original.isSigned && signed !== listed)
    }

    // MARK: Requests

    /// A picture in memory that may be used without asking the origin.
    func pictureInMemory(_ address: KnownAddress) -> ServedPicture? {
        let now = clock.seconds
        guard let record = records.value(for: address.original.request.key),
            record.use(in: .shared, now: now) == .fresh
        else { return nil }
        let name = address.name(of: record)
        guard let picture = pictures.value(for: name.key) else { return nil }
        counters.count(.memoryHit)
        return ServedPicture(picture: picture, name: name, record: record, status: .hit(record, now: now))
    }

    /// Finds or makes a picture, and delivers the picture or a failure, exactly once, on any thread. Does not block.
    /// - Parameter client: waits in turn with other clients.
    /// - Returns: a closure that cancels this caller's wait: it is delivered a failure. When the last caller cancels,
    ///   the work is cancelled.
    func start(
        _ address: KnownAddress, for client: IPAddress?, deliver: @escaping @Sendable (PictureOutcome) -> Void
    ) -> @Sendable () -> Void {
        let key = key(of: address.original)
        // An answer that is known and may not be used again is for those who came before it.
        if let source = open.withLock({ $0[key] })?.source, !source.isUsable(now: clock.seconds) {
            retire(source)
        }
        // Keeps the source's flight while this caller waits, whoever else leaves.
        let source = sources[key]?.join(0)
        let first = FirstCaller(
            client: client, reads: reads.load(ordering: .acquiring), hasJoined: source != nil)
        // One limit for the reads of record, picture and source together.
        let caller = SharedTier.$patience.withValue(listed.shared?.newPatience()) {
            works.join(
                PictureKey(source: key, derivation: address.recipe.derivation), priority: 0,
                cancelled: { .cancelled }
            ) { [self] flight, _ throws(PictureFailure) in
                try await picture(address, key, first, flight)
            }
        }
        if !caller.isFirst || source != nil {
            counters.count(.joined)
            gate.share(key, with: client)
        }
        // A flight without events: the listener receives only the end.
        caller.listen(
            FlightListener { [self] _ in
                source?.leave()
                giveMemoryBack()
                guard let outcome = caller.outcome else { return }
                deliver(caller.isFirst ? outcome : outcome.map(\.collapsed))
            })
        return { [counters] in
            counters.count(.abandoned)
            caller.leave()
        }
    }

    /// Lets later requests begin anew.
    private func retire(_ source: OpenSource) {
        close(source.key, ObjectIdentifier(source))
        works.retire { $0.source == source.key }
    }

    /// Makes the allocator return freed memory after a while without work.
    private func giveMemoryBack() {
        guard isTrimming.exchange(true, ordering: .relaxed) == false else { return }
        Task { [self] in
            // Ignored: this task is never cancelled.
            repeat { try? await Task.sleep(for: Self.idleTime) } while gate.usage.sources > 0
            isTrimming.store(false, ordering: .relaxed)
            // Ignored: the next work tries again.
            try? await threads.run { csystem_trim_memory() }
        }
    }

    // MARK: A picture

    private func picture(
        _ address: KnownAddress, _ key: SourceKey, _ first: FirstCaller, _ flight: PictureFlight
    ) async throws(PictureFailure) -> ServedPicture {
        if let fault = fault(of: key, first) { throw fault }
        let record = await record(of: address.original, key, flight)
        var looked: CacheKey?
        if let record, record.use(in: .shared, now: clock.seconds) != .validate {
            if let hit = await hit(address, record, .diskHit) {
                revalidate(address.original, record)
                return hit
            }
            looked = address.name(of: record).key
        }
        do throws(PictureFailure) {
            let source = try await source(key, address.original, first, replacing: record)
            return try await make(address, of: source, looked, flight)
        } catch {
            // A stale picture instead of a failure that may pass, if the origin allows it (RFC 9111 section 4.2.4).
            guard error.mayPass, let record,
                record.allowsStaleOnError(in: .shared, now: clock.seconds),
                let hit = await hit(address, record, .stale)
            else {
                let fault = Fault(error, key, first.reads)
                if fault.isLasting, flight.isCurrent { note(fault) }
                throw error
            }
            return hit
        }
    }

    /// The record, from any tier.
    private func record(
        of original: PictureOriginal, _ key: SourceKey, _ flight: PictureFlight
    ) async -> LoadedFile? {
        if let record = records.value(for: key.file) { return record }
        // While the source is read, only memory can have news of it.
        if sources[key] != nil || open.withLock({ $0[key] != nil }) { return nil }
        let record = await loader(of: original).record(for: original.request) { !flight.isCurrent }
        if let record { remember(record, key.file) { flight.isCurrent } }
        return record
    }

    /// Checks `isWanted` before and after storing: either the check sees a concurrent removal, or the removal finds the
    /// record.
    private func remember(_ record: LoadedFile, _ key: CacheKey, while isWanted: () -> Bool) {
        guard isWanted() else { return }
        records.store(record, for: key, cost: Self.recordCost)
        if !isWanted() { records.remove(key) }
    }

    /// The stored picture of a record.
    private func hit(
        _ address: KnownAddress, _ record: LoadedFile, _ event: PictureCounters.Event
    ) async -> ServedPicture? {
        let name = address.name(of: record)
        guard let picture = await stored(name.key, address.original) else { return nil }
        counters.count(event)
        return ServedPicture(
            picture: picture, name: name, record: record, status: .hit(record, now: clock.seconds))
    }

    private func stored(_ key: CacheKey, _ original: PictureOriginal) async -> LoadedFile? {
        if let picture = pictures.value(for: key) { return picture }
        guard let entry = await loader(of: original).result(key, isShared: original.isShared),
            let picture = LoadedFile(pictureIn: entry, of: original.request.url)
        else { return nil }
        pictures.store(picture, for: key, cost: picture.bytes.count)
        return picture
    }

    /// - Parameter looked: the key that no tier has a picture of.
    private func make(
        _ address: KnownAddress, of source: OpenSource, _ looked: CacheKey?, _ flight: PictureFlight
    ) async throws(PictureFailure) -> ServedPicture {
        let (name, original) = (address.name(of: source.record), address.original)
        if name.key != looked, let picture = await stored(name.key, original) {
            return ServedPicture(
                picture: picture, name: name, record: source.record, status: source.status)
        }
        let picture = LoadedFile(try await source.picture(address.recipe), of: original.request.url)
        if let damage = picture.damage, source.note(damage) {
            report(DamagedSource(address: original.name, damage: damage))
            remember(source.record, source.key.file) { flight.isCurrent && source.record.mayBeKept }
            if source.file.mayBeDoubted, flight.isCurrent {
                await loader(of: original).doubt(source.file, for: original.request) { !flight.isCurrent }
            }
        }
        if source.record.mayBeKept {
            pictures.store(picture, for: name.key, cost: picture.bytes.count)
            // Stored after the answer. The source keeps its place in the gate, so that a slow disk holds up new work.
            Task { [loader = loader(of: original)] in
                await loader.storeResult(
                    picture.bytes, metadata: picture.pictureMetadata, for: name.key,
                    isShared: original.isShared)
                withExtendedLifetime(source) {}
            }
        }
        return ServedPicture(picture: picture, name: name, record: source.record, status: source.status)
    }

    // MARK: Sources

    private func note(_ fault: Fault) { faults.store(fault, for: fault.source.file, cost: Self.recordCost) }

    private func fault(of key: SourceKey, _ first: FirstCaller) -> PictureFailure? {
        guard let fault = faults.value(for: key.file),
            fault.isLasting || fault.source == key && fault.number > first.reads
        else { return nil }
        return fault.failure
    }

    /// The source, read once for all pictures.
    private func source(
        _ key: SourceKey, _ original: PictureOriginal, _ first: FirstCaller, replacing record: LoadedFile?
    ) async throws(PictureFailure) -> OpenSource {
        let caller = sources.join(key, priority: 0, cancelled: { .cancelled }) {
            [self] flight, _ throws(PictureFailure) in
            // Another flight may have ended since the request came.
            if let source = open.withLock({ $0[key] })?.source,
                source.number > first.reads || source.isUsable(now: clock.seconds)
            {
                return source
            }
            if let fault = fault(of: key, first) { throw fault }
            let ticket = WorkGate.Ticket(key, host: original.host)
            try await gate.enter(ticket, first.client)
            return try await read(original, ticket, replacing: record, flight)
        }
        if !caller.isFirst, !first.hasJoined {
            counters.count(.joined)
            gate.share(key, with: first.client)
        }
        return try await caller.value
    }

    /// Reads a source that has entered the gate, and keeps its record or removes the old one. Does neither after a purge.
    /// - Parameter record: the stored record; nil for none.
    private func read(
        _ original: PictureOriginal, _ ticket: WorkGate.Ticket, replacing record: LoadedFile?,
        _ flight: Flight<OpenSource, PictureFailure, Never>
    ) async throws(PictureFailure) -> OpenSource {
        let key = ticket.source
        do throws(PictureFailure) {
            let file = try await file(of: original)
            let source = OpenSource(
                file, key, ticket, number: nextNumber(), replacing: record, self, now: clock.seconds)
            try gate.endFetching(ticket, file.bytes.count)
            counters.count(file)
            if let damage = file.damage, record?.damage == nil || record?.content != file.content {
                report(DamagedSource(address: original.name, damage: damage))
            }
            if file.mayBeKept {
                remember(source.record, key.file) { flight.isCurrent }
            } else if flight.isCurrent {
                records.remove(key.file)
            }
            if flight.isCurrent {
                let reference = OpenSource.Reference(source)
                open.withLock { $0[key] = reference }
            }
            return source
        } catch {
            gate.leave(ticket)
            if !flight.isCurrent || flight.isOver { throw error }
            note(Fault(error, key, nextNumber()))
            // The picture is gone, so its old record must not be used when the origin fails later.
            if !error.mayPass, record != nil {
                records.remove(key.file)
                if ![.notFound, .gone].contains(error.status) {
                    await loader(of: original).remove(original.request)
                }
            }
            throw error
        }
    }

    private func nextNumber() -> Int { reads.add(1, ordering: .acquiringAndReleasing).newValue }

    private func file(of original: PictureOriginal) async throws(PictureFailure) -> LoadedFile {
        let file: LoadedFile
        do throws(ImageLoadingError) {
            file = try await loader(of: original).validatedFile(for: original.request)
        } catch {
            // The operator reads the reason. The client is not told.
            switch error {
            case .addressRefused(_, .address, _), .dataFailed: report(error)
            default: break
            }
            throw PictureFailure(error)
        }
        guard file.header?.size != nil else {
            throw PictureFailure(.unprocessableContent, "the source is not a picture with a known size")
        }
        return file
    }

    /// Revalidates a source in the background while its stored pictures are sent (RFC 5861 section 3). Only one
    /// revalidation of a source runs at a time. Later requests use its result.
    private func revalidate(_ original: PictureOriginal, _ record: LoadedFile) {
        guard record.use(in: .shared, now: clock.seconds) == .staleWhileRevalidating else { return }
        var key = key(of: original)
        key.isInBackground = true
        guard sources[key] == nil else { return }
        // This caller never leaves, so the flight is not abandoned.
        _ = sources.join(key, priority: 0, cancelled: { .cancelled }) {
            [self, key] flight, _ throws(PictureFailure) in
            let ticket = WorkGate.Ticket(key, host: original.host)
            guard gate.enterAtOnce(ticket) else { throw .busy(.queue) }
            return try await read(original, ticket, replacing: record, flight)
        }
    }

    /// Runs a closure on the threads that make pictures.
    func run<Value: Sendable>(
        _ work: @escaping @Sendable () throws(PictureFailure) -> Value
    ) async throws(PictureFailure) -> Value {
        let shortage = PictureFailure(
            .serviceUnavailable, "the system has no free thread; try again", retryAfter: 1)
        return try await threads.run({ _ in shortage }, work)
    }

    /// Forgets a source that nobody uses any more.
    func close(_ source: SourceKey, _ id: ObjectIdentifier) {
        open.withLock { open in if open[source]?.id == id { open[source] = nil } }
    }

    // MARK: Keeping

    /// Removes a source: from now on, nobody finds its pictures. Waiting clients still get theirs.
    /// - Returns: whether anything was stored.
    func remove(_ source: PictureSource) async -> Bool {
        let request = ImageRequest(source.url)
        let inMemory = records.value(for: request.key)
        var isKnown = inMemory != nil
        if !isKnown { isKnown = await listed.record(for: request) { true } != nil }
        invalidate(request.key)
        for loader in [listed, signed] { await loader.remove(request) }
        await listed.removeResult(request.key.variant(Self.earlierRecord))
        // Again, for requests that have found the source on disk meanwhile. Memory comes last: they may have put its
        // record there.
        invalidate(request.key)
        records.remove(request.key)
        faults.remove(request.key)
        return isKnown
    }

    /// An earlier version found pictures by an entry of this variant.
    private static let earlierRecord = "record"

    private func invalidate(_ key: CacheKey) {
        works.invalidate { $0.source.file == key }
        sources.invalidate { $0.file == key }
        open.withLock { open in for source in open.keys where source.file == key { open[source] = nil } }
    }

    /// Returns after all pictures are on disk.
    func flush() async { for loader in [listed, signed] { await loader.flush() } }

    /// Running and waiting transfers.
    var transferCount: Int {
        listed.downloader.transferCount + (signed === listed ? 0 : signed.downloader.transferCount)
    }
}

/// A source that is shown as far as it goes, for the operator's log.
private struct DamagedSource: Error, CustomStringConvertible {
    let address: String
    let damage: ImageDecodingError

    var description: String { "\(address) is damaged, and its pictures show what there is of it: \(damage)" }
}

/// A picture as an entry of the tiers. Its metadata is `jpeg 342 513`. For a damaged source it ends in `damaged`.
extension LoadedFile {
    /// A picture that was just made.
    convenience init(_ picture: Picture, of url: URL) {
        self.init(
            bytes: ImageBytes(picture.bytes.array), header: picture.header, damage: picture.damage, url: url)
    }

    /// The picture of an entry; nil if its metadata is invalid.
    convenience init?(pictureIn entry: DiskCache.Entry, of url: URL) {
        let words = String(decoding: entry.metadata, as: UTF8.self).split(separator: " ")
        guard words.count == 3 || words.count == 4 && words[3] == Self.damaged,
            let format = [ImageFormat.jpeg, .png].first(where: { $0.name == words[0] }),
            let width = Int(words[1]), let height = Int(words[2]), entry.body.count > 0
        else { return nil }
        self.init(
            bytes: ImageBytes(entry.body.array),
            header: ImageHeader(format: format, size: ImageSize(width: width, height: height)),
            damage: words.count == 4 ? .corrupt(segment: "source", offset: 0) : nil, url: url)
    }

    var pictureMetadata: [UInt8] {
        guard let header, let size = header.size else { return [] }
        let end = damage == nil ? "" : " \(Self.damaged)"
        return Array("\(header.format.name) \(size.width) \(size.height)\(end)".utf8)
    }

    private static let damaged = "damaged"
}
