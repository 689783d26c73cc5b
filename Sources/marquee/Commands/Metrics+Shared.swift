import LazyImages
import ServiceOperations

extension Metrics {
    /// Registers the metrics of the shared tier.
    func watch(shared: SharedTier) {
        counter("marquee_shared_reads_total", "Reads of the shared store, by result.", label: "result") {
            let counters = shared.traffic
            return [
                ("hit", counters.hits), ("miss", counters.misses), ("skipped", counters.skips),
                ("refused", counters.refusedValues),
            ].map { ($0.0, Double($0.1)) }
        }
        counter("marquee_shared_failures_total", "Requests to the shared store that failed.") {
            Double(shared.traffic.failures)
        }
        counter(
            "marquee_shared_writes_total", "Writes to the shared store, by result.", label: "result"
        ) {
            let counters = shared.traffic
            return [
                ("written", counters.writes), ("removed", counters.removals),
                ("dropped", counters.droppedWrites),
            ].map { ($0.0, Double($0.1)) }
        }
        counter(
            "marquee_shared_bytes_total", "Bytes of the shared store's values, by direction.",
            label: "direction"
        ) {
            let counters = shared.traffic
            return [("read", Double(counters.bytesRead)), ("written", Double(counters.bytesWritten))]
        }
        gauge(
            "marquee_shared_paused", "1 while requests to the shared store pause because it failed.",
            label: "operation"
        ) {
            let counters = shared.traffic
            return [
                ("read", counters.isReadingPaused ? 1 : 0), ("write", counters.isWritingPaused ? 1 : 0),
            ]
        }
        gauge("marquee_shared_queue", "Writes and removals queued for the shared store.") {
            Double(shared.traffic.queuedWrites)
        }
    }
}
