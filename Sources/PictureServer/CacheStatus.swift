import LazyImages

/// How a cache has handled a request, for the field `Cache-Status` (RFC 9211):
///
///     marquee; hit; ttl=280
///     marquee; fwd=uri-miss; fwd-status=200; stored; ttl=600
///     marquee; fwd=stale; fwd-status=304; collapsed
struct CacheStatus: Hashable, Sendable {
    /// Why a request was forwarded to the origin (section 2.2).
    enum Forward: String, Hashable, Sendable {
        /// Nothing was stored for the address.
        case uriMiss = "uri-miss"
        case stale
    }

    /// Nil for a hit.
    var forward: Forward?
    /// The status of the origin's answer (section 2.3).
    var forwardStatus: Int?
    /// The freshness that remains, in seconds; negative if the response is stale (section 2.4).
    var timeToLive: Int?
    /// Whether the answer was stored (section 2.5).
    var isStored = false
    /// Whether the request waited for another request's transfer (section 2.6).
    var isCollapsed = false

    /// The field's value for this cache alone.
    var value: String {
        var parts = ["marquee", forward.map { "fwd=\($0.rawValue)" } ?? "hit"]
        if forward != nil {
            if let forwardStatus { parts.append("fwd-status=\(forwardStatus)") }
            if isStored { parts.append("stored") }
            if isCollapsed { parts.append("collapsed") }
        }
        if let timeToLive { parts.append("ttl=\(timeToLive)") }
        return parts.joined(separator: "; ")
    }
}

extension CacheStatus {
    /// A stored record was used, fresh or stale.
    static func hit(_ record: LoadedFile, now: Int) -> CacheStatus {
        CacheStatus(timeToLive: record.secondsLeft(now: now))
    }

    /// How a loader fetched the file; nil if the file was cached.
    init?(_ file: LoadedFile, hadRecord: Bool) {
        switch file.source {
        case .network, .resumed:
            self.init(
                forward: hadRecord ? .stale : .uriMiss, forwardStatus: file.status, isStored: file.mayBeKept)
        case .revalidated: self.init(forward: .stale, forwardStatus: 304, isStored: file.mayBeKept)
        case .local: self.init(forward: .uriMiss, isStored: true)
        case .memory, .disk, .shared, .stale, .decoded: return nil
        }
    }
}
