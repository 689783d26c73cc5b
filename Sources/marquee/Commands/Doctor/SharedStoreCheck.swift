import FoundationEssentials
import LazyImages

/// Checks the store of `--shared`: writes a value, reads it and removes it. A read-only store is only read.
enum SharedStoreCheck {
    /// - Parameter tier: a new tier; nil for none.
    static func findings(_ tier: SharedTier?) async -> [Finding] {
        guard let tier else { return [] }
        let name = tier.address.displayText
        func warning(_ text: String, _ advice: String) -> [Finding] {
            [Finding("shared", .warning, "\(name) \(text)", advice: advice)]
        }
        let key = CacheKey(id: "marquee doctor " + UUID().uuidString)
        _ = await tier.entry(for: key)
        guard tier.traffic.failures == 0 else {
            return warning(
                "does not answer like a store within a second",
                "check the address, and whether the store runs")
        }
        if tier.isReadOnly { return [Finding("shared", "\(name) answers; read-only")] }
        tier.store(ByteArray(Array(name.utf8)), metadata: [], for: key)
        await tier.flush()
        guard tier.traffic.writes == 1 else {
            return warning(
                "does not accept values",
                "allow PUT; for a server that creates no folders, use a URL whose path ends in /ac")
        }
        _ = await tier.entry(for: key)
        guard tier.traffic.hits == 1 else {
            return warning("does not return the value just written", "look for a cache in front of the store")
        }
        tier.remove(key)
        await tier.flush()
        guard tier.traffic.removals == 1 else {
            return warning("does not remove values", "allow DELETE; until then, purged pictures stay in it")
        }
        return [Finding("shared", "\(name) writes, reads and removes values")]
    }
}
