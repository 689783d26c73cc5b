import SystemSupport

/// How long a load took.
package struct LoadTiming: Sendable, Hashable {
    /// From the call to its answer.
    package var total: Duration
    /// The part of it in which its transfer waited for a slot: all of it if the load was cancelled before it had one.
    package var queued: Duration

    /// A timing of these parts.
    package init(total: Duration, queued: Duration) {
        self.total = total
        self.queued = min(queued, total)
    }

    /// The time from the transfer's start.
    package var own: Duration { total - queued }
}

extension FileLoader {
    /// Loads what `request` names, as `file(for:)` does, and measures it.
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
    /// Loads what `request` names, as `task(for:)` does, and measures how long its file took.
    /// - Returns: the image; its file, nil if it failed or memory had the image; and the time until the file was there.
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

    var listener: TaskListener {
        TaskListener { [self] event in
            state.withLock { state in
                switch event {
                case .started(let queued): state.queued = queued
                case .file(let file): (state.file, state.total) = (file, .now - start)
                case .progress, .sent, .preview, .ended: break
                }
            }
        }
    }

    /// The file, if the load told of one, and the timing.
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
