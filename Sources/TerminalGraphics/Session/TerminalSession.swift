internal import CSystem
internal import Glibc
internal import Synchronization
internal import SystemSupport

/// The process's hold on its terminal: raw input and a full screen between ``enter()`` and ``leave()``,
/// and the terminal as it was on every way out, a crash included.
///
/// One at a time in a process. Safe to use from several threads; frames should come from one, so that
/// they do not mix. Input is read with ``TerminalInput``.
public final class TerminalSession: Sendable {
    /// The terminal, open for reading and writing.
    let descriptor: Int32
    private let modes: TerminalModes
    /// How the terminal was before.
    private let original: termios
    private let isEntered = Atomic(false)
    /// How another program gets the terminal for a while; nil where the system had no more descriptors.
    let loan = TerminalLoan()
    /// What is written before the modes are switched off.
    private let farewell = Lock<[UInt8]>([])
    /// Keeps a thread from waiting for what another one has read.
    private let reading = Lock(())
    /// The questions whose last answer has not come.
    private let question = Lock<Question?>(nil)

    private struct Question {
        /// How many answers to DA1 are still to come.
        var barriers: Int
        /// When nobody waits for them any more.
        let end: ContinuousClock.Instant
        let limit: Duration
    }

    /// Opens the process's terminal, `/dev/tty` by default, and changes nothing yet.
    ///
    /// Throws ``TerminalError/notATerminal(path:)`` where there is none.
    public init(modes: TerminalModes = .fullScreen, path: String = "/dev/tty") throws(TerminalError) {
        descriptor = unsafe csystem_open(path, O_RDWR | O_NOCTTY, 0)
        self.modes = modes
        var current = termios()
        guard descriptor >= 0, unsafe tcgetattr(descriptor, &current) == 0 else {
            original = current
            // What was opened is closed as the object goes.
            throw .notATerminal(path: path)
        }
        original = current
    }

    deinit {
        leave()
        if descriptor >= 0 { close(descriptor) }
    }

    /// The terminal's size now; `nil` when it does not tell.
    public var size: TerminalSize? { TerminalSize(of: descriptor) }

    /// Makes input raw and switches the modes on; first of all, sees to it that a deadly signal undoes
    /// both. Does nothing when entered already.
    public func enter() throws(TerminalError) {
        guard
            isEntered.compareExchange(expected: false, desired: true, ordering: .sequentiallyConsistent)
                .exchanged
        else { return }
        do {
            try guardWays()
            var raw = modes.input(from: original)
            try check(unsafe tcsetattr(descriptor, TCSANOW, &raw), "tcsetattr")
            try write(modes.enter)
        } catch {
            leave()
            throw error
        }
    }

    /// Switches the modes off and input back to what it was. Does nothing when not entered.
    ///
    /// Input that was not read is dropped, so that it does not reach the shell. Where the answers to ``ask(_:barriers:limit:)``
    /// have not come, they are waited for, at most a third of their limit and until twice the limit after the question: what comes
    /// later is the shell's. The modes are off meanwhile, and nothing is echoed.
    public func leave() {
        guard
            isEntered.compareExchange(expected: true, desired: false, ordering: .sequentiallyConsistent)
                .exchanged
        else { return }
        // A terminal that is gone needs no restoring, and nobody could do more about one that fails.
        try? write(lastWords)
        awaitAnswers()
        var input = original
        unsafe tcsetattr(descriptor, TCSANOW, &input)
        if !modes.keepsKeys { tcflush(descriptor, TCIFLUSH) }
        csystem_terminal_unguard()
    }

    /// Writes questions that end with DA1, once or several times, and so the answers that ``leave()`` must not leave to the shell.
    /// The answers come as ``TerminalEvent/answer(_:)``, within the limit where the terminal knows DA1.
    package func ask(
        _ questions: [UInt8], barriers: Int = 1, limit: Duration
    ) throws(TerminalError) {
        question.withLock { $0 = Question(barriers: barriers, end: .now + limit + limit, limit: limit) }
        try write(questions)
    }

    /// To be told of each answer that was read.
    func notice(_ answer: [UInt8]) {
        if TerminalAnswers.isBarrier(answer) { note(barriers: 1) }
    }

    private func note(barriers count: Int) {
        question.withLock { question in
            question?.barriers -= count
            if let rest = question?.barriers, rest <= 0 { question = nil }
        }
    }

    /// Reads until the last answer has come or nobody waits for it any more.
    private func awaitAnswers() {
        guard let due = question.withLock({ $0 }) else { return }
        defer { question.withLock { $0 = nil } }
        let end = min(due.end, .now + due.limit / 3)
        var sorter = AnswerSorter()
        // The thread of a `TerminalInput` may read the last answer instead, and gives notice of it.
        while question.withLock({ $0 != nil }), ContinuousClock.now < end,
            let bytes = read(until: min(end, .now + Self.glance))
        {
            let known = sorter.barriers
            sorter.take(bytes)
            note(barriers: sorter.barriers - known)
        }
    }

    /// How long it may take to see that another thread has read the last answer.
    private static let glance = Duration.milliseconds(10)

    /// What there is to read now; empty where there is nothing, nil when the terminal is gone. Several threads may be told that
    /// there is something: it never waits for what another one has read.
    func readAvailable() -> [UInt8]? {
        reading.withLock { _ in
            guard Polling.ready([(descriptor, POLLIN)], until: .now) == [true] else { return [] }
            var isInterrupted = false
            let bytes = unsafe [UInt8](unsafeUninitializedCapacity: 4096) { buffer, count in
                let result = unsafe Glibc.read(descriptor, buffer.baseAddress, buffer.count)
                isInterrupted = result < 0 && (errno == EINTR || errno == EAGAIN)
                count = max(0, result)
            }
            return bytes.isEmpty && !isInterrupted ? nil : bytes
        }
    }

    /// What there is to read, as soon as there is something; empty when the time is over, nil when the terminal is gone.
    func read(until deadline: ContinuousClock.Instant) -> [UInt8]? {
        // A terminal that never stops to send has its limit too.
        while ContinuousClock.now < deadline,
            Polling.ready([(descriptor, POLLIN)], until: deadline) == [true]
        {
            guard let bytes = readAvailable() else { return nil }
            if !bytes.isEmpty { return bytes }
        }
        return []
    }

    /// Leaves, stops the process group as Ctrl-Z does in a shell, and enters again when it goes on.
    ///
    /// Blocks meanwhile. What was on the screen is gone then, and its size may have changed.
    public func suspend() throws(TerminalError) {
        leave()
        csystem_terminal_stop()
        try enter()
    }

    /// After a SIGCONT that no ``suspend()`` waited for: switches modes and raw input on again, since
    /// whoever had the terminal meanwhile has changed them.
    public func resume() throws(TerminalError) {
        leave()
        try enter()
    }

    /// Writes all bytes. Throws ``TerminalError/closed`` when the terminal is gone.
    ///
    /// Blocks while the terminal takes none, as after Ctrl-S: not for the cooperative pool.
    public func write(_ bytes: [UInt8]) throws(TerminalError) {
        do {
            try FileCalls().write(bytes, toStream: descriptor)
        } catch {
            throw [EIO, EPIPE, ENXIO].contains(error.code)
                ? .closed : .system(call: "write", number: error.code)
        }
    }

    /// From now on these bytes are written before the modes are switched off, on every way out: what deletes our own
    /// pictures. At most 30,000. The thread that enters and leaves calls this before it sends those pictures.
    package func prepareFarewell(_ bytes: [UInt8]) throws(TerminalError) {
        let isNew = farewell.withLock { farewell in
            defer { farewell = bytes }
            return farewell != bytes
        }
        if isNew, isEntered.load(ordering: .sequentiallyConsistent) { try guardWays() }
    }

    private var lastWords: [UInt8] { farewell.withLock { $0 } + modes.leave }

    private func guardWays() throws(TerminalError) {
        var restored = original
        let result = unsafe lastWords.withUnsafeBytes {
            unsafe csystem_terminal_guard(descriptor, &restored, $0.baseAddress, $0.count)
        }
        try check(result, "terminal guard")
    }

    private func check(_ result: Int32, _ call: String) throws(TerminalError) {
        if result != 0 { throw .system(call: call, number: errno) }
    }
}

/// Why a terminal cannot be used.
public enum TerminalError: Error, Sendable, Hashable {
    /// There is no terminal at the path: the process has none, or it is something else.
    case notATerminal(path: String)
    /// The terminal is gone: its window was closed or the connection broke.
    case closed
    /// A call of the system failed with an error number.
    case system(call: String, number: Int32)
}

/// What a full-screen program switches on in a terminal, and how it switches it off again.
public struct TerminalModes: Sendable, Hashable {
    /// The bytes that switch the modes on.
    public let enter: [UInt8]
    /// The bytes that undo them, in reverse; they also end a frame that was cut off, and its colours.
    public let leave: [UInt8]

    /// The alternate screen without a cursor, mouse clicks and wheel with SGR reports, bracketed paste.
    public static let fullScreen = TerminalModes(on: [1049, 1000, 1006, 2004], off: [25])

    /// Reading answers and keys without an echo, and nothing else: the terminal's own keys (Ctrl-C) and lines of output are as
    /// they were, and keys that nobody read stay for whoever reads next.
    public static let plain = TerminalModes(on: [], off: [], keepsKeys: true)

    let keepsKeys: Bool

    /// The settings of the terminal's input under these modes.
    func input(from original: termios) -> termios {
        var settings = original
        if !keepsKeys {
            unsafe cfmakeraw(&settings)
            return settings
        }
        unsafe csystem_terminal_quiet(&settings)
        return settings
    }

    /// DEC private modes, by number, to switch on and off.
    private init(on: [Int], off: [Int], keepsKeys: Bool = false) {
        self.keepsKeys = keepsKeys
        let onText = on.map { "\u{1B}[?\($0)h" }
        let offText = off.map { "\u{1B}[?\($0)l" }
        enter = Array((onText.prefix(1) + offText + onText.dropFirst()).joined().utf8)
        let undoneOn = on.map { "\u{1B}[?\($0)l" }
        let undoneOff = off.map { "\u{1B}[?\($0)h" }
        let undone = (undoneOn.prefix(1) + undoneOff + undoneOn.dropFirst()).reversed()
        leave = on.isEmpty && off.isEmpty ? [] : Array(("\u{1B}[?2026l\u{1B}[m" + undone.joined()).utf8)
    }
}
