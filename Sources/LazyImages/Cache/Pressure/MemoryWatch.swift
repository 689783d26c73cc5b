internal import CSystem
internal import FoundationEssentials
internal import Glibc
import SystemSupport

/// Watches for memory pressure on a thread of its own: by systemd's protocol if the environment asks for it
/// (MEMORY_PRESSURE_WATCH and MEMORY_PRESSURE_WRITE, systemd.io/MEMORY_PRESSURE), else by a trigger of the kernel's pressure
/// stall information (Documentation/accounting/psi.rst), and in any case by looking at what is left once in a while.
struct MemoryWatch: ~Copyable {
    /// Stalls of some task for 150 ms in any two seconds. Shorter windows are refused without privileges.
    private static let trigger = "some 150000 2000000"
    /// How long to wait for a sign before looking at what is left: in calm times, and under pressure.
    private static let calmWait: Int32 = 5_000
    private static let tenseWait: Int32 = 1_000

    /// What becomes ready when there is pressure; -1 if nothing does.
    private var descriptor: Int32 = -1
    private var events = Int16(POLLPRI)
    /// Whether what is readable must be read away: a FIFO or a socket, not a pressure file.
    private var isStream = false
    /// What the watch goes by, in words.
    private(set) var source = byLooking
    private static let byLooking = "what is left of memory, looked at every \(calmWait / 1000) s"
    /// Whether the environment forbids to watch.
    private var isOff = false
    private var judge = PressureJudge()
    private let memory: SystemMemory
    private let start = ContinuousClock.now

    /// Watches for `pressure`'s readers from now on.
    /// - Throws: when the system gives no thread.
    static func start(reportingTo pressure: MemoryPressure) throws(ResourceShortage) {
        let environment = ProcessInfo.processInfo.environment
        try start(environment: environment, memory: SystemMemory()) { [weak pressure] level in
            pressure?.report(level)
            return pressure != nil
        }
    }

    /// - Parameter report: is told the level after every look; returns whether to go on.
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
            // So a service manager switches the watch off.
            isOff = path == "/dev/null"
            if isOff { source = "nobody: MEMORY_PRESSURE_WATCH is /dev/null" }
            let text = environment["MEMORY_PRESSURE_WRITE"].flatMap { Data(base64Encoded: $0) }
            if !isOff { open(path, writing: text.map { [UInt8]($0) } ?? []) }
        }
        for path in memory.pressureFiles where descriptor < 0 && !isOff {
            open(path, writing: Array(Self.trigger.utf8) + [0])
        }
    }

    deinit { if descriptor >= 0 { close(descriptor) } }

    /// Waits for a sign, or for the time to look, and tells the level then.
    private mutating func next() -> MemoryPressure.Level {
        var wanted = pollfd(fd: descriptor, events: events, revents: 0)
        let count = unsafe poll(&wanted, 1, judge.level == .normal ? Self.calmWait : Self.tenseWait)
        let now = start.duration(to: .now).nanoseconds
        if count > 0, wanted.revents & events != 0 {
            readAway()
            judge.sign(at: now, left: left)
        } else {
            if count > 0 { giveUp() }
            judge.look(at: now, left: left)
        }
        return judge.level
    }

    private var left: Double? {
        guard let allowance = memory.allowance, let available = memory.available, allowance > 0 else {
            return nil
        }
        return Double(available) / Double(allowance)
    }

    /// A file, a FIFO or a socket, as systemd's protocol names them.
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
        if !bytes.isEmpty, unsafe write(descriptor, bytes, bytes.count) != bytes.count { giveUp() }
    }

    private func readAway() {
        var bytes = [UInt8](repeating: 0, count: 4096)
        while isStream, unsafe read(descriptor, &bytes, bytes.count) > 0 {}
    }

    /// What was watched is gone, or refuses: from now on only what is left tells.
    private mutating func giveUp() {
        close(descriptor)
        descriptor = -1
        source = Self.byLooking
    }

    /// What a watch of this process goes by.
    static var source: String {
        MemoryWatch(environment: ProcessInfo.processInfo.environment, memory: SystemMemory()).source
    }
}

extension MemoryPressure {
    /// What tells ``system`` of pressure: the file that systemd or the kernel names, or what is left of memory.
    package static var systemSource: String { MemoryWatch.source }
}
