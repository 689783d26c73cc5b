import SystemSupport

/// An answer that is still owed to a request. Any thread may give it later. A request whose answer is dropped is
/// answered 500, so only those who will answer may hold this object.
package final class PendingAnswer: Sendable {
    private enum State {
        /// The closure runs if the client goes away.
        case waiting(whenAbandoned: (@Sendable () -> Void)?)
        case answered
        case abandoned
    }

    private let state = Lock(State.waiting(whenAbandoned: nil))
    private let deliver: @Sendable (HTTPResponse) -> Void

    /// - Parameter deliver: takes the answer, once.
    init(deliver: @escaping @Sendable (HTTPResponse) -> Void) { self.deliver = deliver }

    deinit { send(.plain(.internalServerError)) }

    /// Answers the request. Only the first answer counts, and none counts after the client has gone.
    package func send(_ response: HTTPResponse) {
        let isFirst = state.withLock { state in
            guard case .waiting = state else { return false }
            state = .answered
            return true
        }
        if isFirst { deliver(response) }
    }

    /// Calls `body` once if the client goes before the answer: at once, if it has gone already. Runs on an event loop's
    /// thread or on the caller's, so it must not block.
    package func whenAbandoned(_ body: @escaping @Sendable () -> Void) {
        let isGone = state.withLock { state in
            switch state {
            case .waiting: state = .waiting(whenAbandoned: body)
            case .answered: break
            case .abandoned: return true
            }
            return false
        }
        if isGone { body() }
    }

    /// The client has gone: nobody reads an answer.
    func abandon() {
        let body = state.withLock { state -> (@Sendable () -> Void)? in
            guard case .waiting(let body) = state else { return nil }
            state = .abandoned
            return body
        }
        body?()
    }
}
