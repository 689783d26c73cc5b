import FilmSources
import LazyImages
import PictureServer
import ServiceOperations

extension Metrics {
    /// Registers the writes of a served library.
    func watch(library counts: @escaping @Sendable () -> WriteCounts) {
        counter("marquee_library_writes_total", "Writes of the library that are on disk.") {
            Double(counts().stored)
        }
        counter(
            "marquee_library_failed_writes_total", "Writes of the library that failed, by reason.",
            label: "reason"
        ) {
            let failed = counts().failed
            return WriteCounts.Failure.allCases.map { ($0.rawValue, Double(failed[$0] ?? 0)) }
        }
    }
}

extension Metrics {
    /// Registers the metrics of a picture service.
    func watch(pictures service: PictureServer) {
        let counters = service.counters
        @Sendable func number(of event: PictureCounters.Event) -> Double {
            Double(counters.number(of: event))
        }
        counter("marquee_pictures_total", "Requested pictures, by how they were served.", label: "how") {
            [
                ("memory", number(of: .memoryHit)), ("disk", number(of: .diskHit)),
                ("made", number(of: .made)),
                ("stale", number(of: .stale)), ("joined", number(of: .joined)),
                ("abandoned", number(of: .abandoned)),
            ]
        }
        counter("marquee_picture_refusals_total", "Refusals, by rule.", label: "rule") {
            counters.refusals.sorted { $0.key < $1.key }.map { ($0.key, Double($0.value)) }
        }
        counter("marquee_sources_total", "Sources, by how they were loaded.", label: "how") {
            [
                ("fetched", number(of: .fetched)), ("confirmed", number(of: .confirmed)),
                ("shared", number(of: .shared)),
            ]
        }
        counter("marquee_source_decodes_total", "Decoded sources.") { number(of: .decoded) }
        counter("marquee_picture_seconds_total", "Time spent making pictures.") {
            counters.makingTime.seconds
        }
        gauge(
            "marquee_work", "Sources in progress: all, waiting for their turn, being decoded.", label: "state"
        ) {
            let usage = service.gate.usage
            return [
                ("all", Double(usage.sources)), ("waiting", Double(usage.waiting)),
                ("decoding", Double(usage.workers)),
            ]
        }
        gauge("marquee_decode_memory_bytes", "Memory in use for decoding.") {
            Double(service.gate.usage.memory)
        }
        gauge("marquee_source_memory_bytes", "Memory of sources that are fetched or wait to be decoded.") {
            Double(service.gate.usage.sourceMemory)
        }
        gauge("marquee_transfers", "Running and waiting transfers.") { Double(service.transferCount) }
        gauge("marquee_memory_cache_bytes", "Bytes of pictures in memory.") {
            Double(service.memory.bytes)
        }
        if let shared = service.shared { watch(shared: shared) }
        if let disk = service.disk {
            counter("marquee_disk_faults_total", "Failed disk operations; the last is reported at the end.") {
                Double(disk.counters.faults)
            }
            gauge("marquee_disk_cache_bytes", "Bytes in the cache's folder.") {
                Double(disk.counters.bytes)
            }
        }
    }
}

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
