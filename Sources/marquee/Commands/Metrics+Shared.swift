import LazyImages
import ServiceOperations

extension Metrics {
    /// Registers what a tier has done that machines share.
    func watch(shared: SharedTier) {
        counter("marquee_shared_reads_total", "Reads of the shared store, by how they ended.", label: "how") {
            let counters = shared.counters
            return [
                ("hit", counters.hits), ("miss", counters.misses), ("skipped", counters.skips),
                ("refused", counters.refusedValues),
            ].map { ($0.0, Double($0.1)) }
        }
        counter("marquee_shared_failures_total", "Requests that the shared store failed.") {
            Double(shared.counters.failures)
        }
        counter(
            "marquee_shared_writes_total", "Writes to the shared store, by what became of them.", label: "how"
        ) {
            let counters = shared.counters
            return [
                ("written", counters.writes), ("removed", counters.removals),
                ("dropped", counters.droppedWrites),
            ].map { ($0.0, Double($0.1)) }
        }
        counter("marquee_shared_bytes_total", "Bytes of values, by direction.", label: "direction") {
            let counters = shared.counters
            return [("read", Double(counters.bytesRead)), ("written", Double(counters.bytesWritten))]
        }
        gauge(
            "marquee_shared_paused", "1 while the shared store is left alone because it failed.",
            label: "side"
        ) {
            let counters = shared.counters
            return [
                ("read", counters.isReadingPaused ? 1 : 0), ("write", counters.isWritingPaused ? 1 : 0),
            ]
        }
        gauge("marquee_shared_queue", "Writes and removals that wait for the shared store.") {
            Double(shared.counters.queuedWrites)
        }
    }
}
