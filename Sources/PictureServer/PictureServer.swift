internal import CMarqueeSystem
import Coalescing
package import HTTPSemantics
package import HTTPServer
package import ImageCodecs
package import LazyImages
import Synchronization
import SystemSupport

/// Serves pictures at the wanted size, made from sources that it fetches through a cache. All requests share one
/// transfer for each source, one decode for all waiting sizes, and one encode for each recipe.
///
/// Pictures in memory are sent at once, on the thread of the connection. All other requests wait without a thread.
package final class PictureServer: Sendable {
    /// A service's limits and stores.
    package struct Configuration: Sendable {
        /// Which pictures may be made, and from which sources.
        package var rules: PictureRules
        /// The limits of transfers.
        package var downloads = ImageDownloader.Configuration()
        /// Networks that are not public but may be connected to. Default none.
        package var allowedNetworks: [AddressRange] = []
        /// The number of sources decoded at once. Default: one for each processor.
        package var workers = max(1, Int(sysconf(Int32(_SC_NPROCESSORS_ONLN))))
        /// How long a source may wait for its turn. One that has waited so long is answered 503. Default 5 s.
        package var queueTime = Duration.seconds(5)
        /// The most other sources in progress; further ones are answered 503. Default: nil, as many as memory allows.
        package var queue: Int?
        /// The most bytes for decoding at one time. Sources that are fetched or wait to be decoded take at most an
        /// eighth of that besides, and those that wait to be fetched another one. Default 512 MiB.
        package var decodeMemory = 512 << 20
        /// Finds the client of a request. Clients take turns when their sources wait. Default: the peer.
        package var client: @Sendable (RequestHead, Peer) -> IPAddress? = { _, peer in
            peer.address.flatMap { IPAddress($0) }
        }
        /// The most bytes of finished pictures in memory. Default: `MemoryLimit.standard`.
        package var pictureMemory = MemoryLimit.standard
        /// Where pictures and sources are stored; nil for memory only. Nothing else may store files in its folder.
        package var disk: DiskCache?
        /// A store that instances share. Default: nil, none.
        package var shared: SharedTier?
        /// Reports memory pressure: a warning halves the memory of pictures, and critical pressure empties it. Default:
        /// nil, which ignores pressure.
        package var pressure: MemoryPressure?
        package var transport: any Transport = CurlTransport()
        package var decoders = ImageDecoders.standard
        package var clock = WallClock.system
        /// Called with errors of which clients learn only that there is one: a source's address that may not be
        /// connected to. On any thread. Default: nothing.
        package var reportFailure: @Sendable (any Error) -> Void = { _ in }

        package init(rules: PictureRules) {
            self.rules = rules
            // A client waits: a transfer that takes longer is answered 504.
            downloads.timeouts = Timeouts(
                connect: .seconds(5), firstByte: .seconds(10), stall: .seconds(5), total: .seconds(15))
            downloads.transfers = 64
            downloads.transfersPerHost = 16
        }
    }

    /// The rules, and the addresses that they have allowed. New rules begin with none.
    final class Ruling: Sendable {
        let rules: PictureRules
        let addresses = KnownAddress.makeMemory()
        /// How many rules were in force before.
        let number: Int

        init(_ rules: PictureRules, number: Int = 0) { (self.rules, self.number) = (rules, number) }
    }

    private let ruling: Lock<Ruling>
    private let parts: SourceWork.Dependencies
    /// The sources in progress.
    private let works = Lock<[CacheKey: SourceWork]>([:])
    let clock: WallClock
    let client: @Sendable (RequestHead, Peer) -> IPAddress?
    private let relief = PressureReader()
    private let isTrimming = Atomic<Bool>(false)

    /// The share of the memory for decoding that sources take before they are decoded.
    private static let sourcePart = 8

    package init(_ configuration: Configuration) {
        ruling = Lock(Ruling(configuration.rules))
        clock = configuration.clock
        client = configuration.client
        let tiers = PictureTiers(
            memory: configuration.pictureMemory, disk: configuration.disk, shared: configuration.shared)
        let gate = WorkGate(
            WorkGate.Limits(
                workers: configuration.workers, memory: configuration.decodeMemory,
                transfers: configuration.downloads.transfers,
                sourceMemory: configuration.decodeMemory / Self.sourcePart,
                queueTime: configuration.queueTime, queue: configuration.queue),
            timing: configuration.downloads.timing)
        parts = SourceWork.Dependencies(
            tiers: tiers, gate: gate, fetcher: PictureFetcher(configuration),
            threads: BlockingThreads(count: configuration.workers, name: "marquee-picture", niceness: 5),
            decoders: configuration.decoders, limits: configuration.rules.limits, clock: configuration.clock)
        relief.read(configuration.pressure) { level in
            tiers.pictures.relieve(level)
            // The allocator keeps freed memory. Other processes need it now.
            if level > .normal { csystem_trim_memory() }
        }
    }

    package var counters: PictureCounters { parts.counters }
    package var tiers: PictureTiers { parts.tiers }
    package var gate: WorkGate { parts.gate }

    // MARK: Rules

    /// The present ruling. A request reads it once, so that it is judged by one set of rules.
    private var presentRuling: Ruling { ruling.withLock { $0 } }

    /// The rules in force.
    package var rules: PictureRules { presentRuling.rules }

    /// Grows with each change of the rules: answers made by earlier rules must not be sent any more.
    package var rulesNumber: Int { presentRuling.number }

    /// Takes the keys and the listed sizes of other rules, in one step. Requests in progress are not disturbed. Sources
    /// and limits stay as they are, because the transfers are bound to them.
    /// - Returns: what has changed: `keys`, `sizes`.
    @discardableResult
    package func replaceRules(by rules: PictureRules) -> [String] {
        ruling.withLock { ruling in
            var next = ruling.rules
            let changes = next.take(rules)
            if !changes.isEmpty { ruling = Ruling(next, number: ruling.number + 1) }
            return changes
        }
    }

    // MARK: Requests

    /// A picture in memory that may be used without asking the origin.
    func pictureInMemory(_ address: KnownAddress) -> ServedPicture? {
        let now = clock.seconds
        guard let record = tiers.recordInMemory(address.recordKey), record.use(now: now) == .fresh,
            let picture = tiers.pictureInMemory(address.pictureKey(record))
        else { return nil }
        counters.count(.memoryHit)
        return ServedPicture(picture: picture, record: record, status: .hit(record, now: now))
    }

    /// Finds or makes a picture, and delivers the picture or a failure, exactly once, on any thread. Does not block.
    /// - Parameter client: waits in turn with other clients.
    /// - Returns: a closure that cancels this caller's wait: it is delivered a failure. When the last caller cancels,
    ///   the work is cancelled.
    func start(
        _ address: KnownAddress, for client: IPAddress?, deliver: @escaping @Sendable (PictureOutcome) -> Void
    ) -> @Sendable () -> Void {
        let key = workKey(address.original)
        let now = clock.seconds
        // One limit for the reads of record, picture and source together.
        let patience = tiers.shared?.newPatience()
        let (work, caller, isNew) = SharedTier.$patience.withValue(patience) {
            // Joined under the lock: nobody joins work that is unlisted, which a purge would not find.
            works.withLock { works in
                let listed = works[key].flatMap { $0.isOpen(now: now) ? $0 : nil }
                let work = listed ?? SourceWork(address.original, for: client, parts)
                works[key] = work
                return (work, work.join(address.recipe), listed == nil)
            }
        }
        if !isNew {
            counters.count(.joined)
            work.share(with: client)
        }
        // A flight without events: the listener receives only the end.
        caller.listen(
            FlightListener { [self] _ in
                end(work, key)
                guard let outcome = caller.outcome else { return }
                deliver(caller.isFirst ? outcome : outcome.map(\.collapsed))
            })
        return { [counters] in
            counters.count(.abandoned)
            caller.leave()
        }
    }

    /// Unlists and closes work whose last picture is delivered.
    private func end(_ work: SourceWork, _ key: CacheKey) {
        let isIdle = works.withLock { works in
            guard work.isIdle else { return false }
            // Newer work may be listed, after a purge or because the source's answer may not be used any more.
            if works[key] === work { works[key] = nil }
            return true
        }
        if isIdle { work.close() }
        giveMemoryBack()
    }

    /// Signed addresses may have other rules for fetching. They then have their own transfers.
    private func workKey(_ original: PictureOriginal) -> CacheKey {
        if case .address(_, isSigned: true) = original, parts.fetcher.separatesSigned {
            return original.recordKey.variant(Self.signedVariant)
        }
        return original.recordKey
    }

    private static let signedVariant = "signed"

    /// Makes the allocator return freed memory after a while without work.
    private func giveMemoryBack() {
        guard isTrimming.exchange(true, ordering: .relaxed) == false else { return }
        Task { [self] in
            // Ignored: this task is never cancelled.
            repeat { try? await Task.sleep(for: Self.idleTime) } while gate.usage.sources > 0
            isTrimming.store(false, ordering: .relaxed)
            // Ignored: the next work tries again.
            try? await parts.threads.run { csystem_trim_memory() }
        }
    }

    private static let idleTime = Duration.seconds(2)

    // MARK: Keeping

    /// Purges a source: from now on, nobody finds its pictures in memory or on disk.
    /// - Returns: whether anything was stored.
    @discardableResult
    package func purge(_ source: PictureSource) async -> Bool {
        let key = PictureOriginal.recordKey(ofAddress: source)
        let isKnown = await tiers.record(key) != nil
        await parts.fetcher.remove(source)
        // After the file, which a request could still find, and before the record, which such a request may have stored:
        // from here on it stores nothing. Waiting clients still get their pictures.
        for key in [key, key.variant(Self.signedVariant)] {
            works.withLock { $0.removeValue(forKey: key) }?.invalidate()
        }
        parts.revalidations.invalidate { $0 == key }
        parts.failures.remove(key)
        await tiers.removeRecord(key)
        return isKnown
    }

    /// Returns after all pictures are on disk.
    package func flush() async { await parts.fetcher.flush() }

    /// Running and waiting transfers.
    package var transferCount: Int { parts.fetcher.transferCount }
}

extension PictureServer {
    /// Whether a path is a picture's address.
    package static func serves(_ segments: [String]) -> Bool { segments.first == PictureAddress.folder }

    /// Answers a request like an earlier one, if memory still has the picture. Nothing is parsed again.
    package func answerKnown(_ head: RequestHead) -> HTTPResponse? {
        guard let address = presentRuling.addresses.value(for: KnownAddress.key(head.target)),
            ["GET", "HEAD"].contains(head.method),
            address.recipe.expiry.map({ clock.seconds < $0 }) ?? true,
            let picture = pictureInMemory(address)
        else { return nil }
        return answer(.success(picture), address, to: head)
    }

    /// Answers a request for `/image/{signature}/{recipe}/{source}`.
    package func admit(_ head: RequestHead, _ target: RequestTarget, from peer: Peer) -> Admission {
        do throws(PictureRefusal) {
            let address = try PictureAddress(segments: target.segments)
            if let refusal = Self.refusal(ofMethod: head) { return .answer(refusal) }
            // Caches in front would treat every query as another key.
            guard target.query.fields.isEmpty else { throw .malformedAddress }
            let ruling = presentRuling
            try ruling.rules.check(address, now: clock.seconds)
            // A listed source needs no signature even if its address is signed, so the rules for listed sources apply.
            // Ignored: the error only says that the source is not listed.
            let isSigned = address.signature != nil && (try? ruling.rules.check(address.source)) == nil
            let known = KnownAddress(
                address.recipe, of: .address(address.source, isSigned: isSigned),
                isSigned: address.signature != nil)
            return serve(known, head, from: peer) { known.keep(in: ruling.addresses, as: head.target) }
        } catch {
            return .answer(answer(PictureFailure(error), to: head))
        }
    }

    /// Answers a request for a picture of a source that the service chooses itself: a film's poster.
    package func admit(
        _ head: RequestHead, _ recipe: String, of original: PictureOriginal, from peer: Peer
    ) -> Admission {
        do throws(PictureRefusal) {
            let recipe = try PictureRefusal.recipe(recipe)
            if let refusal = Self.refusal(ofMethod: head) { return .answer(refusal) }
            let rules = rules
            try rules.check(recipe, now: clock.seconds)
            if case .address(let source, _) = original { try rules.check(source) }
            return serve(KnownAddress(recipe, of: original), head, from: peer)
        } catch {
            return .answer(answer(PictureFailure(error), to: head))
        }
    }

    /// - Parameter remember: called when there is a picture.
    private func serve(
        _ address: KnownAddress, _ head: RequestHead, from peer: Peer,
        remember: @escaping @Sendable () -> Void = {}
    ) -> Admission {
        if let picture = pictureInMemory(address) {
            remember()
            return .answer(answer(.success(picture), address, to: head))
        }
        let client = client(head, peer)
        return .later { [self] pending in
            let leave = start(address, for: client) { [self] outcome in
                if case .success = outcome { remember() }
                pending.send(answer(outcome, address, to: head))
            }
            pending.whenAbandoned(leave)
        }
    }

    private static func refusal(ofMethod head: RequestHead) -> HTTPResponse? {
        if ["GET", "HEAD"].contains(head.method) { return nil }
        var response =
            head.method == "OPTIONS"
            ? HTTPResponse(status: .noContent) : .plain(.methodNotAllowed, "pictures can only be read")
        response.fields["Allow"] = "GET, HEAD, OPTIONS"
        response.route = .picture
        return response
    }

    // MARK: Answers

    private func answer(_ outcome: PictureOutcome, _ address: KnownAddress, to head: RequestHead)
        -> HTTPResponse
    {
        do throws(PictureFailure) {
            var response = try content(outcome.get(), address, to: head)
            response.route = .picture
            return response
        } catch {
            return answer(error, to: head)
        }
    }

    private func content(
        _ served: ServedPicture, _ address: KnownAddress, to head: RequestHead
    ) throws(PictureFailure) -> HTTPResponse {
        let picture = served.picture
        var fields: HeaderFields = [
            "ETag": picture.entityTag,
            "Cache-Control": PictureFreshness.control(of: address, served.record, now: clock.seconds),
            // The max-age is the remaining freshness, counted from now.
            "Age": "0", "Cache-Status": served.status.value,
        ]
        let conditions = Preconditions(head.fields, isRead: true, entityTag: picture.entityTag)
        switch conditions.outcome {
        case .notModified: return HTTPResponse(status: .notModified, fields: fields)
        case .failed:
            throw PictureFailure(.preconditionFailed, "the picture has another tag than If-Match names")
        case .proceed: break
        }
        // Pictures come from strangers: browsers must not run a script hidden in one.
        fields["Content-Security-Policy"] = "default-src 'none'; sandbox"
        fields["Content-Type"] = picture.format.mediaType
        let count = picture.bytes.count
        return HTTPResponse(status: .ok, fields: fields, body: .bytes(picture.bytes)).part(
            for: head, conditions
        ) {
            answer(PictureFailure(.rangeNotSatisfiable, "the picture has \(count) bytes"), to: head)
        }
    }

    private func answer(_ failure: PictureFailure, to head: RequestHead) -> HTTPResponse {
        if let rule = failure.rule { counters.countRefusal(by: rule) }
        // The operator finds the request in the log.
        let isOurs = failure.status == .internalServerError && !head.id.isEmpty
        let problem = ProblemDetails(
            failure.status, failure.detail + (isOurs ? " (request \(head.id))" : ""))
        var response = HTTPResponse(status: failure.status, body: .bytes(Array(problem.json.utf8)))
        response.route = .picture
        response.fields["Content-Type"] = ProblemDetails.jsonType
        response.fields["Cache-Control"] = PictureFreshness.control(ofFailure: failure.status)
        if let retryAfter = failure.retryAfter { response.fields["Retry-After"] = "\(retryAfter)" }
        return response
    }
}

/// Counts the events of a picture service.
package final class PictureCounters: Sendable {
    /// An event to count.
    package enum Event: String, Sendable, CaseIterable {
        /// Answered from memory, or from disk.
        case memoryHit, diskHit
        /// A picture was made.
        case made
        /// A source was decoded.
        case decoded
        /// A stale picture was sent, because the origin failed or the service was busy.
        case stale
        /// The origin sent a source; the origin confirmed a source with 304.
        case fetched, confirmed
        /// A source came from the shared tier.
        case shared
        /// A request joined another request's work.
        case joined
        /// A client left before its answer.
        case abandoned
    }

    private struct State {
        var events: [Event: Int] = [:]
        var refusals: [String: Int] = [:]
        var makingTime = Duration.zero
    }

    private let state = Lock(State())

    package func count(_ event: Event, after time: Duration = .zero) {
        state.withLock { state in
            state.events[event, default: 0] += 1
            state.makingTime += time
        }
    }

    /// Counts how a source's file was fetched.
    func count(_ file: LoadedFile) {
        switch file.source {
        case .network, .resumed: count(.fetched)
        case .revalidated: count(.confirmed)
        case .stale: count(.stale)
        case .shared: count(.shared)
        default: break
        }
    }

    /// Counts the refusal of a rule.
    fileprivate func countRefusal(by rule: String) { state.withLock { $0.refusals[rule, default: 0] += 1 } }

    /// The count of an event.
    package func number(of event: Event) -> Int { state.withLock { $0.events[event] ?? 0 } }

    /// The refusals of each rule.
    package var refusals: [String: Int] { state.withLock { $0.refusals } }

    /// The total time of making pictures.
    package var makingTime: Duration { state.withLock { $0.makingTime } }
}
