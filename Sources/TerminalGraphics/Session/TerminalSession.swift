internal import CMarqueeSystem
internal import FoundationEssentials
package import ImageCodecs
internal import Synchronization
internal import SystemSupport

/// Controls the process's terminal: raw input and the full screen between ``enter()`` and ``leave()``. Restores the
/// terminal on every exit, a crash included.
///
/// Use one per process. Safe for concurrent use; write frames from one thread, so that they do not mix.
/// ``TerminalInput`` reads the input.
public final class TerminalSession: Sendable {
    /// The terminal, open for reading and writing.
    let descriptor: Int32
    private let modes: TerminalModes
    /// The settings before.
    private let original: termios
    private let isEntered = Atomic(false)
    /// Hands the terminal to another program; nil if the system had no descriptors left.
    let handover = TerminalHandover()
    /// Written before the modes are switched off.
    private let cleanup = Lock<[UInt8]>([])
    /// Only one thread reads at a time, so that none waits for bytes that another has read.
    private let reading = Lock(())
    /// The queries whose last answer is missing.
    private let question = Lock<Question?>(nil)

    private struct Question {
        /// The number of missing answers to DA1.
        var barriers: Int
        /// When to stop waiting for them.
        let end: ContinuousClock.Instant
        let limit: Duration
    }

    /// Opens the process's terminal, by default `/dev/tty`, and changes nothing yet.
    ///
    /// Throws ``TerminalError/notATerminal(path:)`` if there is none.
    public init(modes: TerminalModes = .fullScreen, path: String = "/dev/tty") throws(TerminalError) {
        descriptor = unsafe csystem_open(path, O_RDWR | O_NOCTTY, 0)
        self.modes = modes
        var current = termios()
        guard descriptor >= 0, unsafe tcgetattr(descriptor, &current) == 0 else {
            original = current
            // `deinit` closes the descriptor.
            throw .notATerminal(path: path)
        }
        original = current
    }

    deinit {
        leave()
        if descriptor >= 0 { close(descriptor) }
    }

    /// The terminal's current size; `nil` if unknown.
    public var size: TerminalSize? { TerminalSize(of: descriptor) }

    /// Makes input raw and switches the modes on, after installing a handler that undoes both on a fatal signal. Does
    /// nothing if already entered.
    public func enter() throws(TerminalError) {
        guard !isEntered.exchange(true, ordering: .sequentiallyConsistent) else { return }
        do {
            try installGuard()
            var raw = modes.input(from: original)
            try check(unsafe tcsetattr(descriptor, TCSANOW, &raw), "tcsetattr")
            try write(modes.enter)
        } catch {
            leave()
            throw error
        }
    }

    /// Switches the modes off and restores the input settings. Does nothing if not entered.
    ///
    /// Waits for missing answers to ``ask(_:barriers:limit:)``, at most a third of their limit and until twice the limit
    /// after the query; later answers reach the shell. Meanwhile the modes are off and nothing is echoed.
    ///
    /// Typed keys that are unread stay in the input, for the shell; mouse reports and answers among them are removed. The
    /// removal reads the input and pushes the keys back. Where the kernel forbids that (`dev.tty.legacy_tiocsti`), only
    /// the missing answers are read, and keys typed before them are lost.
    public func leave() {
        guard isEntered.exchange(false, ordering: .sequentiallyConsistent) else { return }
        // Ignored: a terminal that is gone needs no restoring, and for another failure there is no
        // remedy.
        try? write(exitSequence)
        // A read of `TerminalInput` that has begun ends first; the next one reads nothing.
        reading.withLock { _ in }
        if !modes.keepsKeys { sortInput() }
        // Without a flush: keys that are unread reach the next reader.
        var input = original
        unsafe tcsetattr(descriptor, TCSANOW, &input)
        csystem_terminal_unguard()
    }

    /// Sends queries that end with `barriers` DA1 queries. `leave()` then waits for the answers, so that they do not
    /// reach the shell. They arrive as `TerminalEvent.answer`, within the limit if the terminal supports DA1.
    package func ask(
        _ questions: [UInt8], barriers: Int = 1, limit: Duration
    ) throws(TerminalError) {
        question.withLock { $0 = Question(barriers: barriers, end: .now + limit + limit, limit: limit) }
        try write(questions)
    }

    /// Called with each answer that `TerminalInput` reads.
    func didRead(_ answer: [UInt8]) {
        if TerminalAnswers.isBarrier(answer) { countBarriers(1) }
    }

    private func countBarriers(_ count: Int) {
        question.withLock { question in
            question?.barriers -= count
            if let rest = question?.barriers, rest <= 0 { question = nil }
        }
    }

    /// Reads until the last answer has come or the wait is over, and removes what is no key from the input.
    private func sortInput() {
        var sorter = AnswerSorter()
        awaitAnswers(&sorter)
        guard Self.canPutBack else { return }
        // Keys pushed back come behind unread ones: all of them are read, to stay in order. A terminal that never stops
        // sending is not followed.
        var room = Self.mostUnread
        while room > 0, let bytes = readAvailable(), !bytes.isEmpty {
            sorter.take(bytes)
            room -= bytes.count
        }
        sorter.end()
        putBack(sorter.keys)
    }

    /// Reads until the last answer has come or the wait is over, and nothing behind it.
    private func awaitAnswers(_ sorter: inout AnswerSorter) {
        guard let due = question.withLock({ $0 }) else { return }
        defer { question.withLock { $0 = nil } }
        let end = min(due.end, .now + due.limit / 3)
        while question.withLock({ $0 != nil }), let bytes = read(until: end, atMost: 1), !bytes.isEmpty {
            let known = sorter.barriers
            sorter.take(bytes)
            countBarriers(sorter.barriers - known)
        }
    }

    /// Whether the kernel lets a program push bytes into its terminal's input (TIOCSTI, `dev.tty.legacy_tiocsti`). Kernels
    /// before 6.2 do, and have no such setting.
    static let canPutBack: Bool = {
        // Ignored: without the setting every program may.
        let setting = try? FileCalls().contents(ofPath: "/proc/sys/dev/tty/legacy_tiocsti")
        return setting?.first != UInt8(ascii: "0")
    }()

    /// Pushes keys that were read back into the input. They are lost if the kernel forbids it.
    func putBack(_ keys: [UInt8]) {
        guard !keys.isEmpty else { return }
        _ = unsafe keys.withUnsafeBytes {
            unsafe csystem_terminal_push_input(descriptor, $0.baseAddress, $0.count)
        }
    }

    /// Whether the program has the terminal now.
    var hasTerminal: Bool { isEntered.load(ordering: .sequentiallyConsistent) }

    /// The most bytes of one read.
    static let mostBytes = 4096
    /// The most bytes of unread input that are sorted at the end: more than the kernel's queue holds.
    private static let mostUnread = 1 << 16

    /// Reads the available input: empty if there is none, nil if the terminal is gone. Never blocks, even if another
    /// thread takes the input first.
    /// - Parameters:
    ///   - limit: the most bytes.
    ///   - whileEntered: whether to read nothing after ``leave()``: the input is another program's then. Default: no.
    func readAvailable(atMost limit: Int = mostBytes, whileEntered: Bool = false) -> [UInt8]? {
        reading.withLock { _ in
            if whileEntered, !hasTerminal { return [] }
            guard Polling.ready([(descriptor, POLLIN)], until: .now) == [true] else { return [] }
            var isInterrupted = false
            let bytes = unsafe [UInt8](unsafeUninitializedCapacity: limit) { buffer, count in
                let result = unsafe Glibc.read(descriptor, buffer.baseAddress, limit)
                isInterrupted = result < 0 && (errno == EINTR || errno == EAGAIN)
                count = max(0, result)
            }
            return bytes.isEmpty && !isInterrupted ? nil : bytes
        }
    }

    /// Waits for input and reads it: empty at the deadline, nil if the terminal is gone.
    func read(until deadline: ContinuousClock.Instant, atMost limit: Int = mostBytes) -> [UInt8]? {
        // Checked on each pass, for a terminal that never stops sending.
        while ContinuousClock.now < deadline,
            Polling.ready([(descriptor, POLLIN)], until: deadline) == [true]
        {
            guard let bytes = readAvailable(atMost: limit) else { return nil }
            if !bytes.isEmpty { return bytes }
        }
        return []
    }

    /// Leaves the terminal, stops the process group as Ctrl-Z does, and enters again when it continues.
    ///
    /// Blocks meanwhile. Afterwards the screen's content is lost, and its size may have changed.
    public func suspend() throws(TerminalError) {
        leave()
        csystem_terminal_stop()
        try enter()
    }

    /// Writes all bytes. Throws ``TerminalError/closed`` if the terminal is gone.
    ///
    /// Blocks while the terminal accepts none, as after Ctrl-S: do not call it on the cooperative pool.
    public func write(_ bytes: [UInt8]) throws(TerminalError) {
        do {
            try FileCalls().write(bytes, toStream: descriptor)
        } catch {
            throw [EIO, EPIPE, ENXIO].contains(error.code)
                ? .closed : .system(call: "write", number: error.code)
        }
    }

    /// Sets the bytes to write before the modes are switched off, on every exit, such as the deletion of our pictures.
    /// At most 30,000. Call it on the thread that enters and leaves, before sending those pictures.
    package func setCleanup(_ bytes: [UInt8]) throws(TerminalError) {
        let isNew = cleanup.withLock { cleanup in
            defer { cleanup = bytes }
            return cleanup != bytes
        }
        if isNew, hasTerminal { try installGuard() }
    }

    private var exitSequence: [UInt8] { cleanup.withLock { $0 } + modes.leave }

    private func installGuard() throws(TerminalError) {
        var restored = original
        let result = unsafe exitSequence.withUnsafeBytes {
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
    /// The path is not a terminal, or the process has none.
    case notATerminal(path: String)
    /// The terminal is gone: its window was closed or its connection broke.
    case closed
    /// A system call failed with an error number.
    case system(call: String, number: Int32)
}

extension TerminalError: CustomStringConvertible {
    /// One line for people, which follows "the terminal cannot be used: ".
    public var description: String {
        switch self {
        case .notATerminal(let path): "\(path) is not a terminal"
        case .closed: "it was closed"
        case .system(let call, let number): "\(call): \(SystemError.text(number))"
        }
    }
}

/// The modes of a program in its terminal.
public struct TerminalModes: Sendable, Hashable {
    /// The bytes that switch the modes on.
    public let enter: [UInt8]
    /// The bytes that switch the modes off in reverse order. They also end a truncated frame and its colours.
    public let leave: [UInt8]

    /// Alternate screen, hidden cursor, mouse clicks and wheel with SGR reports, bracketed paste.
    public static let fullScreen = TerminalModes(
        enter: Array("\u{1B}[?1049h\u{1B}[?25l\u{1B}[?1000h\u{1B}[?1006h\u{1B}[?2004h".utf8),
        leave: Array(
            "\u{1B}[?2026l\u{1B}[m\u{1B}[?2004l\u{1B}[?1006l\u{1B}[?1000l\u{1B}[?25h\u{1B}[?1049l".utf8),
        keepsKeys: false)

    /// Input without echo and nothing else. Signal keys (Ctrl-C) and output settings stay, and unread keys are left for
    /// the next reader.
    public static let plain = TerminalModes(enter: [], leave: [], keepsKeys: true)

    fileprivate let keepsKeys: Bool

    /// The input settings for these modes.
    func input(from original: termios) -> termios {
        var settings = original
        if keepsKeys {
            unsafe csystem_terminal_set_cbreak(&settings)
        } else {
            unsafe cfmakeraw(&settings)
            // An Enter that is not read here ends a line for the next reader, too.
            settings.c_iflag |= original.c_iflag & tcflag_t(ICRNL)
        }
        return settings
    }
}

/// The size of a terminal.
public struct TerminalSize: Sendable, Hashable {
    /// The size in columns and rows.
    public let cells: CellSize
    /// The height of a cell divided by its width; 2 if the terminal does not tell its pixels.
    public let cellAspect: Double
    /// The size of a cell in pixels, if the terminal tells.
    package let cell: ImageSize?

    /// The size of the terminal behind a descriptor; `nil` if it is unknown.
    public init?(of descriptor: Int32) {
        var numbers: [UInt16] = [0, 0, 0, 0]
        let result = unsafe numbers.withUnsafeMutableBufferPointer { buffer in
            unsafe buffer.baseAddress.map { unsafe csystem_terminal_size(descriptor, $0) } ?? -1
        }
        guard result == 0, numbers[0] > 0, numbers[1] > 0 else { return nil }
        cells = CellSize(columns: Int(numbers[0]), rows: Int(numbers[1]))
        // xterm includes the window's borders: divide and round down.
        let width = numbers[2] / numbers[0]
        let height = numbers[3] / numbers[1]
        cell = width > 0 && height > 0 ? ImageSize(width: Int(width), height: Int(height)) : nil
        let aspect = width > 0 ? Double(height) / Double(width) : 0
        cellAspect = (1...4).contains(aspect) ? aspect : 2
    }
}

/// Copies text by OSC 52, which xterm, kitty, iTerm2, foot, WezTerm and others support (xterm's ctlseqs, "Manipulate
/// Selection Data"). The text is in base64.
///
///     ESC ] 52 ; c ; aHR0cHM6Ly9leGFtcGxlLm9yZy8= ESC \
package enum TerminalClipboard {
    /// The most bytes of text: terminals accept about 100,000 of base64.
    package static let limit = 64 * 1024

    /// The sequence that copies a text; nil if the text is too long.
    ///
    /// tmux copies it itself if its option `set-clipboard` is `on`. Otherwise it passes the sequence on if
    /// `allow-passthrough` is on.
    /// - Parameter isInTmux: whether tmux is between the program and the terminal.
    package static func copying(_ text: String, isInTmux: Bool) -> [UInt8]? {
        guard text.utf8.count <= limit else { return nil }
        let data = Data(text.utf8).base64EncodedString()
        let sequence = Array("\u{1B}]52;c;\(data)\u{1B}\\".utf8)
        return isInTmux ? sequence + TmuxPassthrough.wrapped(sequence) : sequence
    }
}
