import SystemSupport

/// Measures one load from its events.
final class LoadMeter: Sendable {
    private let start = ContinuousClock.now
    private let metrics = Lock(LoadMetrics())

    /// Notes an event of the download.
    func note(_ event: LoadEvent) {
        switch event {
        case .started(let queued): metrics.withLock { $0.queued = queued }
        case .progress(let progress, _) where progress.received > 0:
            metrics.withLock { metrics in
                if metrics.firstByte == nil { metrics.firstByte = .now - start }
                metrics.received = progress.received
            }
        default: break
        }
    }

    /// The file is there.
    func fileLoaded() { metrics.withLock { $0.file = .now - start } }

    /// The metrics at the end of the load.
    func end(_ outcome: Result<LoadedImage, ImageLoadingError>) -> LoadMetrics {
        metrics.withLock { metrics in
            metrics.total = .now - start
            if case .success(let image) = outcome {
                metrics.source = image.source
                metrics.decoding = metrics.file.map { metrics.total - $0 }
            }
            return metrics
        }
    }
}
