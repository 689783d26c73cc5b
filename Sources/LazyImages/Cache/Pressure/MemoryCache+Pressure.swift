extension MemoryCache {
    /// Gives memory back as a level of pressure asks: half the limit at a warning, all but what is pinned when it is critical.
    /// - Parameter level: how short memory is.
    public func relieve(_ level: MemoryPressure.Level) {
        switch level {
        case .normal: break
        case .warning: trim(toCost: limit / 2)
        case .critical: trim(toCost: 0)
        }
    }
}
