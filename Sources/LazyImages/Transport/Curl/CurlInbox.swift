import Synchronization
import SystemSupport

/// The messages of callers to the transport's thread, and the descriptor that wakes it.
final class CurlInbox: Sendable {
    enum Message: Sendable {
        case start(CurlJob, any BodyReceiver)
        case cancel(Int)
        /// The receiver of a paused transfer wants its bytes again.
        case resume(Int)

        fileprivate func refuse(_ shortage: ResourceShortage) {
            guard case .start(let job, _) = self else { return }
            job.end(with: .failure(ImageLoadingError(shortage, url: job.request.url.displayText)))
        }
    }

    private struct State {
        var messages: [Message] = []
        var isClosed = false
        /// Why the thread could not start.
        var shortage: ResourceShortage?
    }

    private let state = Lock(State())
    let wake: WakeDescriptor

    init() throws(ResourceShortage) { wake = try WakeDescriptor() }

    /// Whether the thread has stopped reading it.
    var isClosed: Bool { state.withLock { $0.isClosed } }

    /// Adds a message, and wakes the thread unless an earlier message has done so.
    func send(_ message: Message) {
        let (isFirst, shortage) = state.withLock { state in
            if state.shortage == nil { state.messages.append(message) }
            return (state.messages.count == 1, state.shortage)
        }
        if let shortage { return message.refuse(shortage) }
        if isFirst { wake.signal() }
    }

    /// Fails all present and future orders: there is no thread for them.
    func refuse(_ shortage: ResourceShortage) {
        let left = state.withLock { state in
            defer { state.messages = [] }
            state.shortage = shortage
            state.isClosed = true
            return state.messages
        }
        for message in left { message.refuse(shortage) }
    }

    /// Ends the thread. No transfer can be running: each one retains the transport.
    func close() {
        state.withLock { $0.isClosed = true }
        wake.signal()
    }

    /// The messages since the last call; nil when the transport is gone.
    func take() -> [Message]? {
        state.withLock { state in
            if state.isClosed { return nil }
            defer { state.messages.removeAll(keepingCapacity: true) }
            return state.messages
        }
    }
}

/// One requested transfer. It does not retain the receiver, which may retain it by `resume`.
final class CurlJob: Sendable {
    typealias Outcome = Result<ResponseHead, ImageLoadingError>
    let number: Int
    let request: TransportRequest
    private let inbox: CurlInbox
    /// Whether the caller has cancelled. If the caller was cancelled from the start, the message `.cancel` may reach
    /// the thread before the job, and would be lost. So the caller first sets this flag, which the thread reads when
    /// it gets the job:
    /// 1. the flag is set before the thread gets the job: the thread does not start the transfer;
    /// 2. it is set later: the message comes after the job, and cancels the transfer.
    let isCancelled = Atomic(false)
    private let continuation = Lock<CheckedContinuation<Outcome, Never>?>(nil)
    private let resumption = ResumeOrder()

    init(number: Int, request: TransportRequest, inbox: CurlInbox) {
        self.number = number
        self.request = request
        self.inbox = inbox
    }

    /// Sends the job to the thread, and waits for its outcome.
    func outcome(into receiver: any BodyReceiver) async -> Outcome {
        let outcome = await withCheckedContinuation { continuation in
            self.continuation.withLock { $0 = continuation }
            inbox.send(.start(self, receiver))
        }
        resumption.mark()
        return outcome
    }

    /// Cancels the transfer.
    func cancel() {
        isCancelled.store(true, ordering: .releasing)
        inbox.send(.cancel(number))
    }

    /// Continues the paused transfer, on the thread. Does nothing if it has ended: the thread knows it by its number.
    func resume() { inbox.send(.resume(number)) }

    /// Resumes the caller with the outcome. Only the first call counts.
    func end(with outcome: Outcome) {
        let continuation = continuation.withLock { $0.take() }
        resumption.mark()
        continuation?.resume(returning: outcome)
    }
}
