import SystemSupport

/// Measures one load from its events, counted from when the meter is made.
final class LoadMeter: Sendable {
    private struct State {
        /// Nil before the first slot.
        var queued: Duration?
        var firstByte: Duration?
        var received = 0
        var file: (file: LoadedFile, time: Duration)?
    }

    private let start = ContinuousClock.now
    private let state = Lock(State())

    var listener: LoadListener { LoadListener { [self] event in if let event { record(event) } } }

    func record(_ event: LoadEvent) {
        state.withLock { state in
            switch event {
            case .started(let queued): state.queued = queued
            case .progress(let progress, _) where progress.received > 0:
                if state.firstByte == nil { state.firstByte = .now - start }
                state.received = progress.received
            case .file(let file): state.file = (file, .now - start)
            default: break
            }
        }
    }

    /// The file, if the load had one.
    var file: LoadedFile? { state.withLock { $0.file?.file } }

    /// The metrics at the end of the load.
    func metrics(of outcome: Result<LoadedImage, ImageLoadingError>) -> LoadMetrics {
        let (state, total) = (state.withLock { $0 }, ContinuousClock.now - start)
        var metrics = LoadMetrics(
            total: total, queued: state.queued ?? .zero, firstByte: state.firstByte,
            received: state.received, file: state.file?.time)
        if case .success(let image) = outcome {
            metrics.source = image.source
            metrics.decoding = metrics.file.map { total - $0 }
        }
        return metrics
    }

    /// The time until the file was there, or until the end of the load without one. A load that is cancelled before its
    /// first slot has only waited.
    func timing<Value>(of outcome: Result<Value, ImageLoadingError>) -> LoadTiming {
        let state = state.withLock { $0 }
        let total = state.file?.time ?? .now - start
        var queued = state.queued ?? .zero
        if case .failure(.cancelled) = outcome, state.queued == nil { queued = total }
        return LoadTiming(total: total, queued: queued)
    }
}

/// The duration of a load.
package struct LoadTiming: Sendable, Hashable {
    /// From the call to its return.
    package var total: Duration
    /// How long its transfer waited for slots; equal to `total` if the load was cancelled before its first slot.
    package var queued: Duration

    /// A timing with these durations.
    package init(total: Duration, queued: Duration) {
        self.total = total
        self.queued = min(queued, total)
    }

    /// The duration without the wait for slots.
    package var own: Duration { total - queued }
}

extension FileLoader {
    /// Loads a file, as `file(for:)` does, and measures the time.
    package func timedFile(
        for request: ImageRequest
    ) async -> (file: Result<LoadedFile, ImageLoadingError>, timing: LoadTiming) {
        let meter = LoadMeter()
        let file = await Result.of { () async throws(ImageLoadingError) in
            try await self.file(for: request, Client(listener: meter.listener))
        }
        return (file, meter.timing(of: file))
    }
}

extension ImageLoader {
    /// Loads an image, as `imageTask(with:)` does, and measures the time until its file was loaded.
    /// - Returns: the image; its file, nil if the load failed or memory had the image; and the time until the file was
    ///   loaded.
    package func timedImage(
        for request: ImageRequest
    ) async -> (image: Result<LoadedImage, ImageLoadingError>, file: LoadedFile?, timing: LoadTiming) {
        let meter = LoadMeter()
        let task = imageTask(with: request, listener: meter.listener)
        let image = await Result.of { () async throws(ImageLoadingError) in try await task.value }
        return (image, meter.file, meter.timing(of: image))
    }
}
