import CMarqueeSystem
import FoundationEssentials
import Glibc
public import ImageCodecs

/// A terminal with a program in it. The program's output appears on a ``VirtualScreen``; ``type(_:)`` sends
/// keys.
public final class PseudoTerminal {
    /// A failure to start the program.
    public enum Failure: Error {
        case system(call: String, number: Int32)
    }

    /// How a program ended.
    public enum Ending: Sendable, Hashable {
        case exited(Int32)
        case killed(signal: Int32)
    }

    /// The present screen.
    public private(set) var screen: VirtualScreen
    /// All output of the program.
    public private(set) var output: [UInt8] = []
    /// The program's process.
    public let process: Int32
    /// The terminal's settings before the program started.
    public let settingsBefore: TerminalSettings

    private var controlling: Int32
    /// Held open, so that the terminal's settings stay readable after the program's end.
    private let controlled: Int32
    private let exitDescriptor: Int32
    private var ending: Ending?

    /// Starts a program in a new terminal.
    ///
    /// The environment is `environment` and these: `TERM=xterm-256color`; no backtraces of the Swift runtime,
    /// which would ask for keys after a crash; no check of the machine's free memory; and no place for the user's
    /// data. With `cellPixels`
    /// the terminal shows pictures, and does not report the size of its cells.
    ///
    /// `typedAhead` is in the terminal's input before the program starts, as answers of a terminal that is always in
    /// time, however slow the machine is. The terminal then starts without echo and without lines. At most 60,000
    /// bytes, of which a program reads the first 4,000 at once.
    public init(
        _ program: String, _ arguments: [String] = [], environment: [String: String] = [:], columns: Int = 80,
        rows: Int = 24, measure: VirtualScreen.Measure = .scalars, cellPixels: ImageSize? = nil,
        typedAhead: [UInt8] = []
    ) throws {
        screen = VirtualScreen(columns: columns, rows: rows, measure: measure, cellPixels: cellPixels)
        var name = [CChar](repeating: 0, count: 128)
        controlling = unsafe name.withUnsafeMutableBufferPointer { buffer in
            unsafe csystem_pty_open(UInt16(columns), UInt16(rows), buffer.baseAddress, buffer.count)
        }
        if controlling < 0 { throw Failure.system(call: "posix_openpt", number: errno) }
        let path = String(decoding: name.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
        controlled = unsafe csystem_open(path, O_RDWR | O_NOCTTY, 0)
        if !typedAhead.isEmpty { Self.typeAhead(typedAhead, controlling, controlled) }
        settingsBefore = TerminalSettings(of: controlled)

        // A program that was built with a sanitizer or for coverage gets its options.
        let built = ProcessInfo.processInfo.environment.filter {
            $0.key.hasSuffix("SAN_OPTIONS") || $0.key == "LLVM_PROFILE_FILE"
        }
        let variables = [
            "TERM": "xterm-256color", "SWIFT_BACKTRACE": "enable=no", "MEMORY_PRESSURE_WATCH": "/dev/null",
            "XDG_DATA_HOME": "/dev/null",
        ]
        .merging(built) { $1 }.merging(environment) { $1 }.map { "\($0.key)=\($0.value)" }
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

    /// Whether this machine's kernel lets a program push bytes into its terminal's input.
    public static let takesPushedInput: Bool = {
        // Ignored: without the setting every program may.
        let setting = try? String(contentsOfFile: "/proc/sys/dev/tty/legacy_tiocsti", encoding: .utf8)
        return setting?.hasPrefix("0") != true
    }()

    /// Closes the terminal, as a closed window does. Nothing can be typed or read afterwards.
    public func hangUp() {
        close(controlling)
        controlling = -1
    }

    /// The terminal's present settings.
    public var settings: TerminalSettings { TerminalSettings(of: controlled) }

    /// Types text, control characters and escape sequences included.
    public func type(_ text: String) { type(Array(text.utf8)) }

    /// Types bytes that may not be text.
    public func type(_ sent: [UInt8]) {
        var bytes = sent[...]
        while !bytes.isEmpty {
            let written = unsafe bytes.withUnsafeBytes { unsafe write(controlling, $0.baseAddress, $0.count) }
            if written <= 0 { return }
            bytes = bytes.dropFirst(written)
        }
    }

    /// Puts bytes into the input of a terminal that no program reads yet.
    private static func typeAhead(_ bytes: [UInt8], _ controlling: Int32, _ controlled: Int32) {
        var settings = termios()
        unsafe tcgetattr(controlled, &settings)
        settings.c_lflag &= ~UInt32(ECHO | ICANON)
        unsafe tcsetattr(controlled, TCSANOW, &settings)
        _ = unsafe bytes.withUnsafeBytes { unsafe write(controlling, $0.baseAddress, $0.count) }
    }

    /// Resizes the window.
    public func resize(columns: Int, rows: Int) {
        screen.resize(columns: columns, rows: rows)
        csystem_pty_resize(controlling, UInt16(columns), UInt16(rows))
    }

    /// Sends the program a signal.
    public func send(_ signal: Int32) {
        kill(process, signal)
    }

    /// Reads the program's output until the screen satisfies the condition. Returns false if the program
    /// ends, the task is cancelled or `seconds` pass first. Blocks. The default limit only ends a program
    /// that hangs: it does not measure speed.
    public func waits(seconds: Double = 300, until isReached: (VirtualScreen) -> Bool) -> Bool {
        let deadline = ContinuousClock.now + .seconds(seconds)
        while !isReached(screen) {
            guard readMore(until: deadline) else { return isReached(screen) }
        }
        return true
    }

    /// Types a key again and again, at growing intervals from a bit over a second, until the screen satisfies the
    /// condition: an unfinished sequence swallows keys until a second of silence. Returns as `waits` does. Blocks.
    public func types(_ key: String, until isReached: (VirtualScreen) -> Bool) -> Bool {
        var pause = 1.2
        for _ in 0..<8 {
            type(key)
            if waits(seconds: pause, until: isReached) { return true }
            if Task.isCancelled { return false }
            pause *= 2
        }
        return false
    }

    /// Reads until the program ends. Returns nil after `seconds`, or when the task is cancelled. Blocks.
    public func waitForEnd(seconds: Int = 300) -> Ending? {
        let deadline = ContinuousClock.now + .seconds(seconds)
        while readMore(until: deadline) {}
        if let ending { return ending }
        var outcome: Int32 = 0
        guard unsafe csystem_pty_wait(process, WNOHANG, &outcome) == process else { return nil }
        ending = outcome < 1000 ? .exited(outcome) : .killed(signal: outcome - 1000)
        return ending
    }

    /// Reads once. Returns false when the program has ended and all is read, at the deadline, or when the
    /// task is cancelled.
    private func readMore(until deadline: ContinuousClock.Instant) -> Bool {
        var entries = [
            pollfd(fd: controlling, events: Int16(POLLIN), revents: 0),
            pollfd(fd: exitDescriptor, events: Int16(POLLIN), revents: 0),
        ]
        repeat {
            // It wakes at least once a second, and on a signal to this process.
            if Task.isCancelled || ContinuousClock.now >= deadline { return false }
        } while unsafe poll(&entries, 2, 1000) <= 0
        if entries[0].revents & Int16(POLLIN) == 0 {
            // The program's last output may have come after the first look, before its end: look once more.
            guard unsafe poll(&entries, 1, 0) > 0, entries[0].revents & Int16(POLLIN) != 0 else {
                return false
            }
        }
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

/// A terminal's settings of input and output (termios), for comparison.
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

    /// Whether input is echoed and read by lines, as a shell wants it.
    public var isCooked: Bool { flags[3] & UInt32(ICANON) != 0 && flags[3] & UInt32(ECHO) != 0 }
}
