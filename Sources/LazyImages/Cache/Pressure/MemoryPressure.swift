internal import CMarqueeSystem
internal import FoundationEssentials
import SystemSupport

/// Memory pressure: an asynchronous sequence of levels, for any number of readers. Each reader first gets the present
/// level, unless it is `.normal`, and then every change. A slow reader gets only the latest level.
///
/// ``system`` watches this process. An instance made with `init()` passes on what ``report(_:)`` receives, for tests
/// and for programs with their own source.
///
/// Safe for concurrent use.
public final class MemoryPressure: AsyncSequence, Sendable {
    /// A level of memory pressure.
    public enum Level: Sendable, Comparable, CaseIterable {
        /// There is enough memory.
        case normal
        /// Memory runs short: release what may be useful later.
        case warning
        /// Memory is about to run out: release everything that is not on the screen.
        case critical
    }

    /// The memory pressure on this process, by systemd's protocol, else by the kernel's pressure stall information,
    /// else by the memory left. One thread watches for the whole process, from the first use on.
    public static var system: MemoryPressure {
        isWatched.withLock { isWatched in
            guard !isWatched else { return }
            // Ignored: without a thread nobody watches, and the next use tries again.
            isWatched = (try? MemoryWatch.start(reportingTo: watched)) != nil
        }
        return watched
    }

    private static let watched = MemoryPressure()
    private static let isWatched = Lock(false)

    private struct State {
        var level = Level.normal
        var readers = Broadcast<Level>()
    }

    private let state = Lock(State())

    /// A sequence that only ``report(_:)`` changes.
    public init() {}

    /// The present level.
    public var level: Level { state.withLock { $0.level } }

    /// Sets the level, and tells every reader if it has changed.
    /// - Parameter level: the new level.
    public func report(_ level: Level) {
        state.withLock { state in
            guard level != state.level else { return }
            state.level = level
            state.readers.yield(level)
        }
    }

    /// A new reader. It ends only with its task.
    public func makeAsyncIterator() -> AsyncStream<Level>.Iterator { levels.makeAsyncIterator() }

    /// The stream of a new reader.
    var levels: AsyncStream<Level> {
        let (stream, continuation) = AsyncStream.makeStream(
            of: Level.self, bufferingPolicy: .bufferingNewest(1))
        let number = state.withLock { state in
            if state.level != .normal { continuation.yield(state.level) }
            return state.readers.add(continuation)
        }
        continuation.onTermination = { [weak self] _ in self?.state.withLock { $0.readers.remove(number) } }
        return stream
    }
}

/// Watches for memory pressure on a thread of its own: by systemd's protocol if the environment asks for it
/// (MEMORY_PRESSURE_WATCH and MEMORY_PRESSURE_WRITE, systemd.io/MEMORY_PRESSURE), else by a trigger of the kernel's
/// pressure stall information (Documentation/accounting/psi.rst). It also checks the memory left at intervals.
struct MemoryWatch: ~Copyable {
    /// Some task stalls for 150 ms within two seconds. The kernel refuses shorter windows without privileges.
    private static let trigger = "some 150000 2000000"
    /// How long to wait for a signal before checking the memory left, in ms: at level `.normal`, and under pressure.
    private static let normalInterval: Int32 = 5_000
    private static let pressureInterval: Int32 = 1_000

    /// Becomes ready when there is pressure; -1 for none.
    private var descriptor: Int32 = -1
    private var events = Int16(POLLPRI)
    /// Whether the signal must be read: from a FIFO or a socket, not from a pressure file.
    private var isStream = false
    /// The source of the signals, in words.
    private(set) var source = checksOnly
    private static let checksOnly = "the memory left, checked every \(normalInterval / 1000) s"
    /// Whether the environment switches the watch off.
    private var isOff = false
    private var estimator = PressureEstimator()
    private let memory: SystemMemory
    private let start = ContinuousClock.now

    /// Starts to watch, and reports to `pressure` until it is released.
    /// - Throws: if the system has no thread to give.
    static func start(reportingTo pressure: MemoryPressure) throws(ResourceShortage) {
        let environment = ProcessInfo.processInfo.environment
        try start(environment: environment, memory: SystemMemory()) { [weak pressure] level in
            pressure?.report(level)
            return pressure != nil
        }
    }

    /// - Parameter report: receives the level after every check; returns whether to continue.
    static func start(
        environment: [String: String], memory: SystemMemory,
        report: @escaping @Sendable (MemoryPressure.Level) -> Bool
    ) throws(ResourceShortage) {
        try BlockingThreads.startThread(name: "MemoryPressure") {
            var watch = MemoryWatch(environment: environment, memory: memory)
            guard !watch.isOff else { return }
            while report(watch.next()) {}
        }
    }

    private init(environment: [String: String], memory: SystemMemory) {
        self.memory = memory
        if let path = environment["MEMORY_PRESSURE_WATCH"], !path.isEmpty {
            // A service manager switches the watch off by this path.
            isOff = path == "/dev/null"
            if isOff { source = "none: MEMORY_PRESSURE_WATCH is /dev/null" }
            let text = environment["MEMORY_PRESSURE_WRITE"].flatMap { Data(base64Encoded: $0) }
            if !isOff { open(path, writing: text.map { [UInt8]($0) } ?? []) }
        }
        for path in memory.pressureFiles where descriptor < 0 && !isOff {
            open(path, writing: Array(Self.trigger.utf8) + [0])
        }
    }

    deinit { if descriptor >= 0 { close(descriptor) } }

    /// Waits for a signal, or for the next check, and returns the level.
    private mutating func next() -> MemoryPressure.Level {
        var wanted = pollfd(fd: descriptor, events: events, revents: 0)
        let count = unsafe poll(
            &wanted, 1, estimator.level == .normal ? Self.normalInterval : Self.pressureInterval)
        let now = start.duration(to: .now).nanoseconds
        if count > 0, wanted.revents & events != 0 {
            drain()
            estimator.signal(at: now, left: left)
        } else {
            if count > 0 { stopListening() }
            estimator.check(at: now, left: left)
        }
        return estimator.level
    }

    private var left: Double? {
        guard let allowance = memory.allowance, let available = memory.available, allowance > 0 else {
            return nil
        }
        return Double(available) / Double(allowance)
    }

    /// Opens a file, a FIFO or a socket, the three kinds of systemd's protocol.
    private mutating func open(_ path: String, writing bytes: [UInt8]) {
        var status = stat()
        guard unsafe stat(path, &status) == 0 else { return }
        let kind = status.st_mode & S_IFMT
        isStream = kind != S_IFREG
        events = Int16(isStream ? POLLIN : POLLPRI)
        descriptor =
            kind == S_IFSOCK
            ? unsafe csystem_connect_local(path) : unsafe csystem_open(path, O_RDWR | O_NONBLOCK, 0)
        guard descriptor >= 0 else { return }
        source = path
        if !bytes.isEmpty, unsafe write(descriptor, bytes, bytes.count) != bytes.count { stopListening() }
    }

    private func drain() {
        var bytes = [UInt8](repeating: 0, count: 4096)
        while isStream, unsafe read(descriptor, &bytes, bytes.count) > 0 {}
    }

    /// The watched file is gone or fails. From now on only the memory left is checked.
    private mutating func stopListening() {
        close(descriptor)
        descriptor = -1
        source = Self.checksOnly
    }

    /// The source of a watch of this process, in words.
    static var source: String {
        MemoryWatch(environment: ProcessInfo.processInfo.environment, memory: SystemMemory()).source
    }
}

extension MemoryPressure {
    /// The source of `system`, in words: the file that systemd or the kernel names, or the memory left.
    package static var systemSource: String { MemoryWatch.source }
}

/// Derives the level of memory pressure from signals and checks. A plain struct; times are in nanoseconds.
///
/// A signal is a warning. The level is critical if little memory is left, or if signals continue for a whole window
/// after the warning. It is normal again when no signal has come for a while and enough memory is left.
struct PressureEstimator {
    /// The kernel's window, and the shortest interval of systemd's signals: two seconds.
    static let window: Int64 = 2_000_000_000
    /// After this time without a signal the pressure has passed.
    private static let quietTime: Int64 = 3 * window
    /// Below these shares of the allowance the memory left is a warning, or critical.
    private static let warningShare = 0.1
    private static let criticalShare = 0.04

    private(set) var level = MemoryPressure.Level.normal
    private var warned: Int64 = 0
    private var lastSignal: Int64 = 0

    /// Notes a signal.
    /// - Parameter left: the available share of the allowance, from 0 to 1; nil if unknown.
    mutating func signal(at now: Int64, left: Double?) {
        let isStillWarned = level != .normal && now - warned >= Self.window
        warn(at: now, isCritical: isStillWarned || left ?? 1 < Self.criticalShare)
    }

    /// Notes a check without a signal.
    mutating func check(at now: Int64, left: Double?) {
        if let left, left < Self.warningShare {
            warn(at: now, isCritical: left < Self.criticalShare)
        } else if now - lastSignal >= Self.quietTime {
            level = .normal
        }
    }

    private mutating func warn(at now: Int64, isCritical: Bool) {
        lastSignal = now
        if isCritical {
            level = .critical
        } else if level == .normal {
            level = .warning
            warned = now
        }
    }
}

/// Reads a `MemoryPressure` in a task, which is cancelled with this object.
package final class PressureReader: Sendable {
    private let task = Lock<Task<Void, Never>?>(nil)

    package init() {}

    deinit { task.withLock { $0 }?.cancel() }

    /// Calls `body` with every level, one at a time.
    package func read(
        _ pressure: MemoryPressure?, _ body: @escaping @Sendable (MemoryPressure.Level) async -> Void
    ) {
        guard let pressure else { return }
        // The stream exists before this returns, so that it misses no later report.
        let levels = pressure.levels
        let reading = Task { for await level in levels { await body(level) } }
        task.withLock { $0 = reading }
    }
}

extension MemoryCache {
    /// Evicts entries as a level of memory pressure requires: down to half the limit at a warning, all but pinned ones
    /// when it is critical.
    /// - Parameter level: the level of memory pressure.
    package func relieve(_ level: MemoryPressure.Level) {
        switch level {
        case .normal: break
        case .warning: trim(toCost: limit / 2)
        case .critical: trim(toCost: 0)
        }
    }
}
