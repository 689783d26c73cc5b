import SystemSupport

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
        let watch = LoadWatch()
        let file = await Result.of { () async throws(ImageLoadingError) in
            try await self.file(for: request, Client(listener: watch.listener))
        }
        return (file, watch.end(file).timing)
    }
}

extension ImageLoader {
    /// Loads an image, as `task(for:)` does, and measures the time until its file was loaded.
    /// - Returns: the image; its file, nil if the load failed or memory had the image; and the time until the file was
    ///   loaded.
    package func timedImage(
        for request: ImageRequest
    ) async -> (image: Result<LoadedImage, ImageLoadingError>, file: LoadedFile?, timing: LoadTiming) {
        let watch = LoadWatch()
        let task = task(for: request, listener: watch.listener)
        let image = await Result.of { () async throws(ImageLoadingError) in try await task.value }
        let (file, timing) = watch.end(image)
        return (image, file, timing)
    }
}

/// Measures one load from its events.
private final class LoadWatch: Sendable {
    private struct State {
        var queued: Duration?
        var file: LoadedFile?
        var total: Duration?
    }

    private let start = ContinuousClock.now
    private let state = Lock(State())

    var listener: LoadListener {
        LoadListener { [self] event in
            state.withLock { state in
                switch event {
                case .started(let queued): state.queued = queued
                case .file(let file): (state.file, state.total) = (file, .now - start)
                default: break
                }
            }
        }
    }

    /// The file, if the load had one, and the timing.
    func end<Value>(
        _ outcome: Result<Value, ImageLoadingError>
    ) -> (file: LoadedFile?, timing: LoadTiming) {
        let state = state.withLock { $0 }
        let total = state.total ?? .now - start
        var queued = state.queued ?? .zero
        if case .failure(.cancelled) = outcome, state.queued == nil { queued = total }
        return (state.file, LoadTiming(total: total, queued: queued))
    }
}
