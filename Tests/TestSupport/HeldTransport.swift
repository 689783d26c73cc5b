public import LazyImages
import SystemSupport

/// A transport whose transfers wait for the test. The test waits until they start, reads their requests, and
/// sends them heads, bytes and outcomes.
public final class HeldTransport: Transport {
    /// A server's answer to one request.
    public struct Answer: Sendable, CustomStringConvertible {
        /// The head.
        public var head: ResponseHead
        /// The body.
        public var body: [UInt8]
        /// The error of a transfer without an answer.
        public var error: ImageLoadingError?

        /// The description in a test's report.
        public var description: String {
            let fields = head.fields.fields.map { "\($0.name): \($0.value)" }
            return (["\(head.status)"] + fields + ["\(body.count) bytes"]).joined(separator: ", ")
        }

        /// An answer with this body, status and fields.
        public init(_ body: [UInt8], status: Int = 200, fields: HeaderFields = HeaderFields()) {
            head = ResponseHead(status: status, fields: fields)
            self.body = body
        }

        /// A transfer that fails.
        public static func failure(_ error: ImageLoadingError) -> Answer {
            var answer = Answer([])
            answer.error = error
            return answer
        }

        /// An answer that is fresh for an hour.
        public static func fresh(_ body: [UInt8]) -> Answer {
            Answer(body, fields: ["Cache-Control": "max-age=3600"])
        }
    }

    private struct State {
        var transfers: [HeldTransfer] = []
        var underWay = 0
        var mostAtOnce = 0
    }

    private let state = Lock(State())
    private let answer: @Sendable (TransportRequest) -> Answer?
    /// The number of started transfers.
    public let started = Tally()

    /// - Parameter answer: the immediate answer to a request; nil holds the transfer. Default: all are held.
    public init(answering answer: @escaping @Sendable (TransportRequest) -> Answer? = { _ in nil }) {
        self.answer = answer
    }

    /// The requests of the started transfers, in order.
    public var requests: [TransportRequest] { state.withLock { $0.transfers.map(\.request) } }

    /// The most transfers that ran at one time.
    public var mostAtOnce: Int { state.withLock { $0.mostAtOnce } }

    /// Waits until `count` transfers have started, and returns all started ones, in order.
    public func transfers(_ count: Int) async throws -> [HeldTransfer] {
        try await started.wait(for: count)
        return state.withLock { $0.transfers }
    }

    /// Waits for the transfer with this index, from 0 in order of their start.
    public func transfer(_ index: Int = 0) async throws -> HeldTransfer {
        try await transfers(index + 1)[index]
    }

    /// Holds the transfer until the test or its answer ends it, or its task is cancelled.
    public func perform(
        _ request: TransportRequest, into receiver: any BodyReceiver
    ) async throws(ImageLoadingError) -> ResponseHead {
        let transfer = HeldTransfer(request, receiver)
        state.withLock { state in
            state.transfers.append(transfer)
            state.underWay += 1
            state.mostAtOnce = max(state.mostAtOnce, state.underWay)
        }
        defer { state.withLock { $0.underWay -= 1 } }
        started.add()
        if let answer = answer(request) { transfer.answer(answer) }
        return try await transfer.outcome()
    }
}

/// One transfer of a `HeldTransport`. It ends successfully when the receiver wants no more bytes, as a
/// transport must.
public final class HeldTransfer: Sendable {
    private typealias Outcome = Result<ResponseHead, ImageLoadingError>

    private struct State {
        var head: ResponseHead?
        var outcome: Outcome?
        var continuation: CheckedContinuation<Outcome, Never>?
    }

    /// The transfer's request.
    public let request: TransportRequest
    /// Counts the cancellation of the transfer's task.
    public let cancellation = Tally()
    private let receiver: any BodyReceiver
    private let state = Lock(State())

    fileprivate init(_ request: TransportRequest, _ receiver: any BodyReceiver) {
        self.request = request
        self.receiver = receiver
    }

    /// Sends a head.
    public func respond(_ status: Int = 200, _ fields: HeaderFields = HeaderFields()) {
        let head = ResponseHead(status: status, fields: fields)
        state.withLock { $0.head = head }
        if !receiver.receive(head) { finish() }
    }

    /// Sends bytes of the body.
    public func send(_ bytes: [UInt8]) {
        if !receiver.receive(bytes.span) { finish() }
    }

    /// Ends the transfer successfully. A head must have been sent.
    public func finish() {
        let head = state.withLock { $0.head }
        end(.success(head ?? ResponseHead(status: 0)))
    }

    /// Ends the transfer with an error.
    public func fail(_ error: ImageLoadingError) { end(.failure(error)) }

    /// Sends head and body, and ends the transfer.
    public func answer(_ body: [UInt8], status: Int = 200, fields: HeaderFields = HeaderFields()) {
        answer(HeldTransport.Answer(body, status: status, fields: fields))
    }

    fileprivate func answer(_ answer: HeldTransport.Answer) {
        if let error = answer.error { return fail(error) }
        respond(answer.head.status, answer.head.fields)
        if !answer.body.isEmpty, state.withLock({ $0.outcome == nil }) { send(answer.body) }
        finish()
    }

    fileprivate func outcome() async throws(ImageLoadingError) -> ResponseHead {
        let outcome = await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let outcome = state.withLock { state in
                    state.continuation = state.outcome == nil ? continuation : nil
                    return state.outcome
                }
                if let outcome { continuation.resume(returning: outcome) }
            }
        } onCancel: {
            cancellation.add()
            fail(.cancelled(url: request.url.displayText))
        }
        return try outcome.get()
    }

    /// Only the first outcome counts.
    private func end(_ outcome: Outcome) {
        let continuation = state.withLock { state in
            guard state.outcome == nil else { return nil as CheckedContinuation<Outcome, Never>? }
            state.outcome = outcome
            return state.continuation.take()
        }
        continuation?.resume(returning: outcome)
    }
}
