/// A queue of messages from any threads to one thread, and the descriptor that wakes it. The reader takes all messages at
/// once, so only the first of them signals.
///
/// Public and inlinable, so that it is specialised for the messages of other modules.
public final class Mailbox<Message: Sendable>: Sendable {
    @usableFromInline struct State {
        @usableFromInline var messages: [Message] = []
        @usableFromInline var isClosed = false
    }

    /// Becomes readable when a message waits, and when the mailbox is closed.
    @usableFromInline package let wake: WakeDescriptor
    @usableFromInline let state: Lock<State>

    /// - Throws: when the system gives no descriptor.
    package init() throws(ResourceShortage) {
        state = Lock(State())
        wake = try WakeDescriptor()
    }

    /// Adds a message.
    /// - Returns: false if the mailbox is closed; the message is dropped then.
    @inlinable @discardableResult
    public func send(_ message: Message) -> Bool {
        let count = state.withLock { state in
            if state.isClosed { return 0 }
            state.messages.append(message)
            return state.messages.count
        }
        if count == 1 { wake.signal() }
        return count > 0
    }

    /// Takes all messages, in order; nil once the mailbox is closed. The reader resets `wake` before.
    @inlinable public func take() -> [Message]? {
        state.withLock { state in
            if state.isClosed { return nil }
            defer { state.messages.removeAll(keepingCapacity: true) }
            return state.messages
        }
    }

    /// Waits until there is a message or the deadline has come, and takes all messages. Blocks. A nil deadline waits for
    /// ever.
    package func take(until deadline: ContinuousClock.Instant?) -> [Message] {
        _ = Polling.ready([(wake.descriptor, WakeDescriptor.readable)], until: deadline)
        wake.reset()
        return take() ?? []
    }

    /// Whether nobody takes messages any more.
    package var isClosed: Bool { state.withLock { $0.isClosed } }

    /// Closes the mailbox, and wakes the reader.
    /// - Returns: the messages that were not taken.
    @discardableResult
    package func close() -> [Message] {
        defer { wake.signal() }
        return state.withLock { state in
            state.isClosed = true
            defer { state.messages = [] }
            return state.messages
        }
    }
}
