internal import Glibc
internal import SystemSupport

/// How the thread that reads a terminal leaves it to another program for a while: two connected sockets, and a byte each
/// time.
///
///     lender → reader     leave the terminal alone
///     lender ← reader     nobody reads it now
///     lender → reader     read on
final class TerminalLoan: Sendable {
    /// How long the reader has to answer: it is woken at once.
    private static let patience = Duration.seconds(5)

    private let lender: Int32
    /// The reader's side; readable when the terminal is wanted.
    let reader: Int32

    /// Nil where the system has no more descriptors.
    init?() {
        var pair: [Int32] = [-1, -1]
        let type = Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue)
        guard unsafe socketpair(AF_UNIX, type, 0, &pair) == 0 else { return nil }
        (lender, reader) = (pair[0], pair[1])
    }

    deinit {
        close(lender)
        close(reader)
    }

    /// Waits until nobody reads the terminal. False if its reader does not answer.
    func take() -> Bool {
        // An answer that came too late the last time.
        while isAnswered(within: .zero) { guard Self.receive(lender) else { return false } }
        guard Self.send(lender) else { return false }
        if isAnswered(within: Self.patience) { return Self.receive(lender) }
        giveBack()
        return false
    }

    private func isAnswered(within time: Duration) -> Bool {
        Polling.ready([(lender, POLLIN)], until: ContinuousClock.now + time) == [true]
    }

    /// Lets the reader read again.
    func giveBack() { _ = Self.send(lender) }

    /// The reader's part: answers, and returns when the terminal is back.
    func standAside() {
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
    /// Gives the terminal to another program, until `takeBack()`: leaves it, and nobody reads it. Blocks for a moment.
    /// - Throws: when the thread of the ``TerminalInput`` does not answer; the terminal is as it was then.
    package func lend() throws(TerminalError) {
        guard let loan, loan.take() else { throw .system(call: "lend", number: EBUSY) }
        leave()
    }

    /// Takes the terminal back that was lent. What is on the screen is unknown then, and its size may have changed.
    package func takeBack() throws(TerminalError) {
        defer { loan?.giveBack() }
        try enter()
    }
}
