import LazyImages

extension CacheStatus {
    /// A stored record was used, fresh or stale.
    static func hit(_ record: SourceRecord, now: Int) -> CacheStatus {
        CacheStatus(timeToLive: record.lifetime - record.age(now: now))
    }

    /// How a loader fetched the file; nil if the file was cached.
    init?(_ file: LoadedFile, hadRecord: Bool) {
        switch file.source {
        case .network, .resumed:
            self.init(
                forward: hadRecord ? .stale : .uriMiss, forwardStatus: file.status, isStored: file.mayBeKept)
        case .revalidated: self.init(forward: .stale, forwardStatus: 304, isStored: file.mayBeKept)
        case .memory, .disk, .shared, .local, .stale, .decoded: return nil
        }
    }
}
