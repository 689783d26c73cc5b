internal import CSystem
internal import Glibc
package import ImageCodecs
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
            var raw = original
            unsafe cfmakeraw(&raw)
            try check(unsafe tcsetattr(descriptor, TCSANOW, &raw), "tcsetattr")
            try write(modes.enter)
        } catch {
            leave()
            throw error
        }
    }

    /// Switches the modes off and input back to what it was. Input that was not read, late answers to
    /// queries above all, is dropped, so that it does not reach the shell. Does nothing when not entered.
    public func leave() {
        guard
            isEntered.compareExchange(expected: true, desired: false, ordering: .sequentiallyConsistent)
                .exchanged
        else { return }
        // A terminal that is gone needs no restoring, and nobody could do more about one that fails.
        try? write(lastWords)
        var modes = original
        unsafe tcsetattr(descriptor, TCSANOW, &modes)
        tcflush(descriptor, TCIFLUSH)
        csystem_terminal_unguard()
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
    /// pictures. At most 30,000. To be called by who enters and leaves, before the terminal gets what is to be deleted.
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

    /// Reading answers and keys, and nothing else.
    public static let plain = TerminalModes(on: [], off: [])

    /// DEC private modes, by number, to switch on and off.
    private init(on: [Int], off: [Int]) {
        let onText = on.map { "\u{1B}[?\($0)h" }
        let offText = off.map { "\u{1B}[?\($0)l" }
        enter = Array((onText.prefix(1) + offText + onText.dropFirst()).joined().utf8)
        let undoneOn = on.map { "\u{1B}[?\($0)l" }
        let undoneOff = off.map { "\u{1B}[?\($0)h" }
        let undone = (undoneOn.prefix(1) + undoneOff + undoneOn.dropFirst()).reversed()
        leave = on.isEmpty && off.isEmpty ? [] : Array(("\u{1B}[?2026l\u{1B}[m" + undone.joined()).utf8)
    }
}

/// What a terminal says it is, when asked with XTVERSION.
public enum TerminalVersion {
    /// The question. A terminal that does not know it says nothing.
    public static let query = Array("\u{1B}[>0q".utf8)

    /// The name in an answer such as `ESC P > | XTerm(379) ESC \`; nil for any other answer.
    public static func name(in answer: [UInt8]) -> String? {
        let prefix = Array("\u{1B}P>|".utf8)
        guard answer.starts(with: prefix) else { return nil }
        let text = answer.dropFirst(prefix.count).prefix {
            $0 >= 0x20 && $0 < 0x7F && $0 != UInt8(ascii: "(") && $0 != 0x20
        }
        return String(decoding: text, as: UTF8.self)
    }

    /// Whether a terminal of this name shows 24-bit colours, whatever TERM says: xterm from 331 on and all that came
    /// later. tmux is not among them, since it depends on the terminal around it.
    public static func showsTrueColour(_ name: String) -> Bool {
        ["XTerm", "kitty", "ghostty", "foot", "WezTerm", "iTerm2", "Konsole", "mlterm", "contour"].contains(
            name)
    }
}

/// How large a terminal is.
public struct TerminalSize: Sendable, Hashable {
    /// Its columns and rows.
    public let cells: CellSize
    /// The height of a cell over its width, as far as the terminal tells its pixels; else 2.
    public let cellAspect: Double
    /// The pixels of a cell, if the terminal tells.
    package let cell: ImageSize?

    /// The size of the terminal behind a descriptor; `nil` where there is none, or none that tells.
    public init?(of descriptor: Int32) {
        var numbers: [UInt16] = [0, 0, 0, 0]
        let result = unsafe numbers.withUnsafeMutableBufferPointer { buffer in
            unsafe buffer.baseAddress.map { unsafe csystem_terminal_size(descriptor, $0) } ?? -1
        }
        guard result == 0, numbers[0] > 0, numbers[1] > 0 else { return nil }
        cells = CellSize(columns: Int(numbers[0]), rows: Int(numbers[1]))
        // xterm counts the window's borders among the pixels: whole pixels a cell, rounded down.
        let width = numbers[2] / numbers[0]
        let height = numbers[3] / numbers[1]
        cell = width > 0 && height > 0 ? ImageSize(width: Int(width), height: Int(height)) : nil
        let aspect = width > 0 ? Double(height) / Double(width) : 0
        cellAspect = (1...4).contains(aspect) ? aspect : 2
    }
}
