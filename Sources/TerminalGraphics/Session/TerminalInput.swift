internal import CSystem
internal import Glibc

/// Reads a terminal's events: keys, the mouse, pastes, and what the system tells about the window.
///
/// The system's news come while the session is entered. Owned by one thread, which it blocks; not for
/// the cooperative pool.
public struct TerminalInput {
    /// How long an `ESC` waits for more before it is the Escape key, in milliseconds. What a terminal
    /// sends for one key arrives together, but over a network its parts may not.
    public static let escapeDelay: Int32 = 25
    /// The same for a session over SSH.
    public static let remoteEscapeDelay: Int32 = 100
    /// How many such delays of silence end a sequence that broke off: a second, and four over SSH.
    private static let abandonDelays: Int32 = 40

    private let session: TerminalSession
    private let signals: Int32
    private let escapeDelay: Int32
    private var parser = InputParser()

    /// Reads from a session's terminal.
    public init(_ session: TerminalSession, escapeDelay: Int32 = TerminalInput.escapeDelay) {
        self.session = session
        self.escapeDelay = escapeDelay
        signals = csystem_terminal_signals()
    }

    /// Waits for the next events and returns them; none when the time is over.
    ///
    /// The limit is in milliseconds; `nil`, the default, waits for ever. After ``TerminalEvent/closed``
    /// nothing else comes.
    public mutating func next(timeout: Int32? = nil) -> [TerminalEvent] {
        while true {
            var entries = [
                pollfd(fd: session.descriptor, events: Int16(POLLIN), revents: 0),
                pollfd(fd: signals, events: Int16(POLLIN), revents: 0),
                pollfd(fd: session.loan?.reader ?? -1, events: Int16(POLLIN), revents: 0),
            ]
            let own = escapeDelay * (parser.isAmbiguous ? 1 : Self.abandonDelays)
            // What began before the time was over may be whole a moment later.
            let limit = parser.isUnfinished ? own : timeout ?? -1
            let ready = unsafe poll(&entries, nfds_t(entries.count), limit)
            if ready < 0, errno != EINTR { return [.closed] }
            if ready == 0 { return parser.abandon() }
            if ready < 0 { continue }
            if entries[2].revents != 0 {
                session.loan?.standAside()
                continue
            }
            var events = entries[1].revents == 0 ? [] : signalEvents()
            if entries[0].revents != 0 { events += inputEvents() }
            if !events.isEmpty { return events }
        }
    }

    private mutating func inputEvents() -> [TerminalEvent] {
        guard let bytes = session.readAvailable() else { return [.closed] }
        let events = parser.feed(bytes)
        for case .answer(let answer) in events { session.notice(answer) }
        return events
    }

    /// What the signals since the last look mean, each once.
    private func signalEvents() -> [TerminalEvent] {
        let numbers = Set(signalBytes().map { Int32($0) })
        let meanings: [(Int32, TerminalEvent)] = [
            (SIGTSTP, .stopRequested), (SIGCONT, .continued), (SIGWINCH, .resized),
        ]
        return meanings.filter { numbers.contains($0.0) }.map(\.1)
    }

    /// What the handler of signals has written, a byte for each; none on failure.
    private func signalBytes() -> [UInt8] {
        unsafe [UInt8](unsafeUninitializedCapacity: 4096) { buffer, count in
            count = unsafe max(0, Glibc.read(signals, buffer.baseAddress, buffer.count))
        }
    }
}
