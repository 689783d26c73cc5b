import PictureServer
import ServiceOperations
import SystemSupport

extension Metrics {
    /// Registers the metrics of a picture service.
    func watch(pictures service: PictureServer) {
        let counters = service.counters
        counter("marquee_pictures_total", "Requested pictures, by how they were served.", label: "how") {
            [
                ("memory", counters.number(of: .memoryHit)), ("disk", counters.number(of: .diskHit)),
                ("made", counters.number(of: .made)), ("stale", counters.number(of: .stale)),
                ("joined", counters.number(of: .joined)), ("abandoned", counters.number(of: .abandoned)),
            ].map { ($0.0, Double($0.1)) }
        }
        counter("marquee_picture_refusals_total", "Refusals, by rule.", label: "rule") {
            counters.refusals.sorted { $0.key < $1.key }.map { ($0.key, Double($0.value)) }
        }
        counter("marquee_sources_total", "Sources, by how they were loaded.", label: "how") {
            [
                ("fetched", Double(counters.number(of: .fetched))),
                ("confirmed", Double(counters.number(of: .confirmed))),
                ("shared", Double(counters.number(of: .shared))),
            ]
        }
        counter("marquee_source_decodes_total", "Decoded sources.") {
            Double(counters.number(of: .decoded))
        }
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
            Double(service.tiers.pictures.counters.bytes)
        }
        if let shared = service.tiers.shared { watch(shared: shared) }
        if let disk = service.tiers.disk {
            counter("marquee_disk_faults_total", "Failed disk operations; the last is reported at the end.") {
                Double(disk.counters.faults)
            }
            gauge("marquee_disk_cache_bytes", "Bytes in the cache's folder.") {
                Double(disk.counters.bytes)
            }
        }
    }
}
