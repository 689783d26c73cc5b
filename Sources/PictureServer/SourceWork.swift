import Coalescing
import HTTPSemantics
import Hashing
import ImageCodecs
import LazyImages
import SystemSupport
import PictureService

/// The work on one source that requests share: one transfer, one decode at each scale, one encode for each recipe. A
/// single flight for each picture stands on a single flight for the source:
///
///     picture w92  --> stored? --no--> source --> make, one picture after the other
///     picture w342 --> stored? --no-----'
///
/// So a stored picture does not wait behind pictures that are being made. When the last caller of all pictures leaves,
/// the source's flight is abandoned too. The work itself is a caller of that flight, because a picture joins it late:
///
/// 1. Requests for two pictures join the work. The first picture begins the source's flight.
/// 2. The client of the first picture leaves.
/// 3. The second picture joins the source's flight, which must still be the same.
///
/// Safe for concurrent use.
final class SourceWork: Sendable {
    /// The parts of a service that the work on all its sources shares.
    struct Dependencies: Sendable {
        let tiers: PictureTiers
        let gate: WorkGate
        let fetcher: PictureFetcher
        /// Make pictures.
        let threads: BlockingThreads
        let failures = FailureMemory()
        /// The revalidations in the background, by the keys of the records.
        let revalidations = FlightTable<CacheKey, Void, PictureFailure, Never>()
        let counters = PictureCounters()
        let decoders: ImageDecoders
        let limits: DecodingLimits
        let clock: WallClock
    }

    /// A source's bytes.
    fileprivate struct Loaded {
        let bytes: ImageBytes
        let record: SourceRecord
        /// The file of the bytes; nil for a stored original.
        var file: LoadedFile?
        /// How the bytes were fetched.
        let status: CacheStatus
    }

    private struct State {
        /// Names the source in the gate, once it is being read.
        var ticket: WorkGate.Ticket?
        /// The source, or why it cannot be read.
        var outcome: Result<OpenSource, PictureFailure>?
        /// The record, once pixels of the source have turned out to be damaged.
        var damagedRecord: SourceRecord?
        /// The time from which on nobody may join, in seconds since 1970.
        var end = Int.max
        /// The work's own caller of the source's flight.
        var sourceCaller: Flight<OpenSource, PictureFailure, Never>.Caller?
        var isClosed = false
    }

    private let original: PictureOriginal
    private let recordKey: CacheKey
    /// The client whose request began the work; nil for a program at a local socket.
    private let client: IPAddress?
    private let parts: Dependencies
    /// The pictures in progress, by the derivations of their recipes.
    private let pictures = FlightTable<String, ServedPicture, PictureFailure, Never>()
    private let sources = FlightTable<CacheKey, OpenSource, PictureFailure, Never>()
    private let state = Lock(State())

    private var isShared: Bool { original.isShared }
    private var now: Int { parts.clock.seconds }

    init(_ original: PictureOriginal, for client: IPAddress?, _ parts: Dependencies) {
        (self.original, self.client, self.parts) = (original, client, parts)
        recordKey = original.recordKey
    }

    // MARK: Requests

    /// Joins the flight of a picture, or begins it.
    func join(_ recipe: PictureRecipe) -> Flight<ServedPicture, PictureFailure, Never>.Caller {
        pictures.join(recipe.derivation, priority: 0, cancelled: { .cancelled }) {
            [self] flight, _ throws(PictureFailure) in
            try await picture(recipe) { flight.isCurrent }
        }
    }

    /// Whether a request may join now. Not once the source's answer is known and may not be used without asking the
    /// origin again: present requests get it, later ones need another.
    func isOpen(now: Int) -> Bool { state.withLock { now < $0.end } }

    /// Whether no picture is in progress.
    var isIdle: Bool { pictures.running.isEmpty }

    /// Releases the source. To be called when the work is idle and no request can join it.
    func close() {
        let caller = state.withLock { state in
            state.isClosed = true
            return state.sourceCaller.take()
        }
        caller?.leave()
    }

    /// Lets the source wait in the turn of another client, if that is earlier.
    func share(with client: IPAddress?) {
        if let ticket = state.withLock({ $0.ticket }) { parts.gate.share(ticket, with: client) }
    }

    /// Forbids to store anything, because the source was purged.
    func invalidate() {
        sources.invalidate { _ in true }
        pictures.invalidate { _ in true }
    }

    // MARK: A picture

    private func picture(
        _ recipe: PictureRecipe, while isCurrent: () -> Bool
    ) async throws(PictureFailure) -> ServedPicture {
        if let failure = parts.failures.failure(of: recordKey) { throw failure }
        // While the source is read, only memory can have news of it.
        let isReading = state.withLock { $0.ticket != nil }
        var record = isReading ? parts.tiers.recordInMemory(recordKey) : await parts.tiers.record(recordKey)
        var looked: SHA256.Digest?
        if let record, record.use(now: now) != .validate {
            if let hit = await hit(recipe, record, .diskHit) {
                if record.use(now: now) == .staleWhileRevalidating {
                    // New work: a revalidation must not keep this work's place in the gate.
                    SourceWork(original, for: nil, parts).revalidate(record)
                }
                return hit
            }
            looked = record.key(recipe)
        }
        do throws(PictureFailure) {
            let source = try await source(replacing: record)
            record = source.loaded.record
            return try await make(recipe, of: source, looked, while: isCurrent)
        } catch {
            if isCurrent() { parts.failures.record(error, of: recordKey) }
            // A stale picture instead of a failure that may pass, if the origin allows it (RFC 9111 section 4.2.4).
            guard error.mayPass, let record, record.allowsStale(now: now),
                let hit = await hit(recipe, record, .stale)
            else { throw error }
            return hit
        }
    }

    /// The stored picture of a record.
    private func hit(
        _ recipe: PictureRecipe, _ record: SourceRecord, _ event: PictureCounters.Event
    ) async -> ServedPicture? {
        guard let picture = await parts.tiers.picture(record.key(recipe), isShared: isShared) else {
            return nil
        }
        parts.counters.count(event)
        return ServedPicture(picture: picture, record: record, status: .hit(record, now: now))
    }

    /// - Parameter looked: the key that no tier has a picture of.
    private func make(
        _ recipe: PictureRecipe, of source: OpenSource, _ looked: SHA256.Digest?,
        while isCurrent: () -> Bool
    ) async throws(PictureFailure) -> ServedPicture {
        var (record, status) = (source.loaded.record, source.loaded.status)
        let key = record.key(recipe)
        if key != looked, let picture = await parts.tiers.picture(key, isShared: isShared) {
            return ServedPicture(picture: picture, record: record, status: status)
        }
        let made = try await source.picture(recipe)
        if let damage = made.damage, !record.isDamaged {
            record = await note(damage, of: source.loaded, while: isCurrent)
        }
        let picture = KeptPicture(made, key: key)
        if record.mayBeKept {
            parts.tiers.keepInMemory(picture, as: key)
            // Stored after the answer. The source keeps its place in the gate, so that a slow disk holds up new work.
            Task { [parts, isShared] in
                await parts.tiers.keepOnDisk(picture, as: key, isShared: isShared)
                withExtendedLifetime(source) {}
            }
        }
        return ServedPicture(picture: picture, record: record, status: status)
    }

    /// Marks the record of a source whose pixels turn out to be damaged. A file that came just now may be healed by
    /// another transfer, so its record is fresh for a minute.
    private func note(
        _ damage: ImageDecodingError, of loaded: Loaded, while isCurrent: () -> Bool
    ) async -> SourceRecord {
        if let record = state.withLock({ $0.damagedRecord }) { return record }
        var record = loaded.record
        record.isDamaged = true
        if case .address(let source, let isSigned) = original, let file = loaded.file, file.mayBeDoubted {
            record.lifetime = min(record.lifetime, record.initialAge + PictureFreshness.failureLifetime)
            if isCurrent() { await parts.fetcher.doubt(file, of: source, isSigned: isSigned) }
        }
        state.withLock { $0.damagedRecord = record }
        report(damage)
        if record.mayBeKept {
            await parts.tiers.keep(record, for: recordKey, known: loaded.record) { !isCurrent() }
        }
        return record
    }

    private func report(_ damage: ImageDecodingError) {
        parts.fetcher.reportFailure(DamagedSource(address: original.address, damage: damage))
    }

    // MARK: The source

    /// The source, read once for all pictures.
    private func source(replacing record: SourceRecord?) async throws(PictureFailure) -> OpenSource {
        if let outcome = state.withLock({ $0.outcome }) { return try outcome.get() }
        let caller = sources.join(recordKey, priority: 0, cancelled: { .cancelled }) {
            [self] flight, _ throws(PictureFailure) in
            // Another flight may have ended since the look above.
            if let outcome = state.withLock({ $0.outcome }) { return try outcome.get() }
            do throws(PictureFailure) {
                let source = try await open(replacing: record) { flight.isCurrent }
                let (record, now) = (source.loaded.record, now)
                let isUsable = record.mayBeKept && record.use(now: now) == .fresh
                let left = min(record.lifetime - record.age(now: now), CacheControl.maximumSeconds)
                end(.success(source), at: isUsable ? now + max(0, left) : .min)
                return source
            } catch {
                if !flight.isOver { end(.failure(error), at: .min) }
                throw error
            }
        }
        keep(caller.flight)
        return try await caller.value
    }

    /// Joins the source's flight for the work itself, once.
    private func keep(_ flight: Flight<OpenSource, PictureFailure, Never>) {
        guard let caller = flight.join(0) else { return }
        let isKept = state.withLock { state in
            guard !state.isClosed, state.sourceCaller == nil else { return false }
            state.sourceCaller = caller
            return true
        }
        if !isKept { caller.leave() }
    }

    private func end(_ outcome: Result<OpenSource, PictureFailure>, at end: Int) {
        state.withLock { ($0.outcome, $0.end) = (outcome, end) }
    }

    private func open(
        replacing record: SourceRecord?, while isCurrent: () -> Bool
    ) async throws(PictureFailure) -> OpenSource {
        let ticket = WorkGate.Ticket()
        state.withLock { $0.ticket = ticket }
        try await parts.gate.enter(ticket, client)
        do throws(PictureFailure) {
            let loaded = try await read(replacing: record, while: isCurrent)
            try parts.gate.endFetching(ticket, loaded.bytes.count)
            return OpenSource(loaded, ticket, parts)
        } catch {
            parts.gate.leave(ticket)
            throw error
        }
    }

    /// Reads the source, and stores its record or removes the old one. Does neither after a purge: the record may be
    /// that of a later request.
    /// - Parameters:
    ///   - record: the stored record; nil for none.
    ///   - isCurrent: whether the source was not purged meanwhile.
    private func read(
        replacing record: SourceRecord?, while isCurrent: () -> Bool
    ) async throws(PictureFailure) -> Loaded {
        let loaded: Loaded
        do throws(PictureFailure) {
            loaded =
                switch original {
                case .address(let source, let isSigned):
                    try await fetch(source, isSigned: isSigned, replacing: record)
                case .stored(let stored): try await read(stored)
                }
        } catch {
            // The picture is gone, so its old record must not be used when the origin fails later.
            if !error.mayPass, record != nil, isCurrent() { await parts.tiers.removeRecord(recordKey) }
            throw error
        }
        if loaded.record.mayBeKept {
            await parts.tiers.keep(loaded.record, for: recordKey, known: record) { !isCurrent() }
        } else if record != nil, isCurrent() {
            await parts.tiers.removeRecord(recordKey)
        }
        return loaded
    }

    private func fetch(
        _ source: PictureSource, isSigned: Bool, replacing known: SourceRecord?
    ) async throws(PictureFailure) -> Loaded {
        let file = try await parts.fetcher.file(source, isSigned: isSigned)
        parts.counters.count(file)
        guard let header = file.header, let size = header.size, let freshness = file.freshness else {
            throw PictureFailure(.unprocessableContent, "the source is not a picture with a known size")
        }
        let content = try await parts.run { file.bytes.checksum }
        let wasDamaged = known?.isDamaged == true && known?.content == content
        if let damage = file.damage, !wasDamaged { report(damage) }
        let record = SourceRecord(
            content: content, byteCount: file.bytes.count, format: header.format, size: size,
            control: file.fields?.values(of: "cache-control") ?? [], received: freshness.received,
            initialAge: freshness.initialAge, lifetime: freshness.lifetime, mayBeKept: file.mayBeKept,
            isDamaged: file.damage != nil || wasDamaged)
        let status =
            CacheStatus(file, hadRecord: known != nil) ?? .hit(record, now: parts.clock.seconds)
        return Loaded(bytes: file.bytes, record: record, file: file, status: status)
    }

    private func read(_ stored: StoredOriginal) async throws(PictureFailure) -> Loaded {
        try await parts.run { [parts] () throws(PictureFailure) in
            // Ignored: the error may name a path, which clients must not see.
            guard let bytes = try? ImageBytes(stored.read()) else {
                throw PictureFailure(.internalServerError, "the poster cannot be read")
            }
            let maker = try parts.maker(of: bytes).get()
            // The name changes with the bytes, so the record never becomes stale.
            let record = SourceRecord(
                content: bytes.checksum, byteCount: bytes.count, format: maker.format, size: maker.size,
                control: [], received: parts.clock.seconds, initialAge: 0,
                lifetime: CacheControl.maximumSeconds)
            return Loaded(
                bytes: bytes, record: record, status: CacheStatus(forward: .uriMiss, isStored: true))
        }
    }

    /// Revalidates the source in the background while its stored picture is sent (RFC 5861 section 3). Only one
    /// revalidation of a source runs at a time. Later requests use its result.
    private func revalidate(_ record: SourceRecord) {
        guard parts.revalidations[recordKey] == nil else { return }
        // This caller never leaves, so the flight is not abandoned.
        _ = parts.revalidations.join(recordKey, priority: 0, cancelled: { .cancelled }) {
            [self] flight, _ throws(PictureFailure) in
            guard let ticket = parts.gate.enterAtOnce() else { return }
            defer { parts.gate.leave(ticket) }
            _ = try await read(replacing: record) { flight.isCurrent }
        }
    }
}

/// A source that is shown as far as it goes, for the operator's log.
private struct DamagedSource: Error, CustomStringConvertible {
    let address: String
    let damage: ImageDecodingError

    var description: String { "\(address) is damaged, and its pictures show what there is of it: \(damage)" }
}

extension SourceWork.Dependencies {
    /// Runs a closure on the threads that make pictures.
    func run<Value: Sendable>(
        _ work: @escaping @Sendable () throws(PictureFailure) -> Value
    ) async throws(PictureFailure) -> Value {
        let shortage = PictureFailure(
            .serviceUnavailable, "the system has no free thread; try again", retryAfter: 1)
        return try await threads.run({ _ in shortage }, work)
    }

    /// Reads a source's header.
    func maker(of bytes: ImageBytes) -> Result<PictureMaker, PictureFailure> {
        Result { () throws(PictureError) in
            try PictureMaker(bytes, decoders: decoders, limits: limits)
        }.mapError { PictureFailure(.picture($0)) }
    }
}

/// A source in memory, from which pictures are made one after the other. It has a place in the gate, and a worker and
/// memory once it is decoded. It gives them back when nobody uses it any more.
private final class OpenSource: Sendable {
    /// Decodes the source. Used by one thread at a time.
    private final class Decoder: Sendable {
        let maker: Lock<PictureMaker>
        init(_ maker: PictureMaker) { self.maker = Lock(maker) }
    }

    let loaded: SourceWork.Loaded
    private let ticket: WorkGate.Ticket
    private let parts: SourceWork.Dependencies
    /// Let one picture be made at a time.
    private let turns = SlotQueue(
        perHost: 1, total: 1, breaker: HostCircuitBreaker(failures: .max, pause: .zero), now: { .zero })
    /// The decoder, and the memory reserved for it in bytes; nil before the first picture.
    private let reserved = Lock<(decoder: Decoder, memory: Int)?>(nil)

    /// - Parameter ticket: the source's place in the gate.
    init(_ loaded: SourceWork.Loaded, _ ticket: WorkGate.Ticket, _ parts: SourceWork.Dependencies) {
        (self.loaded, self.ticket, self.parts) = (loaded, ticket, parts)
    }

    deinit {
        parts.gate.release(ticket)
        parts.gate.leave(ticket)
    }

    /// Makes a picture, when its turn has come.
    func picture(_ recipe: PictureRecipe) async throws(PictureFailure) -> Picture {
        let turn: Slot
        do { turn = try await turns.enter(turns.makeNumber(), host: "", priority: { 0 }) } catch {
            throw .cancelled
        }
        let outcome: Result<Picture, PictureFailure>
        do throws(PictureFailure) {
            outcome = .success(try await make(recipe, with: decoder(for: recipe)))
        } catch {
            outcome = .failure(error)
        }
        turn.leave(.inconclusive)
        return try outcome.get()
    }

    private func make(
        _ recipe: PictureRecipe, with decoder: Decoder
    ) async throws(PictureFailure) -> Picture {
        let start = ContinuousClock.now
        let picture = try await parts.run { () throws(PictureFailure) in
            try decoder.maker.withLock { maker throws(PictureFailure) in
                do throws(PictureError) {
                    return try maker.picture(recipe)
                } catch {
                    throw PictureFailure(.picture(error))
                }
            }
        }
        parts.counters.count(.made, after: start.duration(to: .now))
        return picture
    }

    /// The decoder, with a worker and memory for the recipe.
    private func decoder(for recipe: PictureRecipe) async throws(PictureFailure) -> Decoder {
        if let (decoder, memory) = reserved.withLock({ $0 }) {
            let missing = max(0, try Self.memory(for: recipe, of: decoder.maker.withLock { $0 }) - memory)
            if missing == 0 || parts.gate.extend(by: missing, for: ticket) {
                reserved.withLock { $0 = (decoder, memory + missing) }
                return decoder
            }
        }
        let maker = try parts.maker(of: loaded.bytes).get()
        let memory = try Self.memory(for: recipe, of: maker)
        guard memory <= parts.gate.memory else { throw .needsMemory }
        // Gives up its memory before it waits. Two sources that each hold a part could wait for each other for ever.
        if reserved.withLock({ $0.take() }) != nil { parts.gate.release(ticket) }
        try await parts.gate.acquire(memory, for: ticket)
        let decoder = Decoder(maker)
        reserved.withLock { $0 = (decoder, memory) }
        parts.counters.count(.decoded)
        return decoder
    }

    private static func memory(
        for recipe: PictureRecipe, of maker: PictureMaker
    ) throws(PictureFailure) -> Int {
        do throws(PictureError) { return try maker.memory(for: recipe) } catch {
            throw PictureFailure(.picture(error))
        }
    }
}
