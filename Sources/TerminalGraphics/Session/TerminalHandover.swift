internal import Glibc
internal import SystemSupport

/// Hands the terminal over to another program for a while: asks the thread that reads the terminal to pause, over two
/// connected sockets, with one byte per message.
///
///     requester → reader     stop reading
///     requester ← reader     stopped
///     requester → reader     continue
final class TerminalHandover: Sendable {
    /// How long to wait for the reader, which wakes up at once.
    private static let answerTimeout = Duration.seconds(5)

    private let requester: Int32
    /// The reader's socket; readable when the terminal is requested.
    let reader: Int32

    /// Nil if the system has no descriptors left.
    init?() {
        var pair: [Int32] = [-1, -1]
        let type = Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue)
        guard unsafe socketpair(AF_UNIX, type, 0, &pair) == 0 else { return nil }
        (requester, reader) = (pair[0], pair[1])
    }

    deinit {
        close(requester)
        close(reader)
    }

    /// Waits until the reader has stopped. False if it does not answer.
    func request() -> Bool {
        // Skip answers that came too late last time.
        while isAnswered(within: .zero) { guard Self.receive(requester) else { return false } }
        guard Self.send(requester) else { return false }
        if isAnswered(within: Self.answerTimeout) { return Self.receive(requester) }
        release()
        return false
    }

    private func isAnswered(within time: Duration) -> Bool {
        Polling.ready([(requester, POLLIN)], until: ContinuousClock.now + time) == [true]
    }

    /// Lets the reader continue.
    func release() { _ = Self.send(requester) }

    /// Called by the reader: confirms that it has stopped, and returns when it may continue.
    func pause() {
        guard Self.receive(reader), Self.send(reader) else { return }
        _ = Self.receive(reader)
    }

    private static func send(_ socket: Int32) -> Bool {
        var byte: UInt8 = 1
        return unsafe Glibc.send(socket, &byte, 1, Int32(MSG_NOSIGNAL)) == 1
    }

    /// Waits for a byte.
    private static func receive(_ socket: Int32) -> Bool {
        var byte: UInt8 = 0
        while true {
            let count = unsafe read(socket, &byte, 1)
            if count == 1 { return true }
            if count == 0 || errno != EINTR { return false }
        }
    }
}

extension TerminalSession {
    /// Leaves the terminal to another program until `reclaim()`, and stops reading. Blocks for a moment.
    /// - Throws: when the thread of `TerminalInput` does not answer; the terminal is unchanged then.
    package func handOver() throws(TerminalError) {
        guard let handover, handover.request() else { throw .system(call: "hand over", number: EBUSY) }
        leave()
    }

    /// Takes the terminal back. The screen's content is unknown then, and its size may have changed.
    package func reclaim() throws(TerminalError) {
        defer { handover?.release() }
        try enter()
    }
}
