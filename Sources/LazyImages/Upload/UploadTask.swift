/// One upload under way. It begins when the task is made.
///
///     let task = uploader.task(for: request)
///     for await progress in task.progress { show(progress.sent, of: progress.total) }
///     let response = try await task.value
///
/// Safe for concurrent use from any thread or actor. A task that is let go of goes on; ``cancel()`` ends it.
public final class UploadTask: Sendable {
    /// What is sent.
    public let request: UploadRequest

    private let work: SharedTask<UploadResponse>
    private let caller: Int

    init(_ request: UploadRequest, _ work: SharedTask<UploadResponse>, caller: Int) {
        self.request = request
        self.work = work
        self.caller = caller
    }

    /// The server's answer. Cancelling a task that waits for it cancels this task.
    /// - Throws: whatever stands between the request and its answer; `.cancelled` after ``cancel()``. The server may
    ///   have done what was asked all the same.
    public var value: UploadResponse {
        get async throws(ImageLoadingError) { try await work.value(for: caller) }
    }

    /// How far the upload is: the newest value that was not read. Ends with the upload. Each use is a sequence of its own.
    public var progress: AsyncStream<UploadProgress> {
        AsyncStream(bufferingPolicy: .bufferingNewest(1)) { progress in
            work.listen(
                TaskListener { event in
                    switch event {
                    case .sent(let value): progress.yield(value)
                    case .ended: progress.finish()
                    case .started, .progress, .preview, .file: break
                    }
                }, for: caller)
        }
    }

    /// Ends the upload. Does nothing once the answer is there.
    public func cancel() { work.leave(caller) }
}
