import FoundationEssentials
import Glibc
import LazyImages
import SystemSupport
import TestSupport

/// One run of the built `marquee` with pipes as its streams, served by a dedicated thread. It has no time
/// limit of its own. It is killed when the object is released, and when the waiting test is cancelled, as the
/// suite's time limit does.
final class Program: Sendable {
    /// The result of a run.
    struct Outcome: Sendable {
        /// The exit status; for a run ended by a signal, minus the signal's number.
        let status: Int32
        let output: [UInt8]
        let errors: [UInt8]

        var text: String { String(decoding: output, as: UTF8.self) }
        var lines: [String] { text.split(separator: "\n").map(String.init) }
        var errorText: String { String(decoding: errors, as: UTF8.self) }
        var errorLines: [String] { errorText.split(separator: "\n").map(String.init) }
    }

    struct Failure: Error {
        let call: String
        let code: Int32
    }

    private let process: ChildProcess
    private let lines: AsyncStream<String>
    private let taken: AsyncStream<Void>
    private let outcomes: AsyncStream<Outcome>

    /// Runs the program to its end.
    static func run(
        _ arguments: [String], input: String = "", environment: [String: String] = [:]
    ) async throws -> Outcome {
        try await Program(arguments, input: input, environment: environment).outcome()
    }

    /// Runs a line of shell to its end. `marquee` and `$MARQUEE` in it are the program.
    static func shell(_ line: String, environment: [String: String]) async throws -> Outcome {
        let inherited = ProcessInfo.processInfo.environment
        let paths = [BuiltProgram.folder, environment["PATH"] ?? inherited["PATH"] ?? "/usr/bin:/bin"]
        let variables = ["MARQUEE": BuiltProgram.path("marquee")].merging(environment) { $1 }
            .merging(["PATH": paths.joined(separator: ":")]) { $1 }
        return try await Program(["-c", line], of: "/bin/sh", environment: variables).outcome()
    }

    /// Runs a line of shell in a folder, which is also the home and the cache folder.
    static func shell(
        _ line: String, in folder: TemporaryFolder, environment: [String: String] = [:]
    ) async throws -> Outcome {
        let own = ["HOME": folder.path, "XDG_CACHE_HOME": folder.path]
        return try await shell(
            "cd '\(folder.path)' && \(line)", environment: own.merging(environment) { $1 })
    }

    /// Starts the program. It inherits only the variables that linking and figures of coverage need, and does not check
    /// the machine's free memory.
    init(
        _ arguments: [String], of path: String = BuiltProgram.path("marquee"), input: String = "",
        keepsInput: Bool = false, environment: [String: String] = [:]
    ) throws {
        let kept: Set = ["PATH", "LD_LIBRARY_PATH", "TSAN_OPTIONS", "TMPDIR", "LLVM_PROFILE_FILE"]
        let variables = ProcessInfo.processInfo.environment.filter { kept.contains($0.key) }
            .merging(["MEMORY_PRESSURE_WATCH": "/dev/null"]) { $1 }.merging(environment) { $1 }
        let pipes = try (0..<3).map { _ in try Pipe() }
        process = try ChildProcess(
            [path] + arguments, variables,
            streams: [pipes[0].reading, pipes[1].writing, pipes[2].writing])
        for stream in [pipes[0].reading, pipes[1].writing, pipes[2].writing] { close(stream) }

        let (lines, line) = AsyncStream.makeStream(of: String.self)
        let (outcomes, outcome) = AsyncStream.makeStream(of: Outcome.self)
        let (taken, wasTaken) = AsyncStream.makeStream(of: Void.self)
        self.lines = lines
        self.taken = taken
        self.outcomes = outcomes
        let streams = (input: pipes[0].writing, output: pipes[1].reading, errors: pipes[2].reading)
        try BlockingThreads.startThread { [process] in
            var conversation = ProcessStreams(streams, input: input, keepsInput: keepsInput)
            conversation.run(until: process.killed, taken: { wasTaken.finish() }, line: { line.yield($0) })
            wasTaken.finish()
            line.finish()
            outcome.yield(
                Outcome(
                    status: process.wait(), output: conversation.output, errors: conversation.errors))
            outcome.finish()
        }
    }

    deinit { process.kill() }

    /// The next line of standard output, as soon as it is complete; nil at the end.
    func nextLine() async -> String? {
        for await line in lines { return line }
        return nil
    }

    /// Waits until the program has read its input, or so much that it must have started to.
    func waitUntilInputIsRead() async { for await _ in taken {} }

    func send(_ signal: Int32) { process.send(signal) }

    /// Sends a signal that ends the program, and waits for the end.
    @discardableResult
    func end(_ signal: Int32) async -> Outcome {
        send(signal)
        return await outcome()
    }

    /// The result, once the program has ended.
    func outcome() async -> Outcome {
        await withTaskCancellationHandler {
            for await outcome in outcomes { return outcome }
            let reason = Task.isCancelled ? "the test was cancelled" : "the outcome was asked for twice"
            return Outcome(status: .min, output: [], errors: Array(reason.utf8))
        } onCancel: {
            process.kill()
        }
    }
}

/// A child process. Signals reach it until its status is taken, and never another process with the same
/// number.
private final class ChildProcess: Sendable {
    /// Open once this object has killed the process: its own children may still hold its streams.
    let killed = Gate()
    private let number: pid_t
    private let isWaitedFor = Lock(false)

    init(_ words: [String], _ variables: [String: String], streams: [Int32]) throws(Program.Failure) {
        number = try Self.spawn(words, variables, streams: streams)
    }

    func send(_ signal: Int32) {
        isWaitedFor.withLock { isWaitedFor in
            if !isWaitedFor { _ = Glibc.kill(number, signal) }
        }
    }

    func kill() {
        send(SIGKILL)
        killed.open()
    }

    /// Blocks until the process has ended, and returns its exit status; after a signal, minus the signal's
    /// number.
    func wait() -> Int32 {
        var information = unsafe siginfo_t()
        // The number stays reserved until the status is taken.
        while unsafe waitid(P_PID, id_t(number), &information, WEXITED | WNOWAIT) < 0, errno == EINTR {}
        var status: Int32 = 0
        isWaitedFor.withLock { isWaitedFor in
            isWaitedFor = true
            _ = unsafe waitpid(number, &status, 0)
        }
        let signal = status & 0x7F
        return signal == 0 ? (status >> 8) & 0xFF : -signal
    }

    /// With every signal at its default, whatever this process inherited.
    private static func spawn(
        _ words: [String], _ variables: [String: String], streams: [Int32]
    ) throws(Program.Failure) -> pid_t {
        var actions = unsafe posix_spawn_file_actions_t()
        var attributes = posix_spawnattr_t()
        unsafe posix_spawn_file_actions_init(&actions)
        unsafe posix_spawnattr_init(&attributes)
        defer {
            unsafe posix_spawn_file_actions_destroy(&actions)
            unsafe posix_spawnattr_destroy(&attributes)
        }
        for (number, stream) in streams.enumerated() {
            unsafe posix_spawn_file_actions_adddup2(&actions, stream, Int32(number))
        }
        var signals = sigset_t()
        unsafe sigfillset(&signals)
        unsafe posix_spawnattr_setsigdefault(&attributes, &signals)
        unsafe sigemptyset(&signals)
        unsafe posix_spawnattr_setsigmask(&attributes, &signals)
        unsafe posix_spawnattr_setflags(&attributes, Int16(POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETSIGMASK))

        let argumentTexts: [UnsafeMutablePointer<CChar>?] = unsafe words.map { unsafe strdup($0) } + [nil]
        let variableTexts: [UnsafeMutablePointer<CChar>?] =
            unsafe variables.map { unsafe strdup("\($0)=\($1)") } + [nil]
        defer {
            for index in unsafe argumentTexts.indices { unsafe free(argumentTexts[index]) }
            for index in unsafe variableTexts.indices { unsafe free(variableTexts[index]) }
        }
        var process = pid_t()
        let failure = unsafe posix_spawn(
            &process, words[0], &actions, &attributes, argumentTexts, variableTexts)
        guard failure == 0 else { throw Program.Failure(call: "posix_spawn \(words[0])", code: failure) }
        return process
    }
}

/// The two ends of a pipe, which the next started program does not inherit.
private struct Pipe {
    let reading: Int32
    let writing: Int32

    init() throws(Program.Failure) {
        var ends: [Int32] = [0, 0]
        // socketpair sets close-on-exec in the same step; pipe cannot.
        let kind = Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue)
        guard unsafe socketpair(AF_UNIX, kind, 0, &ends) == 0 else {
            throw Program.Failure(call: "socketpair", code: errno)
        }
        (reading, writing) = (ends[0], ends[1])
    }
}
