import CSystem
import Glibc
public import ImageCodecs
import TerminalGraphics

/// A terminal with a program in it: what the program draws appears on a ``VirtualScreen``, and keys are
/// typed by ``type(_:)``.
public final class PseudoTerminal {
    /// Why a test cannot go on.
    public enum Failure: Error {
        case system(call: String, number: Int32)
    }

    /// How a program ended.
    public enum Ending: Sendable, Hashable {
        case exited(Int32)
        case killed(signal: Int32)
    }

    /// What a person would see now.
    public private(set) var screen: VirtualScreen
    /// Everything the program wrote.
    public private(set) var output: [UInt8] = []
    /// The program's process.
    public let process: Int32
    /// How the terminal was set before the program began.
    public let settingsBefore: TerminalSettings

    private var controlling: Int32
    /// Held open, so that the terminal's settings outlive the program.
    private let controlled: Int32
    private let exitDescriptor: Int32
    private var ending: Ending?

    /// Starts a program in a terminal of its own.
    ///
    /// The environment is `TERM=xterm-256color`, a Swift runtime that prints no backtraces (on a terminal
    /// it would ask for keys after a crash), a program that does not look how much memory the machine has left, and
    /// what is given. A terminal with pixels in its cells shows pictures; it does not say how many they are.
    public init(
        _ program: String, _ arguments: [String] = [], environment: [String: String] = [:], columns: Int = 80,
        rows: Int = 24, measure: VirtualScreen.Measure = .scalars, cellPixels: ImageSize? = nil
    ) throws {
        screen = VirtualScreen(columns: columns, rows: rows, measure: measure, cellPixels: cellPixels)
        var name = [CChar](repeating: 0, count: 128)
        controlling = unsafe name.withUnsafeMutableBufferPointer { buffer in
            unsafe csystem_pty_open(UInt16(columns), UInt16(rows), buffer.baseAddress, buffer.count)
        }
        if controlling < 0 { throw Failure.system(call: "posix_openpt", number: errno) }
        let path = String(decoding: name.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
        controlled = unsafe csystem_open(path, O_RDWR | O_NOCTTY, 0)
        settingsBefore = TerminalSettings(of: controlled)

        let variables = [
            "TERM": "xterm-256color", "SWIFT_BACKTRACE": "enable=no", "MEMORY_PRESSURE_WATCH": "/dev/null",
        ]
        .merging(environment) { $1 }.map { "\($0.key)=\($0.value)" }
        process = Self.spawn(path, [program] + arguments, variables)
        if process < 0 { throw Failure.system(call: "posix_spawn \(program)", number: errno) }
        exitDescriptor = csystem_pty_exit_descriptor(process)
    }

    deinit {
        if ending == nil {
            kill(process, SIGKILL)
            var outcome: Int32 = 0
            _ = unsafe csystem_pty_wait(process, 0, &outcome)
        }
        for descriptor in [controlling, controlled, exitDescriptor] where descriptor >= 0 {
            close(descriptor)
        }
    }

    /// Closes the terminal, as a window that is closed or a line that is lost. Nothing can be typed or seen from then on.
    public func hangUp() {
        close(controlling)
        controlling = -1
    }

    /// How the terminal is set now.
    public var settings: TerminalSettings { TerminalSettings(of: controlled) }

    /// Types a text, control characters and escape sequences included.
    public func type(_ text: String) {
        var bytes = Array(text.utf8)[...]
        while !bytes.isEmpty {
            let written = unsafe bytes.withUnsafeBytes { unsafe write(controlling, $0.baseAddress, $0.count) }
            if written <= 0 { return }
            bytes = bytes.dropFirst(written)
        }
    }

    /// Makes the window another size.
    public func resize(columns: Int, rows: Int) {
        screen.resize(columns: columns, rows: rows)
        csystem_pty_resize(controlling, UInt16(columns), UInt16(rows))
    }

    /// Sends the program a signal.
    public func send(_ signal: Int32) {
        kill(process, signal)
    }

    /// Reads what the program draws until the screen is as a test wants it; false when the program has ended, the task
    /// was cancelled or so many seconds have passed before that. Blocks. The default is no bound on the program's speed: it
    /// keeps a program that hangs from holding up the tests for ever.
    public func waits(seconds: Int = 300, until isReached: (VirtualScreen) -> Bool) -> Bool {
        let deadline = ContinuousClock.now + .seconds(seconds)
        while !isReached(screen) {
            guard readMore(until: deadline) else { return isReached(screen) }
        }
        return true
    }

    /// Reads until the program ends; `nil` when it does not within some minutes, or the task is cancelled. Blocks.
    public func waitForEnd(seconds: Int = 300) -> Ending? {
        let deadline = ContinuousClock.now + .seconds(seconds)
        while readMore(until: deadline) {}
        if let ending { return ending }
        var outcome: Int32 = 0
        guard unsafe csystem_pty_wait(process, WNOHANG, &outcome) == process else { return nil }
        ending = outcome < 1000 ? .exited(outcome) : .killed(signal: outcome - 1000)
        return ending
    }

    /// Reads once; false when the program has ended and nothing is left to read, the time is over, or the task is cancelled.
    private func readMore(until deadline: ContinuousClock.Instant) -> Bool {
        var entries = [
            pollfd(fd: controlling, events: Int16(POLLIN), revents: 0),
            pollfd(fd: exitDescriptor, events: Int16(POLLIN), revents: 0),
        ]
        repeat {
            // It looks once a second at least; a signal of this process may wake it too.
            if Task.isCancelled || ContinuousClock.now >= deadline { return false }
        } while unsafe poll(&entries, 2, 1000) <= 0
        guard entries[0].revents & Int16(POLLIN) != 0 else { return false }
        let bytes = unsafe [UInt8](unsafeUninitializedCapacity: 65536) { buffer, count in
            count = unsafe max(0, read(controlling, buffer.baseAddress, buffer.count))
        }
        output += bytes
        screen.feed(bytes)
        return true
    }

    private static func spawn(_ path: String, _ arguments: [String], _ environment: [String]) -> Int32 {
        let words = unsafe arguments.map { unsafe strdup($0) } + [nil]
        let variables = unsafe environment.map { unsafe strdup($0) } + [nil]
        defer { unsafe (words + variables).forEach { unsafe free($0) } }
        return unsafe csystem_pty_spawn(path, words, variables)
    }
}

/// What a terminal does with input and output (termios), to be compared.
public struct TerminalSettings: Sendable, Hashable {
    private let flags: [UInt32]
    private let speeds: [UInt32]

    /// The settings of the terminal behind a descriptor.
    public init(of descriptor: Int32) {
        var settings = termios()
        unsafe tcgetattr(descriptor, &settings)
        flags = [settings.c_iflag, settings.c_oflag, settings.c_cflag, settings.c_lflag]
        speeds = [settings.c_ispeed, settings.c_ospeed]
    }

    /// Whether input is echoed and taken by the line, as a shell wants it.
    public var isCooked: Bool { flags[3] & UInt32(ICANON) != 0 && flags[3] & UInt32(ECHO) != 0 }
}
