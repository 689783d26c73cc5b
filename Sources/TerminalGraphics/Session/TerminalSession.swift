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

    /// Opens the process's terminal, `/dev/tty` by default, and changes nothing yet.
    ///
    /// Throws ``TerminalError/notATerminal(path:)`` where there is none.
    public init(modes: TerminalModes = .fullScreen, path: String = "/dev/tty") throws(TerminalError) {
        descriptor = unsafe csystem_open(path, O_RDWR | O_NOCTTY, 0)
        self.modes = modes
        var current = termios()
        guard descriptor >= 0, unsafe tcgetattr(descriptor, &current) == 0 else {
            original = current
            if descriptor >= 0 { close(descriptor) }
            throw .notATerminal(path: path)
        }
        original = current
    }

    deinit {
        leave()
        close(descriptor)
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
        try? write(modes.leave)
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

    private func guardWays() throws(TerminalError) {
        var restored = original
        let result = unsafe modes.leave.withUnsafeBytes {
            unsafe csystem_terminal_guard(descriptor, &restored, $0.baseAddress, $0.count)
        }
        try check(result, "terminal guard")
    }

    private func check(_ result: Int32, _ call: String) throws(TerminalError) {
        if result != 0 { throw .system(call: call, number: errno) }
    }
}
