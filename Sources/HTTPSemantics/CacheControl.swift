/// The Cache-Control directives of a response (RFC 9111 section 5.2.2, RFC 5861, RFC 8246) or a request (section
/// 5.2.1).
///
///     max-age=600, no-cache="set-cookie", stale-if-error=86400
///
/// The first of repeated directives counts. A malformed number of seconds counts as 0, which makes the response stale
/// (section 4.2.1); one too large for 31 bits counts as the largest (section 1.2.2). `CacheKind` applies the directives
/// for shared caches.
package struct CacheControl: Hashable, Sendable {
    /// The response must not be stored.
    package var noStore = false
    /// The response must not be reused without validation.
    package var noCache = false
    /// Names of fields, in lower case, that must not be reused without validation.
    package var noCacheFields: [String] = []
    /// The response must not be reused stale without validation.
    package var mustRevalidate = false
    /// The response does not change while fresh: not even a reload validates it.
    package var isImmutable = false
    /// The response may be stored whatever its status, and is cacheable heuristically.
    package var isPublic = false
    /// A private cache may store the response whatever its status.
    package var isPrivate = false
    /// A cache that understands the status may store the response in spite of no-store.
    package var mustUnderstand = false
    /// In a response: its freshness lifetime. In a request: the greatest acceptable age. In seconds.
    package var maxAge: Int?
    /// The freshness lifetime of a response in a shared cache, in seconds (s-maxage).
    fileprivate var sharedMaxAge: Int?
    /// A shared cache must not reuse the response stale without validation.
    fileprivate var proxyRevalidate = false
    /// How long a stale response may be used while it is revalidated, in seconds.
    package var staleWhileRevalidate: Int?
    /// How long a stale response may be used when the server fails, in seconds.
    package var staleIfError: Int?
    /// In a request: how much longer the response must stay fresh, in seconds.
    package var minFresh: Int?
    /// In a request: the greatest acceptable staleness, in seconds; `maximumSeconds` if any is acceptable.
    package var maxStale: Int?
    /// In a request: answer from the cache or with 504, without the network.
    package var onlyIfCached = false

    /// The largest number of seconds that counts (RFC 9111 section 1.2.2).
    package static let maximumSeconds = 1 << 31

    /// Reads every Cache-Control field.
    package init(_ fields: HeaderFields) {
        let values = fields.values(of: "cache-control")
        guard !values.isEmpty else { return }
        var seen: Set<String> = []
        for member in FieldList.members(of: values) {
            let parts = member.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
            let name = parts[0].lowercased()
            guard seen.insert(name).inserted else { continue }
            set(name, to: parts.count > 1 ? parts[1] : nil)
        }
    }

    private mutating func set(_ name: String, to value: Substring?) {
        switch name {
        case "no-store": noStore = true
        case "no-cache":
            let list = value.map { FieldList.unquoted($0) ?? String($0) } ?? ""
            noCacheFields = FieldList.members(of: list).map { $0.lowercased() }
            noCache = noCacheFields.isEmpty
        case "must-revalidate": mustRevalidate = true
        case "immutable": isImmutable = true
        case "public": isPublic = true
        case "private": isPrivate = true
        case "must-understand": mustUnderstand = true
        case "only-if-cached": onlyIfCached = true
        case "proxy-revalidate": proxyRevalidate = true
        case "max-age": maxAge = value.flatMap(Self.seconds) ?? 0
        case "s-maxage": sharedMaxAge = value.flatMap(Self.seconds) ?? 0
        case "stale-while-revalidate": staleWhileRevalidate = value.flatMap(Self.seconds) ?? 0
        case "stale-if-error": staleIfError = value.flatMap(Self.seconds) ?? 0
        case "min-fresh": minFresh = value.flatMap(Self.seconds)
        case "max-stale": maxStale = value.map { Self.seconds($0) ?? 0 } ?? Self.maximumSeconds
        default: break
        }
    }

    /// Reads a number of seconds (RFC 9111 section 1.2.2), quoted or not; nil for anything else.
    package static func seconds(_ text: Substring) -> Int? {
        let unquoted = FieldList.unquoted(text)
        let digits = unquoted.map { Substring($0) } ?? text
        guard !digits.isEmpty, digits.utf8.allSatisfy({ $0.isDigit }) else { return nil }
        return min(Int(digits) ?? maximumSeconds, maximumSeconds)
    }
}

/// Private or shared cache (RFC 9111 section 1).
///
/// The rules of a shared cache are expressed by those of a private one: `control` and `allowsStoring` translate the
/// directives, so that `Freshness`, `CacheUse` and `Storability` give a shared cache's results.
public enum CacheKind: Sendable, Hashable {
    /// A cache of one user. It may store private responses.
    case `private`
    /// A cache of several users. It stores only what all of them may see.
    case shared
}

extension CacheKind {
    /// The directives of a response for this kind of cache. For a shared cache s-maxage overrides max-age (section
    /// 5.2.2.10), and s-maxage and proxy-revalidate imply must-revalidate (sections 5.2.2.8 and 5.2.2.10).
    package func control(_ fields: HeaderFields) -> CacheControl {
        var control = CacheControl(fields)
        guard self == .shared else { return control }
        if let maxAge = control.sharedMaxAge {
            control.maxAge = maxAge
            control.mustRevalidate = true
        }
        if control.proxyRevalidate { control.mustRevalidate = true }
        // `private` permits storing only in private caches.
        control.isPrivate = false
        return control
    }

    /// Whether a response may be stored (section 3).
    /// - Parameters:
    ///   - isAuthorised: whether the request had Authorization: a shared cache then needs an explicit permission
    ///     (section 3.5).
    ///   - directives: the request's Cache-Control.
    ///   - isWhole: whether the request asked for the complete representation.
    package func allowsStoring(
        _ head: ResponseHead, isAuthorised: Bool = false,
        directives: CacheControl = CacheControl(HeaderFields()), isWhole: Bool = true
    ) -> Bool {
        guard self == .shared else {
            return Storability.allows(head, directives: directives, isWhole: isWhole)
        }
        let control = CacheControl(head.fields)
        // Section 5.2.2.7 permits storing a response without the fields that `private` names. It is rare, so it is not
        // supported.
        guard !control.isPrivate else { return false }
        let hasMaxAge = control.sharedMaxAge != nil
        if isAuthorised, !(control.mustRevalidate || control.isPublic || hasMaxAge) { return false }
        return Storability.allows(head, directives: directives, isWhole: isWhole, isPermitted: hasMaxAge)
    }
}

/// How a stored response may be used now, for one request (RFC 9111 section 4).
package enum CacheUse: Hashable, Sendable {
    /// Use it: it is fresh.
    case fresh
    /// Use it although it is stale: the request allows it.
    case stale
    /// Use it stale, and revalidate it in the background (RFC 5861 section 3).
    case staleWhileRevalidating
    /// Validate it with the server first.
    case validate

    /// - Parameters:
    ///   - age: the age of the stored response, in seconds.
    ///   - lifetime: its freshness lifetime, in seconds.
    ///   - control: its Cache-Control.
    ///   - directives: the request's Cache-Control.
    package init(age: Int, lifetime: Int, control: CacheControl, directives: CacheControl) {
        let isFresh = age < lifetime && !control.noCache
        if control.noCache || directives.noCache || directives.noStore {
            self = .validate
        } else if let maxAge = directives.maxAge, age > maxAge || maxAge == 0,
            !(isFresh && control.isImmutable)
        {
            self = .validate
        } else if let minFresh = directives.minFresh, lifetime - age < minFresh {
            self = .validate
        } else if isFresh {
            self = .fresh
        } else if control.mustRevalidate {
            self = .validate
        } else if let maxStale = directives.maxStale, age - lifetime <= maxStale {
            self = .stale
        } else if let window = control.staleWhileRevalidate, age - lifetime <= window,
            directives.maxAge == nil, directives.minFresh == nil
        {
            self = .staleWhileRevalidating
        } else {
            self = .validate
        }
    }

    /// Whether a stale response may be used because the server fails (RFC 9111 section 4.2.4, RFC 5861 section 4):
    /// unless a directive forbids it, and within stale-if-error of the request or the response.
    package static func allowsStaleOnError(
        age: Int, lifetime: Int, control: CacheControl, directives: CacheControl
    ) -> Bool {
        if control.noCache || control.mustRevalidate || directives.noCache || directives.noStore {
            return false
        }
        guard let window = directives.staleIfError ?? control.staleIfError else { return true }
        return age - lifetime <= window
    }
}

/// Whether a private cache may store a response (RFC 9111 section 3).
package enum Storability {
    /// - Parameters:
    ///   - directives: the request's Cache-Control.
    ///   - isWhole: whether the request asked for the complete representation.
    ///   - isPermitted: whether a directive for this cache permits storing: s-maxage counts like max-age.
    package static func allows(
        _ head: ResponseHead, directives: CacheControl, isWhole: Bool = true, isPermitted: Bool = false
    ) -> Bool {
        guard isWhole, head.status >= 200, head.status != 206, head.status != 304, !directives.noStore else {
            return false
        }
        let control = CacheControl(head.fields)
        if control.mustUnderstand {
            // Section 5.2.2.3: no-store then applies only to caches that do not understand the status.
            guard understood.contains(head.status) else { return false }
        } else if control.noStore {
            return false
        }
        // Section 4.1: a response with `Vary: *` matches no request.
        if Vary.names(in: head.fields) == nil { return false }
        return Freshness.isHeuristicallyCacheable(head.status) || control.isPublic || control.isPrivate
            || control.maxAge != nil || isPermitted || head.fields["expires"] != nil
    }

    /// The statuses that this cache understands (RFC 9110 section 15).
    private static let understood: Set<Int> = [
        200, 203, 204, 300, 301, 302, 303, 307, 308, 404, 405, 410, 414, 501,
    ]
}

/// The freshness lifetime and initial age of a response (RFC 9111 section 4.2). Times are in seconds since 1970,
/// durations in seconds. No header value makes the arithmetic overflow.
package struct Freshness: Hashable, Sendable {
    /// The freshness lifetime; 0 for a response that is stale from the start.
    package let lifetime: Int
    /// The age on arrival (corrected_initial_age).
    package let initialAge: Int

    /// Heuristic freshness (RFC 9111 section 4.2.2): this fraction of the time since Last-Modified, at most this long.
    package static let heuristicDivisor = 10
    package static let heuristicLimit = 86_400
    /// The greatest freshness lifetime of `404` and `410`, and their default.
    package static let negativeLimit = 300

    /// - Parameters:
    ///   - control: the Cache-Control of the response.
    ///   - received: when its head arrived.
    ///   - delay: the seconds from sending the request until then.
    ///   - defaultLifetime: the lifetime of a response without freshness information.
    package init(
        _ head: ResponseHead, _ control: CacheControl, received: Int, delay: Int, defaultLifetime: Int = 0
    ) {
        let date = Self.date("date", in: head.fields, now: received) ?? received
        initialAge = Self.initialAge(head.fields, date: date, received: received, delay: delay)
        let own = Self.lifetime(head, control, date: date, received: received)
        if head.status == 404 || head.status == 410 {
            lifetime = min(own ?? Self.negativeLimit, Self.negativeLimit)
        } else {
            lifetime = own ?? defaultLifetime
        }
    }

    /// RFC 9111 section 4.2.1; nil without freshness information.
    private static func lifetime(
        _ head: ResponseHead, _ control: CacheControl, date: Int, received: Int
    ) -> Int? {
        if control.noCache { return 0 }
        if let maxAge = control.maxAge { return maxAge }
        if let expires = head.fields["expires"] {
            // An invalid date, especially `0`, is a time in the past (section 5.3).
            guard let time = HTTPDate.parse(expires, now: received) else { return 0 }
            return min(max(0, time - date), CacheControl.maximumSeconds)
        }
        guard isHeuristicallyCacheable(head.status) || control.isPublic,
            let modified = Self.date("last-modified", in: head.fields, now: received)
        else { return nil }
        return min(max(0, date - modified) / heuristicDivisor, heuristicLimit)
    }

    /// RFC 9111 section 4.2.3, on arrival.
    private static func initialAge(_ fields: HeaderFields, date: Int, received: Int, delay: Int) -> Int {
        // The first member of a list counts; a malformed one does not (section 5.1).
        let stated = fields["age"].flatMap { FieldList.members(of: $0).first }.flatMap(CacheControl.seconds)
        let apparent = max(0, received - date)
        return min(max(apparent, (stated ?? 0) + max(0, delay)), CacheControl.maximumSeconds)
    }

    /// The age at `now`. If the clock was set back by less than `clockTolerance`, no time has passed; if by more, the
    /// response has the greatest age.
    package static func age(initial: Int, received: Int, now: Int) -> Int {
        let (resident, overflows) = now.subtractingReportingOverflow(received)
        guard !overflows, resident >= -clockTolerance else { return CacheControl.maximumSeconds }
        return min(initial + min(max(0, resident), CacheControl.maximumSeconds), CacheControl.maximumSeconds)
    }

    /// How far a clock may be set back by a correction, in seconds.
    private static let clockTolerance = 60

    /// Whether a response with this status is heuristically cacheable (RFC 9110 section 15.1).
    package static func isHeuristicallyCacheable(_ status: Int) -> Bool {
        [200, 203, 204, 300, 301, 308, 404, 405, 410, 414, 501].contains(status)
    }

    private static func date(_ name: String, in fields: HeaderFields, now: Int) -> Int? {
        fields[name].flatMap { HTTPDate.parse($0, now: now) }
    }
}
