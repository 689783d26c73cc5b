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
    /// Loads an image, as `task(for:)` does, and measures the time until its file was loaded.
    /// - Returns: the image; its file, nil if the load failed or memory had the image; and the time until the file was
    ///   loaded.
    package func timedImage(
        for request: ImageRequest
    ) async -> (image: Result<LoadedImage, ImageLoadingError>, file: LoadedFile?, timing: LoadTiming) {
        let meter = LoadMeter()
        let task = task(for: request, listener: meter.listener)
        let image = await Result.of { () async throws(ImageLoadingError) in try await task.value }
        return (image, meter.file, meter.timing(of: image))
    }
}
