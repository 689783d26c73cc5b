internal import CMarqueeSystem
internal import SystemSupport

/// Reads a terminal's events: keys, mouse, pastes, and signals about the window.
///
/// Signals arrive only while the session is entered. One thread owns it and blocks in it; do not use it on the
/// cooperative pool.
public struct TerminalInput {
    /// How long an `ESC` waits for more bytes before it counts as the Escape key, in milliseconds. The bytes of one key
    /// arrive together on a local terminal, but perhaps not over a network.
    public static let escapeDelay: Int32 = 25
    /// The delay for a session over SSH.
    public static let remoteEscapeDelay: Int32 = 100
    /// The number of delays without input that end a truncated sequence: a second, and four over SSH.
    private static let abandonDelays: Int32 = 40

    private let session: TerminalSession
    private let signals: Int32
    private let escapeDelay: Int32
    private let lastKeys: Set<TerminalKey>
    private var parser = InputParser()

    /// How soon to notice that the session is entered again, in microseconds.
    private static let recheckInterval: UInt32 = 10_000

    /// Creates a reader of a session's terminal.
    ///
    /// `lastKeys` are the keys after which the program may give the terminal away. ``next(timeout:)`` reads nothing behind
    /// one of them, so that the keys behind it reach the shell, unless it is called again. Default: none.
    public init(
        _ session: TerminalSession, escapeDelay: Int32 = TerminalInput.escapeDelay,
        lastKeys: Set<TerminalKey> = []
    ) {
        self.session = session
        self.escapeDelay = escapeDelay
        self.lastKeys = lastKeys
        signals = csystem_terminal_signals()
    }

    /// Waits for the next events; returns none after the timeout.
    ///
    /// The timeout is in milliseconds; `nil`, the default, waits without end. ``TerminalEvent/closed`` is the last
    /// event.
    public mutating func next(timeout: Int32? = nil) -> [TerminalEvent] {
        while true {
            var entries = [
                pollfd(fd: session.descriptor, events: Int16(POLLIN), revents: 0),
                pollfd(fd: signals, events: Int16(POLLIN), revents: 0),
                pollfd(fd: session.handover?.reader ?? -1, events: Int16(POLLIN), revents: 0),
            ]
            let own = escapeDelay * (parser.isAmbiguous ? 1 : Self.abandonDelays)
            // A sequence that began before the timeout may be complete a moment later.
            let limit = parser.isUnfinished ? own : timeout ?? -1
            let ready = unsafe poll(&entries, nfds_t(entries.count), limit)
            if ready < 0, errno != EINTR { return [.closed] }
            if ready == 0 { return parser.abandon() }
            if ready < 0 { continue }
            if entries[2].revents != 0 {
                session.handover?.pause()
                continue
            }
            var events = entries[1].revents == 0 ? [] : signalEvents()
            if entries[0].revents != 0 {
                // The input is another program's until the session is entered again.
                if !session.hasTerminal { usleep(Self.recheckInterval) }
                events += inputEvents()
            }
            if !events.isEmpty { return events }
        }
    }

    /// Whether these events end with one of the last keys.
    public func isLast(_ events: [TerminalEvent]) -> Bool {
        if case .key(let key) = events.last { lastKeys.contains(key) } else { false }
    }

    /// Reads what is there, up to the first of the last keys.
    private mutating func inputEvents() -> [TerminalEvent] {
        // Byte by byte, if nothing behind a key may be read.
        let limit = lastKeys.isEmpty ? TerminalSession.mostBytes : 1
        var events: [TerminalEvent] = []
        var count = 0
        repeat {
            guard let bytes = session.readAvailable(atMost: limit, whileEntered: true) else {
                return events + [.closed]
            }
            if bytes.isEmpty { break }
            count += bytes.count
            let new = parser.feed(bytes)
            for case .answer(let answer) in new { session.didRead(answer) }
            events += new
        } while count < TerminalSession.mostBytes && !isLast(events)
        return events
    }

    /// The events of the signals since the last call, each once.
    private func signalEvents() -> [TerminalEvent] {
        let numbers = Set(signalBytes().map { Int32($0) })
        let meanings: [(Int32, TerminalEvent)] = [
            (SIGTSTP, .stopRequested), (SIGCONT, .continued), (SIGWINCH, .resized),
        ]
        return meanings.filter { numbers.contains($0.0) }.map(\.1)
    }

    /// The bytes that the signal handler wrote, one per signal; empty on failure.
    private func signalBytes() -> [UInt8] {
        unsafe [UInt8](unsafeUninitializedCapacity: 4096) { buffer, count in
            count = unsafe max(0, Glibc.read(signals, buffer.baseAddress, buffer.count))
        }
    }
}

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
        guard let pair = try? SessionProcess.socketPair() else { return nil }
        (requester, reader) = (pair.own, pair.other)
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
