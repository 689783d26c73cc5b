internal import CMarqueeSystem
package import HTTPSemantics
package import HTTPServer
package import ImageCodecs
package import LazyImages
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
    private let loader: PictureLoader
    private let clock: WallClock
    private let client: @Sendable (RequestHead, Peer) -> IPAddress?
    /// Its disk and shared tier; nil for none.
    package let disk: DiskCache?
    package let shared: SharedTier?

    package init(_ configuration: Configuration) {
        ruling = Lock(Ruling(configuration.rules))
        loader = PictureLoader(configuration)
        clock = configuration.clock
        client = configuration.client
        (disk, shared) = (configuration.disk, configuration.shared)
    }

    package var counters: PictureCounters { loader.counters }
    package var gate: WorkGate { loader.gate }
    /// The pictures in memory.
    package var memory: CacheCounters { loader.pictures.counters }

    /// Running and waiting transfers.
    package var transferCount: Int { loader.transferCount }

    /// Removes a source: from now on, nobody finds its pictures in memory or on disk.
    /// - Returns: whether anything was stored.
    @discardableResult
    package func purge(_ source: PictureSource) async -> Bool { await loader.remove(source) }

    /// Returns after all pictures are on disk.
    package func flush() async { await loader.flush() }

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
}

extension PictureServer {
    /// Whether a path is a picture's address.
    package static func serves(_ segments: [String]) -> Bool { segments.first == PictureAddress.folder }

    /// Answers a request like an earlier one, if memory still has the picture. Nothing is parsed again.
    package func answerKnown(_ head: RequestHead) -> HTTPResponse? {
        guard let address = presentRuling.addresses.value(for: KnownAddress.key(head.target)),
            ["GET", "HEAD"].contains(head.method),
            address.recipe.expiry.map({ clock.seconds < $0 }) ?? true,
            let picture = loader.pictureInMemory(address)
        else { return nil }
        return answer(.success(picture), address, to: head)
    }

    /// Answers GET or HEAD of `/image/{signature}/{recipe}/{source}`.
    package func admit(_ head: RequestHead, _ target: RequestTarget, from peer: Peer) -> Admission {
        do throws(PictureFailure) {
            let address = try PictureAddress(segments: target.segments)
            // Caches in front would treat every query as another key.
            guard target.query.fields.isEmpty else { throw .malformedAddress }
            let ruling = presentRuling
            try ruling.rules.check(address, now: clock.seconds)
            // A listed source needs no signature even if its address is signed, so the rules for listed sources apply.
            // Ignored: the error only says that the source is not listed.
            let isSigned = address.signature != nil && (try? ruling.rules.check(address.source)) == nil
            let known = KnownAddress(
                address.recipe, of: PictureOriginal(address.source, isSigned: isSigned),
                isSigned: address.signature != nil)
            return serve(known, head, from: peer) { known.keep(in: ruling.addresses, as: head.target) }
        } catch {
            return .answer(answer(error, to: head))
        }
    }

    /// Answers GET or HEAD of a picture of a source that the service chooses itself: a film's poster.
    package func admit(
        _ head: RequestHead, _ recipe: String, of original: PictureOriginal, from peer: Peer
    ) -> Admission {
        do throws(PictureFailure) {
            let recipe = try PictureFailure.recipe(recipe)
            let rules = rules
            try rules.check(recipe, now: clock.seconds)
            if let source = original.source { try rules.check(source) }
            return serve(KnownAddress(recipe, of: original), head, from: peer)
        } catch {
            return .answer(answer(error, to: head))
        }
    }

    /// - Parameter remember: called when there is a picture.
    private func serve(
        _ address: KnownAddress, _ head: RequestHead, from peer: Peer,
        remember: @escaping @Sendable () -> Void = {}
    ) -> Admission {
        if let picture = loader.pictureInMemory(address) {
            remember()
            return .answer(answer(.success(picture), address, to: head))
        }
        let client = client(head, peer)
        return .later { [self] pending in
            let leave = loader.start(address, for: client) { [self] outcome in
                if case .success = outcome { remember() }
                pending.send(answer(outcome, address, to: head))
            }
            pending.whenAbandoned(leave)
        }
    }

    // MARK: Answers

    private func answer(_ outcome: PictureOutcome, _ address: KnownAddress, to head: RequestHead)
        -> HTTPResponse
    {
        let served: ServedPicture
        switch outcome {
        case .failure(let failure): return answer(failure, to: head)
        case .success(let picture): served = picture
        }
        let (bytes, now) = (served.picture.bytes, clock.seconds)
        var response = HTTPResponse(
            status: .ok,
            fields: [
                "ETag": served.name.entityTag,
                "Cache-Control": PictureFreshness.control(of: address, served, now: now),
                // The max-age is the remaining freshness, counted from now.
                "Age": "0", "Cache-Status": served.status.value,
                // Pictures come from strangers: browsers must not run a script hidden in one.
                "Content-Security-Policy": "default-src 'none'; sandbox",
            ], body: .bytes(bytes.array))
        if let format = served.picture.header?.format {
            response.fields["Content-Type"] = format.mediaType
            response.fields["Content-Disposition"] = address.original.title.map {
                ContentDisposition.inline($0, ending: format.fileExtension)
            }
        }
        response.fields["Accept-Ranges"] = "bytes"
        response.route = .picture
        return response.answer(to: head, now: now) { status in
            let reason =
                status == .preconditionFailed
                ? "the picture has another tag than If-Match names" : "the picture has \(bytes.count) bytes"
            return answer(PictureFailure(status, reason), to: head)
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

    private let events = Dictionary(uniqueKeysWithValues: Event.allCases.map { ($0, Counter()) })
    private let refusalCounts = Lock<[String: Int]>([:])
    private let nanoseconds = Counter()

    /// - Parameter time: the time of making a picture.
    package func count(_ event: Event, after time: Duration = .zero) {
        events[event]?.add()
        nanoseconds.add(Int(time.nanoseconds))
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
    fileprivate func countRefusal(by rule: String) { refusalCounts.withLock { $0[rule, default: 0] += 1 } }

    /// The count of an event.
    package func number(of event: Event) -> Int { events[event]?.value ?? 0 }

    /// The refusals of each rule.
    package var refusals: [String: Int] { refusalCounts.withLock { $0 } }

    /// The total time of making pictures.
    package var makingTime: Duration { .nanoseconds(nanoseconds.value) }
}
