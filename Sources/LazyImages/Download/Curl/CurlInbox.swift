import Synchronization
import SystemSupport

/// What callers want of the transport's thread, and the descriptor that wakes it.
final class CurlInbox: Sendable {
    enum Message: Sendable {
        case start(CurlOrder)
        case cancel(Int)

        fileprivate func refuse(_ shortage: ResourceShortage) {
            guard case .start(let order) = self else { return }
            order.end(with: .failure(ImageLoadingError(shortage, url: order.request.url.displayText)))
        }
    }

    private struct State {
        var messages: [Message] = []
        var isClosed = false
        /// Why the thread could not begin its work.
        var shortage: ResourceShortage?
    }

    private let state = Lock(State())
    let wake: WakeDescriptor

    init() throws(ResourceShortage) { wake = try WakeDescriptor() }

    /// Whether no thread reads it any more.
    var isClosed: Bool { state.withLock { $0.isClosed } }

    /// Leaves a message and wakes the thread, unless an earlier message has done so already.
    func send(_ message: Message) {
        let (isFirst, shortage) = state.withLock { state in
            if state.shortage == nil { state.messages.append(message) }
            return (state.messages.count == 1, state.shortage)
        }
        if let shortage { return message.refuse(shortage) }
        if isFirst { wake.signal() }
    }

    /// Ends every order, those that were left already and those to come: there is no thread for them.
    func refuse(_ shortage: ResourceShortage) {
        let left = state.withLock { state in
            defer { state.messages = [] }
            state.shortage = shortage
            state.isClosed = true
            return state.messages
        }
        for message in left { message.refuse(shortage) }
    }

    /// Ends the thread. No transfer can be under way: each holds the transport while it waits.
    func close() {
        state.withLock { $0.isClosed = true }
        wake.signal()
    }

    /// The messages left since the last time; nil when the transport is gone.
    func take() -> [Message]? {
        state.withLock { state in
            if state.isClosed { return nil }
            defer { state.messages.removeAll(keepingCapacity: true) }
            return state.messages
        }
    }
}

/// One transfer that was asked for.
final class CurlOrder: Sendable {
    typealias Outcome = Result<ResponseHead, ImageLoadingError>
    let number: Int
    let request: TransportRequest
    let receiver: any BodyReceiver
    /// Whether the caller has left. The message `.cancel` may reach the thread before the order does, when the caller was
    /// cancelled already; then nobody would know what it meant. So the flag is set first and read when the order comes:
    /// 1. the flag is set before the order is read: the order is not begun;
    /// 2. it is set after: the message comes after the order, and ends it.
    let isCancelled = Atomic(false)
    private let continuation = Lock<CheckedContinuation<Outcome, Never>?>(nil)
    private let resumption = ResumeOrder()

    init(number: Int, request: TransportRequest, receiver: any BodyReceiver) {
        self.number = number
        self.request = request
        self.receiver = receiver
    }

    /// Waits for the outcome of the order, which `send` gives to the thread.
    func outcome(send: () -> Void) async -> Outcome {
        let outcome = await withCheckedContinuation { continuation in
            self.continuation.withLock { $0 = continuation }
            send()
        }
        resumption.mark()
        return outcome
    }

    /// Gives the caller its outcome: once.
    func end(with outcome: Outcome) {
        let continuation = continuation.withLock { $0.take() }
        resumption.mark()
        continuation?.resume(returning: outcome)
    }
}
