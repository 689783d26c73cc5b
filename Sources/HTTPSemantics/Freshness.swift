/// How long an answer is fresh and how old it was when it came (RFC 9111 section 4.2). Times are seconds since 1970,
/// lengths seconds. No value of a header, however large or odd, makes the arithmetic overflow.
package struct Freshness: Hashable, Sendable {
    /// How long it is fresh, from the moment the origin made it; 0 for what is stale from the beginning.
    package let lifetime: Int
    /// How old it was when it came.
    package let initialAge: Int

    /// The part of the time since its last change for which an answer that says nothing counts as fresh, and the most
    /// that can be (RFC 9111 section 4.2.2).
    package static let heuristicDivisor = 10
    package static let heuristicLimit = 86_400
    /// How long `404` and `410` are remembered, at most, and where the server says nothing.
    package static let negativeLimit = 300

    /// - Parameters:
    ///   - control: the answer's Cache-Control.
    ///   - received: when its head came.
    ///   - delay: the seconds between sending the request and that.
    ///   - assuming: the lifetime of what says nothing of it.
    package init(_ head: ResponseHead, _ control: CacheControl, received: Int, delay: Int, assuming: Int = 0)
    {
        let date = Self.date("date", in: head.fields, now: received) ?? received
        initialAge = Self.initialAge(head.fields, date: date, received: received, delay: delay)
        let own = Self.lifetime(head, control, date: date, received: received)
        if head.status == 404 || head.status == 410 {
            lifetime = min(own ?? Self.negativeLimit, Self.negativeLimit)
        } else {
            lifetime = own ?? assuming
        }
    }

    /// RFC 9111 section 4.2.1; nil for what says nothing of it.
    private static func lifetime(
        _ head: ResponseHead, _ control: CacheControl, date: Int, received: Int
    ) -> Int? {
        if control.noCache { return 0 }
        if let maxAge = control.maxAge { return maxAge }
        if let expires = head.fields["expires"] {
            // What is no date, `0` above all, is a time in the past (section 5.3).
            guard let time = HTTPDate.parse(expires, now: received) else { return 0 }
            return min(max(0, time - date), CacheControl.maximumSeconds)
        }
        guard isHeuristicallyCacheable(head.status) || control.isPublic,
            let modified = Self.date("last-modified", in: head.fields, now: received)
        else { return nil }
        return min(max(0, date - modified) / heuristicDivisor, heuristicLimit)
    }

    /// RFC 9111 section 4.2.3, to the moment the answer came.
    private static func initialAge(_ fields: HTTPFields, date: Int, received: Int, delay: Int) -> Int {
        // A list's first member counts, and what is no number does not (section 5.1).
        let stated = fields["age"].flatMap { FieldList.members(of: $0).first }.flatMap(CacheControl.seconds)
        let apparent = max(0, received - date)
        return min(max(apparent, (stated ?? 0) + max(0, delay)), CacheControl.maximumSeconds)
    }

    /// The age at a later moment. A clock that was set back says nothing of the time between; what seems to come from
    /// the future is as old as can be, unless it is by no more than clocks are corrected.
    package static func age(initial: Int, received: Int, now: Int) -> Int {
        let (resident, overflows) = now.subtractingReportingOverflow(received)
        guard !overflows, resident >= -clockTolerance else { return CacheControl.maximumSeconds }
        return min(initial + min(max(0, resident), CacheControl.maximumSeconds), CacheControl.maximumSeconds)
    }

    /// By how many seconds a clock may be corrected backwards.
    private static let clockTolerance = 60

    /// Whether an answer of this status counts as fresh for some time although it says nothing (RFC 9110 section 15.1).
    package static func isHeuristicallyCacheable(_ status: Int) -> Bool {
        [200, 203, 204, 300, 301, 308, 404, 405, 410, 414, 501].contains(status)
    }

    private static func date(_ name: String, in fields: HTTPFields, now: Int) -> Int? {
        fields[name].flatMap { HTTPDate.parse($0, now: now) }
    }
}
