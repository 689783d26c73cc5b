import ImageCodecs
import LazyImages
import SystemSupport

extension SourceWork {
    /// The parts of a service that all its works share.
    struct Surroundings: Sendable {
        let tiers: PictureTiers
        let gate: WorkGate
        let fetcher: PictureFetcher
        let threads: BlockingThreads
        let failures: FailureMemory
        let revalidations: Revalidations
        let counters: PictureCounters
        let decoders: ImageDecoders
        let limits: DecodingLimits
        let clock: WallClock
    }
}

extension SourceWork.Surroundings {
    /// Runs a closure on the threads that make pictures.
    func run<Value: Sendable>(
        _ work: @escaping @Sendable () -> Value
    ) async throws(PictureFailure) -> Value {
        do {
            return try await threads.run(work)
        } catch {
            throw PictureFailure(
                .serviceUnavailable, "the system has no free thread; try again", retryAfter: 1)
        }
    }
}
