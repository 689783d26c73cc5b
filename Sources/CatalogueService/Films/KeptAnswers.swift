import Coalescing
import HTTPSemantics
import HTTPServer
import ImageCodecs
import LazyImages
import SystemSupport

/// One rendered answer: the whole answer of 200, without regard to a request's conditions.
final class KeptAnswer: Sendable {
    private let response: HTTPResponse
    private let whenSent: (@Sendable () -> Void)?

    /// - Parameter whenSent: called each time the answer is sent. Default: nil, nothing.
    init(_ response: HTTPResponse, whenSent: (@Sendable () -> Void)? = nil) {
        self.whenSent = whenSent
        var response = response
        response.prepare()
        self.response = response
    }

    /// In bytes; about 2 KiB are the fields and the objects.
    fileprivate var cost: Int { response.body.count + 2048 }
    fileprivate var isWhole: Bool { response.status == .ok }

    /// The answer to a request: whole, a part, or 304 and 412 for its conditions (RFC 9110 section 13).
    func answer(to head: RequestHead) -> HTTPResponse {
        guard isWhole else { return response }
        whenSent?()
        return response.answer(to: head, now: WallClock.system.seconds) { status in
            let refusal =
                status == .preconditionFailed
                ? FilmRefusal(ServiceCall.failedCondition(head.fields, isThere: true))
                : FilmRefusal(status, "the content has \(response.body.count) bytes")
            return refusal.response(to: head)
        }
    }
}

/// A cache of rendered answers: lists, films, pages and posters are rendered and compressed once, and then sent from
/// memory until the library changes. Concurrent requests for one answer are coalesced: the first one renders it. When
/// the last of their clients has gone, the rendering leaves the queue, or ends at the next look into the library.
///
/// An answer is kept with the library's state before it was rendered, and sent only in that state. So no client gets an
/// answer that is older than the last write, by this or another program.
final class KeptAnswers: Sendable {
    private final class Entry: Sendable {
        let answer: KeptAnswer
        let state: Int64
        init(_ answer: KeptAnswer, _ state: Int64) { (self.answer, self.state) = (answer, state) }
    }

    /// The rendering of an answer.
    private struct Rendering: Hashable {
        let key: CacheKey
        let state: Int64
    }

    /// A rendering has a thread.
    private struct Begun: FlightEvent {
        func record(in recent: inout [Begun]) { recent = [self] }
    }

    private let entries: MemoryCache<Entry>
    private let renderings = FlightTable<Rendering, KeptAnswer, CancellationError, Begun>()
    /// Render two answers at once.
    private let threads = BlockingThreads(count: 2, name: "marquee-render")

    /// - Parameter limit: the most bytes of all answers. One answer may take a quarter of them.
    init(limit: Int) { entries = MemoryCache(limit: limit, entryLimit: limit / 4) }

    /// The key of the answer to a read: the address as written, the host, the fields that choose format and coding, what
    /// the page offers its reader, and the rules for pictures. Requests that differ in their spelling have answers of
    /// their own.
    static func key(_ head: RequestHead, _ access: PageAccess, rules: Int) -> CacheKey {
        CacheKey(inMemory: [
            head.target, head.fields["host"], head.fields["accept"], head.fields["accept-encoding"],
            access.tag,
            String(rules),
        ])
    }

    /// The kept answer; nil if there is none in this state.
    func answer(_ key: CacheKey, _ state: Int64) -> KeptAnswer? {
        guard let entry = entries.value(for: key), entry.state == state else { return nil }
        return entry.answer
    }

    /// Keeps an answer, unless it is a refusal.
    /// - Parameter state: the library's state before the answer was rendered.
    func keep(_ answer: KeptAnswer, as key: CacheKey, _ state: Int64) {
        if answer.isWhole { entries.store(Entry(answer, state), for: key, cost: answer.cost) }
    }

    /// Renders an answer on a thread of its own, once for all concurrent requests. Does not block.
    /// - Parameters:
    ///   - pending: gets the answer to its request.
    ///   - completing: adds to the answer what is for this request alone. Default: nothing.
    func render(
        _ key: CacheKey, _ state: Int64, for pending: PendingAnswer, _ head: RequestHead,
        completing: @escaping @Sendable (HTTPResponse) -> HTTPResponse = { $0 },
        _ render: @escaping @Sendable () -> KeptAnswer
    ) {
        // From here to the threads, and from there to the clients: no busy pool of tasks comes between.
        let caller = renderings.join(
            Rendering(key: key, state: state), priority: 0, cancelled: { CancellationError() },
            isImmediate: true
        ) { [self] flight, _ in
            do throws(ResourceShortage) {
                return try await threads.run { [self] in
                    // Nobody gets this answer.
                    if flight.isOver { return KeptAnswer(.noThread) }
                    flight.emit(Begun())
                    // Looked up again: another flight may have ended after this request looked.
                    let answer = self.answer(key, state) ?? render()
                    // One that was cut short is for nobody.
                    if !BlockingThreads.isGivenUp { keep(answer, as: key, state) }
                    flight.finish(.success(answer))
                    return answer
                }
            } catch {
                return KeptAnswer(.noThread)
            }
        }
        pending.whenAbandoned(isBounded: true) { caller.leave() }
        caller.listen(
            FlightListener { event in
                if event != nil { return pending.begin() }
                // Ignored: who has left gets no answer.
                if let answer = try? caller.outcome?.get() {
                    pending.send(completing(answer.answer(to: head)))
                }
            })
    }
}

/// How an answer's text is coded (RFC 9110 section 8.4): as it is, or by gzip if the client takes that.
enum ContentCoding: Sendable, Hashable {
    case identity, gzip

    /// From this size on text is compressed.
    private static let leastBytes = 1 << 10

    /// The coding that a client prefers (section 12.5.3). Without the field it gets the text as it is.
    static func negotiated(_ fields: HeaderFields) -> ContentCoding {
        let values = fields.values(of: "accept-encoding")
        if values.isEmpty { return .identity }
        var qualities: [Substring: Double] = [:]
        for member in FieldList.members(of: values.map { $0.lowercased() }) {
            let parts = member.split(separator: ";", maxSplits: 1)
            guard let name = parts.first.map({ FieldList.trimmed($0) }) else { continue }
            let weight = parts.count > 1 ? FieldList.trimmed(parts[1]) : "q=1"
            qualities[name] = weight.hasPrefix("q=") ? Double(weight.dropFirst(2)) ?? 0 : 0
        }
        let gzip = qualities["gzip"] ?? qualities["x-gzip"] ?? qualities["*"] ?? 0
        // Unless it is named, the text as it is comes last.
        return gzip > 0 && gzip >= qualities["identity"] ?? 0 ? .gzip : .identity
    }

    /// The entity tag of a text in this coding. Each coding has its own (section 8.8.3.3).
    func entityTag(_ tag: String) -> String {
        switch self {
        case .identity: tag
        case .gzip: tag.dropLast() + ".gzip\""
        }
    }

    /// The tag in the other codings too, for conditions of writes.
    static func entityTags(_ tag: String) -> [String] { [tag, ContentCoding.gzip.entityTag(tag)] }

    /// An answer of text in this coding. It says that the coding depends on the request.
    func applied(to response: HTTPResponse) -> HTTPResponse {
        guard case .bytes(let bytes) = response.body, response.fields["content-encoding"] == nil else {
            return response
        }
        var response = response
        let vary = response.fields["vary"].map { $0 + ", Accept-Encoding" } ?? "Accept-Encoding"
        response.fields["Vary"] = vary
        guard self == .gzip, bytes.count >= Self.leastBytes else { return response }
        response.body = .bytes(Deflate.compress(bytes.span, as: .gzip))
        response.fields["Content-Encoding"] = "gzip"
        return response
    }
}
