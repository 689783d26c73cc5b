import HTTPSemantics
import ImageCodecs
import LazyImages
import SystemSupport

/// Finds or makes the pictures of one source, one recipe after the other. Looks into the tiers, fetches the source at
/// most once, and decodes it at most once for each scale.
struct SourceWork {
    /// The source's bytes.
    private struct Loaded {
        let bytes: ImageBytes
        let record: SourceRecord
        /// How the bytes were fetched.
        let status: CacheStatus
    }

    private let flight: SourceFlight
    private var original: PictureOriginal { flight.original }
    private let recordKey: CacheKey
    private let surroundings: Surroundings
    private var record: SourceRecord?
    private var ticket: WorkGate.Ticket { flight.ticket }
    /// Whether the source has a place in the gate.
    private var hasPlace = false
    private var loaded: Loaded?
    /// Why the source could not be loaded. Every waiter gets this failure.
    private var failure: PictureFailure?
    /// The last picture made, while it is not yet on disk.
    private var made: (picture: KeptPicture, key: SHA256.Digest)?
    /// Decodes the source. Used by one thread at a time.
    private var maker: MakerBox?
    /// The memory reserved for the maker, in bytes.
    private var memory = 0

    private final class MakerBox: Sendable {
        let maker: Lock<PictureMaker>
        init(_ maker: PictureMaker) { self.maker = Lock(maker) }
    }

    private var tiers: PictureTiers { surroundings.tiers }
    private var now: Int { surroundings.clock.seconds }

    init(_ flight: SourceFlight, _ surroundings: Surroundings) {
        self.flight = flight
        self.surroundings = surroundings
        recordKey = flight.original.recordKey
    }

    /// Gives back the worker, the memory and the place.
    mutating func end() {
        dropMaker()
        if hasPlace { surroundings.gate.leave(ticket) }
        hasPlace = false
    }

    /// The picture by a recipe, or a failure.
    mutating func outcome(for recipe: PictureRecipe) async -> PictureOutcome {
        do throws(PictureFailure) {
            if let failure = failure ?? surroundings.failures.failure(of: recordKey) { throw failure }
            var looked: SHA256.Digest?
            if loaded == nil {
                // Read each time: another work may have fetched or purged the source meanwhile.
                record = await tiers.record(recordKey)
                if let record {
                    if let found = await Self.stored(recipe, of: original, record, surroundings) {
                        return found
                    }
                    if record.use(now: now) != .validate { looked = record.key(recipe) }
                }
            }
            let loaded = try await source()
            let key = loaded.record.key(recipe)
            if key != looked, let picture = await tiers.picture(key, isShared: original.isShared) {
                return .picture(picture, loaded.record, loaded.status)
            }
            let picture = KeptPicture(try await make(recipe, of: loaded), key: key)
            if loaded.record.mayBeKept {
                tiers.keepInMemory(picture, as: key)
                made = (picture, key)
            }
            return .picture(picture, loaded.record, loaded.status)
        } catch {
            return await staleOutcome(recipe, instead: error)
        }
    }

    /// Stores the last picture on disk.
    mutating func keepMade() async {
        guard let (picture, key) = made else { return }
        made = nil
        await tiers.keepOnDisk(picture, as: key, isShared: original.isShared)
    }

    // MARK: What is stored

    /// The stored picture, if the source is fresh enough to use it without asking the origin.
    static func stored(
        _ recipe: PictureRecipe, of original: PictureOriginal, _ record: SourceRecord,
        _ surroundings: Surroundings
    ) async -> PictureOutcome? {
        let now = surroundings.clock.seconds
        let use = record.use(now: now)
        guard use != .validate,
            let picture = await surroundings.tiers.picture(
                record.key(recipe), isShared: original.isShared)
        else { return nil }
        if use == .staleWhileRevalidating { revalidate(original, surroundings) }
        surroundings.counters.count(.diskHit)
        return .picture(picture, record, .hit(record, now: now))
    }

    /// A stale picture instead of a failure that may pass, if the origin allows it (RFC 9111 section 4.2.4).
    private func staleOutcome(_ recipe: PictureRecipe, instead failure: PictureFailure) async
        -> PictureOutcome
    {
        guard failure.mayPass, let record, record.allowsStale(now: now),
            let picture = await tiers.picture(
                record.key(recipe), isShared: original.isShared)
        else { return .failure(failure) }
        surroundings.counters.count(.stale)
        return .picture(picture, record, .hit(record, now: now))
    }

    // MARK: The source

    /// The source, loaded once for all waiters.
    private mutating func source() async throws(PictureFailure) -> Loaded {
        do throws(PictureFailure) {
            let source = if let loaded { loaded } else { try await load() }
            // Present waiters may use it. When it is stale, later requests must ask the origin again.
            let record = source.record
            if !record.mayBeKept || record.use(now: now) != .fresh { flight.close() }
            let left = min(record.lifetime - record.age(now: now), CacheControl.maximumSeconds)
            flight.close(at: now + max(0, left))
            return source
        } catch {
            failure = error
            flight.close()
            throw error
        }
    }

    private mutating func load() async throws(PictureFailure) -> Loaded {
        try await surroundings.gate.enter(ticket, flight.client)
        hasPlace = true
        let fresh: Loaded
        do throws(PictureFailure) {
            fresh =
                switch original {
                case .address(let source, let isSigned): try await fetched(source, isSigned: isSigned)
                case .stored(let stored): try await read(stored)
                }
        } catch {
            // The picture is gone, so its old record must not be used when the origin fails later.
            if !error.mayPass, record != nil { await tiers.removeRecord(recordKey) }
            throw error
        }
        try surroundings.gate.endFetching(ticket, fresh.bytes.count)
        if fresh.record.mayBeKept {
            let flight = flight
            await tiers.keep(fresh.record, for: recordKey, known: record) { flight.isForgotten }
        } else if record != nil {
            await tiers.removeRecord(recordKey)
        }
        record = fresh.record
        loaded = fresh
        return fresh
    }

    private func fetched(_ source: PictureSource, isSigned: Bool) async throws(PictureFailure) -> Loaded {
        let file: LoadedFile
        do {
            file = try await surroundings.fetcher.file(source, isSigned: isSigned)
        } catch {
            throw remembered(PictureFailure(error))
        }
        surroundings.counters.count(file)
        let fetched = try await Self.record(of: file, surroundings)
        let status = CacheStatus(file, hadRecord: record != nil) ?? .hit(fetched, now: now)
        return Loaded(bytes: file.bytes, record: fetched, status: status)
    }

    static func record(
        of file: LoadedFile, _ surroundings: Surroundings
    ) async throws(PictureFailure) -> SourceRecord {
        guard let header = file.header, let size = header.size, let freshness = file.freshness else {
            throw PictureFailure(.unprocessableContent, "the source is not a picture with a known size")
        }
        let content = try await surroundings.run { file.bytes.checksum }
        return SourceRecord(
            content: content, byteCount: file.bytes.count, format: header.format, size: size,
            control: file.fields?.values(of: "cache-control") ?? [], received: freshness.received,
            initialAge: freshness.initialAge, lifetime: freshness.lifetime, mayBeKept: file.mayBeKept)
    }

    private func read(_ stored: StoredOriginal) async throws(PictureFailure) -> Loaded {
        let (decoders, now) = (surroundings.decoders, now)
        let limits = surroundings.limits
        let outcome = try await surroundings.run { () -> Result<Loaded, PictureFailure> in
            // Losing the error is right: it may name a path, which clients must not see.
            guard let bytes = try? ImageBytes(stored.read()) else {
                return .failure(PictureFailure(.internalServerError, "the poster cannot be read"))
            }
            let maker: PictureMaker
            do throws(PictureError) {
                maker = try PictureMaker(bytes, decoders: decoders, limits: limits)
            } catch {
                return .failure(PictureFailure(error))
            }
            // The name changes with the bytes, so the record never becomes stale.
            let record = SourceRecord(
                content: bytes.checksum, byteCount: bytes.count, format: maker.format, size: maker.size,
                control: [], received: now, initialAge: 0, lifetime: CacheControl.maximumSeconds)
            return .success(
                Loaded(
                    bytes: bytes, record: record, status: CacheStatus(forward: .uriMiss, isStored: true)))
        }
        switch outcome {
        case .success(let loaded): return loaded
        case .failure(let failure): throw remembered(failure)
        }
    }

    /// Remembers the failure if it is the source's own.
    private func remembered(_ failure: PictureFailure) -> PictureFailure {
        surroundings.failures.note(failure, of: recordKey)
        return failure
    }

    // MARK: Pictures

    private mutating func make(_ recipe: PictureRecipe, of loaded: Loaded) async throws(PictureFailure)
        -> Picture
    {
        let box = try await maker(for: recipe, of: loaded)
        let start = ContinuousClock.now
        let outcome = try await surroundings.run {
            Result { () throws(PictureError) in
                try box.maker.withLock { maker throws(PictureError) in try maker.picture(recipe) }
            }
        }
        do {
            let picture = try outcome.get()
            surroundings.counters.count(.made, after: start.duration(to: .now))
            return picture
        } catch {
            throw remembered(PictureFailure(error))
        }
    }

    /// The maker that decodes the source, with a worker and memory for the recipe.
    private mutating func maker(
        for recipe: PictureRecipe, of loaded: Loaded
    ) async throws(PictureFailure) -> MakerBox {
        if let maker {
            let more = maker.maker.withLock { $0.memory(for: recipe) } - memory
            if more <= 0 { return maker }
            if surroundings.gate.extend(by: more, for: ticket) {
                memory += more
                return maker
            }
        }
        let fresh: PictureMaker
        do throws(PictureError) {
            fresh = try PictureMaker(
                loaded.bytes, decoders: surroundings.decoders, limits: surroundings.limits)
        } catch {
            throw remembered(PictureFailure(error))
        }
        let needed = fresh.memory(for: recipe)
        guard needed <= surroundings.gate.memory else {
            // This failure is not remembered: a smaller picture of the source may need less memory.
            throw PictureFailure(
                .unprocessableContent, "the source needs more memory than the service has for one picture")
        }
        // Gives up its memory before it waits. Two makers that each hold a part could wait for each other for ever.
        dropMaker()
        try await surroundings.gate.acquire(needed, for: ticket)
        memory = needed
        let box = MakerBox(fresh)
        maker = box
        surroundings.counters.count(.decoded)
        return box
    }

    private mutating func dropMaker() {
        guard maker != nil else { return }
        maker = nil
        surroundings.gate.release(ticket)
        memory = 0
    }
}
