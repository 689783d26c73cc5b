import Coalescing

/// One upload. It begins with the task.
///
///     let task = uploader.task(for: request)
///     for await progress in task.progress { show(progress.sent, of: progress.total) }
///     let response = try await task.value
///
/// Safe for concurrent use from any thread or actor. Releasing a task does not cancel it; ``cancel()`` does.
public final class UploadTask: Sendable {
    /// The request of the upload.
    public let request: UploadRequest

    private let caller: UploadFlight.Caller

    init(_ request: UploadRequest, _ caller: UploadFlight.Caller) {
        self.request = request
        self.caller = caller
    }

    /// The server's answer. Cancelling a task that waits for it cancels this upload.
    /// - Throws: the reason why there is no answer; `.cancelled` after ``cancel()``. The server may have performed the
    ///   write all the same.
    public var value: UploadResponse {
        get async throws(ImageLoadingError) { try await caller.value }
    }

    /// The progress of the upload. A slow reader gets only the newest value. Ends with the upload. Each use makes a new
    /// sequence.
    public var progress: AsyncStream<UploadProgress> {
        caller.stream(.bufferingNewest(1)) { event in
            if case .sent(let progress) = event { progress } else { nil }
        }
    }

    /// Cancels the upload. Does nothing once it has finished.
    public func cancel() { caller.leave() }
}
