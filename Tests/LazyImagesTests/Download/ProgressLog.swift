import LazyImages

/// Records a listener's progress.
struct ProgressLog: Sendable {
    let continuation: AsyncStream<TransferProgress>.Continuation
    private let stream: AsyncStream<TransferProgress>

    init() { (stream, continuation) = AsyncStream.makeStream() }

    /// Waits for the first report.
    func first() async -> TransferProgress? { await stream.first { _ in true } }

    /// Waits until the listener finishes, and returns its progress. Call it once.
    func untilFinished() async -> [TransferProgress] {
        await stream.reduce(into: []) { $0.append($1) }
    }
}
