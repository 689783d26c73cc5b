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
