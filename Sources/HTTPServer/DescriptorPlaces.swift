import SystemSupport

/// The descriptors of the process that connections may take, and the files that are open as long as a client wishes.
/// The others are for the library, transfers and the log: with all connections taken, requests on them can still be
/// answered. Without any free descriptor the process ends, because libdispatch then traps (Swift 6.3).
///
/// The system gives the lowest free number (open(2)). So a new number tells how many descriptors are in use, whoever
/// has opened them.
struct DescriptorPlaces: Sendable, Hashable {
    /// A connection with this number or a higher one is answered 503.
    let served: Int
    /// One with this number or a higher one is closed without an answer.
    let turnedAway: Int
    /// A file with this number or a higher one is not kept open.
    let files: Int

    /// For the limit of this process, which is raised to the system's maximum first: every connection takes one.
    static let ofProcess = DescriptorPlaces(limit: raisedLimit())

    /// The descriptors that connections leave: this share of the limit, within these bounds, but never more than half.
    /// The library, transfers and the log need a few hundred.
    private static let (share, fewest, most) = (8, 128, 512)

    /// - Parameter limit: the limit of descriptors.
    init(limit: Int) {
        let reserve = min(max(limit / Self.share, Self.fewest), Self.most, limit / 2)
        served = limit - reserve
        turnedAway = limit - reserve + reserve / 4
        files = limit - reserve / 2
    }

    private static func raisedLimit() -> Int {
        var limit = rlimit()
        guard unsafe getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit) == 0 else { return .max }
        var raised = limit
        raised.rlim_cur = limit.rlim_max
        if unsafe setrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &raised) == 0 { limit = raised }
        return Int(clamping: limit.rlim_cur)
    }
}
