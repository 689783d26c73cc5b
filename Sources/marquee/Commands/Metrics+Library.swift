import FilmLibrary
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
