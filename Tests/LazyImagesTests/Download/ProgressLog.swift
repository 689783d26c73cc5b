@testable import LazyImages

/// Keeps all a listener is told.
struct ProgressLog: Sendable {
    let continuation: AsyncStream<TransferProgress>.Continuation
    private let stream: AsyncStream<TransferProgress>

    init() { (stream, continuation) = AsyncStream.makeStream() }

    var listener: TaskListener { TaskListener(continuation) }

    /// Waits for the first report.
    func first() async -> TransferProgress? { await stream.first { _ in true } }

    /// Everything told until the listener was finished, or now. Once only.
    func all() async -> [TransferProgress] {
        continuation.finish()
        return await untilFinished()
    }

    /// Waits until the listener is finished. Once only.
    func untilFinished() async -> [TransferProgress] {
        await stream.reduce(into: []) { $0.append($1) }
    }
}
