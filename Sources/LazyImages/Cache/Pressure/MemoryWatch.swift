internal import CSystem
internal import FoundationEssentials
internal import Glibc
import SystemSupport

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
