import PictureService
import ServiceOperations
import SystemSupport

extension Metrics {
    /// Registers what a service of pictures has done.
    func watch(pictures service: PictureService) {
        let counters = service.counters
        counter("marquee_pictures_total", "Pictures that were asked for, by how they came.", label: "how") {
            [
                ("memory", counters.number(of: .memoryHit)), ("disk", counters.number(of: .diskHit)),
                ("made", counters.number(of: .made)), ("stale", counters.number(of: .stale)),
                ("joined", counters.number(of: .joined)), ("abandoned", counters.number(of: .abandoned)),
            ].map { ($0.0, Double($0.1)) }
        }
        counter("marquee_picture_refusals_total", "Refusals, by the rule.", label: "rule") {
            counters.refusals.sorted { $0.key < $1.key }.map { ($0.key, Double($0.value)) }
        }
        counter("marquee_sources_total", "Sources, by how they came.", label: "how") {
            [
                ("fetched", Double(counters.number(of: .fetched))),
                ("confirmed", Double(counters.number(of: .confirmed))),
            ]
        }
        counter("marquee_source_decodes_total", "Sources that were decoded.") {
            Double(counters.number(of: .decoded))
        }
        counter("marquee_picture_seconds_total", "Time that making pictures has taken.") {
            counters.makingTime.seconds
        }
        gauge(
            "marquee_work", "Sources under way: in all, waiting to be decoded, being decoded.", label: "state"
        ) {
            let usage = service.gate.usage
            return [
                ("all", Double(usage.sources)), ("waiting", Double(usage.waiting)),
                ("decoding", Double(usage.workers)),
            ]
        }
        gauge("marquee_decode_memory_bytes", "Memory that decoding takes.") {
            Double(service.gate.usage.memory)
        }
        gauge("marquee_transfers", "Transfers under way or waiting.") { Double(service.transferCount) }
        gauge("marquee_memory_cache_bytes", "Pictures in memory.") {
            Double(service.tiers.pictures.counters.bytes)
        }
        if let disk = service.tiers.disk {
            counter("marquee_disk_faults_total", "What the disk refused: see the program's last words.") {
                Double(disk.counters.faults)
            }
            gauge("marquee_disk_cache_bytes", "What the folder of the cache holds.") {
                Double(disk.counters.bytes)
            }
        }
    }
}
