import FoundationEssentials
import Hashing

/// What the disk tier keeps of an answer besides its body, as text:
///
///     200 1763714400 12 86400 https://example.org/posters/1.jpg
///     < vary accept-language 9f86d081884c7d65...
///     < moved 1763800800 https://example.org/posters/1.jpg
///     < content sha256 2c26b46b68ffc68f...
///     Content-Type: image/jpeg
///     ETag: "5f3-61"
///
/// The first line has the status, the time of arrival (seconds since 1970), the age at that time and the freshness
/// lifetime (seconds), and the URL after redirects. Lines that begin with `<` are about the request: a field that Vary
/// names, and the target of permanent redirects with their expiry. `content` stands in an entry without a body: of the
/// file with this SHA-256 the disk tier has only results. Earlier versions do not read such an entry. The fields follow,
/// one a line, without those that concern only the connection (RFC 9111 section 3.1).
///
/// The text of the fields is written and parsed lazily: memory needs no text, and a fresh entry only the first lines.
struct StoredResponse: Equatable, Sendable {
    let status: Int
    let received: Int
    /// The age on arrival, in seconds.
    let initialAge: Int
    /// The freshness lifetime, in seconds from the creation of the answer.
    private(set) var lifetime: Int
    let url: String
    let variance: Variance
    /// The target of permanent redirects, while they are fresh.
    let moved: PermanentMove?
    /// The SHA-256 of the file, if the disk tier has only results of it; else nil.
    var content: String?
    private var answer: Answer

    /// The fields of the answer: all of them as they arrived, or the text of those that were kept.
    private enum Answer {
        case fields(HeaderFields)
        case lines(ArraySlice<UInt8>)
    }

    /// The new URL after a permanent redirect, and its expiry, in seconds since 1970.
    struct PermanentMove: Hashable, Sendable {
        let url: String
        let until: Int
    }

    /// The stored form of a complete answer.
    /// - Parameters:
    ///   - address: the URL after redirects.
    ///   - received: when the head arrived, in seconds since 1970.
    ///   - delay: the seconds from sending the request to the arrival of the head.
    ///   - request: the fields of the request.
    ///   - redirects: the redirects that led to the answer, which is fresh no longer than any of them.
    ///   - movedBefore: a stored permanent redirect that the transfer followed first, without asking.
    ///   - kind: private or shared.
    init(
        _ head: ResponseHead, address: String, received: Int, delay: Int = 0,
        request: HeaderFields = HeaderFields(),
        redirects: [RedirectStep] = [], movedBefore: PermanentMove? = nil,
        kind: CacheKind = .private
    ) {
        status = head.status
        self.received = received
        url = address
        let control = kind.control(head.fields)
        let own = Freshness(head, control, received: received, delay: delay)
        initialAge = own.initialAge
        var remaining = redirects.map(\.freshSeconds)
        if let movedBefore { remaining.append(max(0, movedBefore.until - received)) }
        lifetime = remaining.reduce(own.lifetime) { min($0, own.initialAge + $1) }
        moved = movedBefore ?? PermanentMove(redirects, at: received)
        variance = Variance(head.fields, request: request) ?? Variance()
        answer = .fields(head.fields)
    }

    /// The same, fresh for another time.
    /// - Parameter lifetime: in seconds, from when it was made.
    func fresh(for lifetime: Int) -> StoredResponse {
        var response = self
        response.lifetime = lifetime
        return response
    }

    /// The same with no other fields than Cache-Control, for a record that stays in memory.
    var shortened: StoredResponse {
        var response = self
        var fields = HeaderFields()
        for value in self.fields.values(of: "cache-control") {
            fields.append(HeaderFields.Field(name: "Cache-Control", value: value))
        }
        response.answer = .fields(fields)
        return response
    }

    /// The same for a damaged file, which the next transfer may heal: fresh for at most a minute, and then requested
    /// without conditions.
    var doubted: StoredResponse {
        var response = fresh(for: min(lifetime, initialAge + 60))
        var fields = fields
        (fields["etag"], fields["last-modified"]) = (nil, nil)
        response.answer = .fields(fields)
        return response
    }

    /// The fields of an answer that a cache keeps.
    private static func kept(of fields: HeaderFields, received: Int) -> HeaderFields {
        var dropped = CacheControl(fields).noCacheFields
        if let connection = fields["connection"], !["keep-alive", "close"].contains(connection.lowercased()) {
            dropped += FieldList.members(of: fields.values(of: "connection")).map { $0.lowercased() }
        }
        var kept = HeaderFields()
        for field in fields.fields where !unkept.contains(where: { $0.equalsIgnoringCase(field.name) }) {
            // Compared as bytes: as characters, CR LF is one, and a combining mark joins the character before it.
            guard !field.name.utf8.contains(lineFeed), !field.value.utf8.contains(lineFeed),
                !field.name.hasPrefix("<"), dropped.isEmpty || !dropped.contains(field.name.lowercased())
            else { continue }
            kept.append(field)
        }
        // RFC 9110 section 6.6.1: a cache adds the missing date.
        if fields["date"] == nil {
            kept.append(HeaderFields.Field(name: "Date", value: HTTPDate.format(received)))
        }
        return kept
    }

    /// Reads the text of `encoded`; nil for other text.
    init?(decoding bytes: [UInt8]) {
        var rest = bytes[...]
        func nextLine() -> ArraySlice<UInt8>? {
            guard let end = rest.firstIndex(of: UInt8(ascii: "\n")) else { return nil }
            defer { rest = rest[(end + 1)...] }
            return rest[..<end]
        }
        guard let words = nextLine()?.split(separator: UInt8(ascii: " "), maxSplits: 4), words.count == 5,
            let status = Self.number(words[0]), let received = Self.number(words[1]),
            let initialAge = Self.number(words[2]), let lifetime = Self.number(words[3])
        else { return nil }
        self.status = status
        self.received = received
        self.initialAge = initialAge
        self.lifetime = lifetime
        url = Self.text(words[4])
        var members: [Variance.Member] = []
        var moved: PermanentMove?
        while rest.first == UInt8(ascii: "<") {
            guard let words = nextLine()?.split(separator: UInt8(ascii: " "), maxSplits: 3), words.count == 4
            else {
                return nil
            }
            switch Self.text(words[1]) {
            case "vary": members.append(.init(name: Self.text(words[2]), hash: Self.text(words[3])))
            case "moved":
                guard let until = Self.number(words[2]) else { return nil }
                moved = PermanentMove(url: Self.text(words[3]), until: until)
            case "content": content = Self.text(words[3])
            default: return nil
            }
        }
        variance = Variance(members: members)
        self.moved = moved
        guard rest.isEmpty || rest.last == UInt8(ascii: "\n") else { return nil }
        answer = .lines(rest)
    }

    /// The bytes to store.
    var encoded: [UInt8] {
        var text = "\(status) \(received) \(initialAge) \(lifetime) \(url)\n"
        for member in variance.members { text += "< vary \(member.name) \(member.hash)\n" }
        if let moved { text += "< moved \(moved.until) \(moved.url)\n" }
        if let content { text += "< content sha256 \(content)\n" }
        var bytes: [UInt8] = []
        bytes.reserveCapacity(1024)
        bytes += text.utf8
        switch answer {
        case .lines(let lines): bytes += lines
        case .fields:
            for field in fields.fields {
                bytes += field.name.utf8
                bytes += ": ".utf8
                bytes += field.value.utf8
                bytes.append(Self.lineFeed)
            }
        }
        return bytes
    }

    /// The fields of the answer that a cache keeps.
    var fields: HeaderFields {
        switch answer {
        case .fields(let fields): Self.kept(of: fields, received: received)
        case .lines(let lines): Self.fields(in: lines)
        }
    }

    private static func fields(in lines: ArraySlice<UInt8>) -> HeaderFields {
        var fields = HeaderFields()
        for line in lines.split(separator: lineFeed) {
            guard let colon = line.firstIndex(of: UInt8(ascii: ":")) else { continue }
            fields.append(
                HeaderFields.Field(
                    name: text(line[..<colon]), value: text(line[(colon + 1)...].dropFirst())))
        }
        return fields
    }

    private static func text(_ bytes: ArraySlice<UInt8>) -> String { String(decoding: bytes, as: UTF8.self) }

    /// A number within the range that `encoded` writes: the arithmetic cannot overflow.
    private static func number(_ bytes: ArraySlice<UInt8>) -> Int? {
        Int(text(bytes)).flatMap { (0...1 << 40).contains($0) ? $0 : nil }
    }

    private static let lineFeed = UInt8(ascii: "\n")

    private static let unkept = [
        "connection", "keep-alive", "proxy-authenticate", "proxy-authentication-info", "proxy-authorization",
        "proxy-connection", "set-cookie", "te", "trailer", "transfer-encoding", "upgrade",
    ]

    static func == (one: Self, other: Self) -> Bool { one.encoded == other.encoded }
}

extension StoredResponse {
    /// When it stops being fresh, in seconds since 1970; nil if it is never fresh.
    var expiry: Int? { lifetime > 0 ? received - initialAge + lifetime : nil }

    /// The age in seconds.
    func age(at now: Int) -> Int { Freshness.age(initial: initialAge, received: received, now: now) }

    /// Whether it may be used without revalidation, as far as its own lifetime says.
    func isFresh(at now: Int) -> Bool { age(at: now) < lifetime }

    /// How a cache of a kind may use it now (RFC 9111 section 4).
    func use(for directives: CacheControl, as kind: CacheKind, now: Int) -> CacheUse {
        // The common case, without parsing the fields: a fresh file and no directives.
        if isFresh(at: now), directives == CacheControl(HeaderFields()) { return .fresh }
        return CacheUse(
            age: age(at: now), lifetime: lifetime, control: kind.control(fields), directives: directives)
    }

    /// The status and the kept fields, with an Age (RFC 9111 section 5.1).
    func head(at now: Int) -> ResponseHead {
        var head = ResponseHead(status: status, fields: fields)
        head.fields["Age"] = "\(age(at: now))"
        return head
    }

    /// The head after a 304 has confirmed it (RFC 9111 sections 3.2 and 4.3.4): the new fields replace the old ones,
    /// except those that describe the body.
    func confirmed(by head: ResponseHead) -> ResponseHead {
        var merged = fields
        // The stored age and date belong to the old answer.
        merged["age"] = nil
        merged["date"] = nil
        var replaced: Set<String> = ["content-length", "content-encoding", "content-range"]
        let ofTheBody = replaced
        for field in head.fields.fields {
            let name = field.name.lowercased()
            if ofTheBody.contains(name) { continue }
            if replaced.insert(name).inserted { merged[name] = nil }
            merged.append(field)
        }
        return ResponseHead(status: status, fields: merged)
    }
}

/// The request fields that an answer's Vary names, each with a hash of its value (RFC 9111 section 4.1). A value may be
/// a secret, so only the hash is kept. A field that was not sent has the hash `-`.
struct Variance: Hashable, Sendable {
    /// A name in lower case, with the hash in hexadecimal.
    struct Member: Hashable, Sendable {
        let name: String
        let hash: String
    }

    /// Empty without a Vary: every request matches.
    private(set) var members: [Member] = []
}

extension Variance {
    /// The fields of `request` that the Vary of `response` names; nil for `*`, which matches no request.
    init?(_ response: HeaderFields, request: HeaderFields) {
        guard let names = Vary.names(in: response) else { return nil }
        self.init(members: names.map { Member(name: $0, hash: Self.hash(of: $0, in: request)) })
    }

    /// Whether a request has the same values in these fields.
    func matches(_ request: HeaderFields) -> Bool {
        members.allSatisfy { Self.hash(of: $0.name, in: request) == $0.hash }
    }

    /// The hash of a field's value as a request has it, or `-` for a field that was not sent.
    private static func hash(of name: String, in request: HeaderFields) -> String {
        Vary.value(of: name, in: request).map { SHA256.hash(of: $0).hexadecimal } ?? "-"
    }
}

/// One redirect on the way to an answer.
struct RedirectStep: Hashable, Sendable {
    /// The head of the redirect's answer.
    let head: ResponseHead
    /// The URL to which it leads.
    let target: URL
    /// When the head arrived, in seconds since 1970, and how many seconds after the request was sent.
    let received: Int
    let delay: Int
    /// Private or shared: the rules for its lifetime.
    var kind = CacheKind.private

    /// The lifetime of a permanent redirect that names none: the longest that a heuristic allows (RFC 9110 sections
    /// 15.4.2 and 15.4.9 make such redirects heuristically cacheable).
    private static let assumedLifetime = Freshness.heuristicLimit

    /// Whether the status says that the redirect is permanent.
    fileprivate var isPermanent: Bool { head.status == 301 || head.status == 308 }

    /// How many seconds after its arrival the redirect is fresh; 0 if it may not be stored.
    fileprivate var freshSeconds: Int {
        guard kind.allowsStoring(head) else { return 0 }
        let freshness = Freshness(
            head, kind.control(head.fields), received: received, delay: delay,
            defaultLifetime: isPermanent ? Self.assumedLifetime : 0)
        return max(0, freshness.lifetime - freshness.initialAge)
    }
}

extension StoredResponse.PermanentMove {
    /// The target of the permanent redirects at the beginning, and their expiry; nil if the first is not permanent.
    init?(_ steps: [RedirectStep], at now: Int) {
        var move: Self?
        var seconds = Int.max
        for step in steps {
            seconds = min(seconds, step.isPermanent ? step.freshSeconds : 0)
            guard seconds > 0 else { break }
            move = Self(url: step.target.absoluteString, until: now + seconds)
        }
        guard let move else { return nil }
        self = move
    }
}
