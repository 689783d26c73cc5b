extension MemoryCache {
    /// Evicts entries as a level of memory pressure requires: down to half the limit at a warning, all but pinned ones
    /// when it is critical.
    /// - Parameter level: the level of memory pressure.
    package func relieve(_ level: MemoryPressure.Level) {
        switch level {
        case .normal: break
        case .warning: trim(toCost: limit / 2)
        case .critical: trim(toCost: 0)
        }
    }
}
