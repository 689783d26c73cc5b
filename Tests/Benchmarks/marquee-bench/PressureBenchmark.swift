import Foundation
import Glibc
import ImageCodecs
import LazyImages

/// Measures how soon a loader in another process shrinks its memory tier under real memory pressure: first when a
/// service manager reports pressure by systemd's protocol, then when the kernel reports stalls in a control group with
/// too little memory. Making the group needs root; without it, that part is left out.
func pressureBenchmark(_ options: Options) async throws -> [BenchmarkResult] {
    let scratch = try ScratchFolder()
    var results: [BenchmarkResult] = []

    let fifo = scratch.path + "/pressure"
    guard unsafe mkfifo(fifo, 0o600) == 0, let manager = FileHandle(forUpdatingAtPath: fifo) else {
        throw BenchmarkFailure(description: "\(fifo) cannot be made")
    }
    let told = try PressureWorker.Process(environment: ["MEMORY_PRESSURE_WATCH": fifo])
    let moment = monotonicMilliseconds()
    try manager.write(contentsOf: Data([1]))
    results += try told.results("systemd's protocol", since: moment)

    let file = scratch.path + "/pages"
    try Data(count: 256 << 20).write(to: URL(filePath: file))
    guard let thrash = try ThrashingGroup(file) else { return results }
    let left = try PressureWorker.Process(environment: [:])
    try thrash.begin()
    results += try left.results("the kernel's stalls", since: thrash.event())
    return results
}

/// The work of the other process: `marquee-bench pressure-worker`. It fills a memory tier, reports that, and reports
/// when the tier has shrunk to half.
enum PressureWorker {
    private static let limit = 200 << 20

    static func run() async throws {
        let scratch = try ScratchFolder()
        let bytes = 4 * 500 * 750
        let picture = Bitmap(width: 500, height: 750, pixels: [UInt8](repeating: 255, count: bytes))
        try Data(PNGEncoder().encode(picture)).write(to: URL(filePath: scratch.path + "/0.png"))
        let loader = ImageLoader(memory: MemoryCache(limit: limit), disk: nil)
        for number in 1...limit / bytes {
            let name = "\(scratch.path)/\(number).png"
            try FileManager.default.linkItem(atPath: scratch.path + "/0.png", toPath: name)
            _ = try await loader.image(for: ImageRequest(URL(typed: "file://" + name)))
        }
        guard loader.memory.counters.bytes > limit / 2 else {
            throw BenchmarkFailure(description: "the memory tier did not fill")
        }
        report("full")
        while loader.memory.counters.bytes > limit / 2 { poll(nil, 0, 1) }
        let moment = monotonicMilliseconds()
        // The evicted memory is free after the loader has handled the event.
        poll(nil, 0, 200)
        report("smaller \(moment) \(residentMegabytes)")
    }

    private static func report(_ line: String) { FileHandle.standardOutput.write(Data((line + "\n").utf8)) }

    /// Such a process with a full tier.
    struct Process {
        private let process = Foundation.Process()
        private let output = Pipe()

        init(environment: [String: String]) throws {
            process.executableURL = URL(filePath: try Program.path("marquee-bench"))
            process.arguments = ["pressure-worker"]
            process.environment = ProcessInfo.processInfo.environment.merging(environment) { $1 }
            process.standardOutput = output
            try process.run()
            _ = try line()
        }

        /// How long after `moment` its tier shrank, and its memory then.
        func results(_ name: String, since moment: Double) throws -> [BenchmarkResult] {
            let numbers = try line().split(separator: " ").compactMap { Double($0) }
            process.waitUntilExit()
            guard process.terminationStatus == 0, numbers.count == 2 else {
                throw BenchmarkFailure(
                    description: "a process under pressure ended with status \(process.terminationStatus)")
            }
            return [
                BenchmarkResult(
                    name: "pressure by \(name): until the tier of 200 MiB is half as large", unit: "ms",
                    ours: max(0, numbers[0] - moment), atMost: 1_000),
                BenchmarkResult(
                    name: "pressure by \(name): resident memory then", unit: "MB", ours: numbers[1]),
            ]
        }

        private func line() throws -> String {
            var text = ""
            while let byte = try output.fileHandleForReading.read(upToCount: 1)?.first, byte != 10 {
                text.unicodeScalars.append(Unicode.Scalar(byte))
            }
            return text
        }
    }
}

/// A control group with less memory than its processes read repeatedly.
private final class ThrashingGroup {
    private static let limit = 32 << 20
    private let group: String
    private let file: String
    private let process = Process()
    private let stalls: FileHandle

    /// Nil if the kernel counts no stalls, or if groups cannot be made.
    init?(_ file: String) throws {
        let roots = ["/sys/fs/cgroup/memory": "memory.limit_in_bytes", "/sys/fs/cgroup": "memory.max"]
        guard let stalls = FileHandle(forUpdatingAtPath: "/proc/pressure/memory"),
            let root = roots.keys.sorted(by: >).first(where: {
                unsafe access($0 + "/cgroup.procs", W_OK) == 0
            }),
            let limitFile = roots[root]
        else { return nil }
        group = "\(root)/marquee-bench-\(getpid())"
        self.file = file
        self.stalls = stalls
        guard unsafe mkdir(group, 0o755) == 0,
            let limit = FileHandle(forWritingAtPath: "\(group)/\(limitFile)")
        else { return nil }
        try limit.write(contentsOf: Data("\(Self.limit)".utf8))
        try stalls.write(contentsOf: Data("some 150000 2000000\0".utf8))
    }

    deinit {
        // A killed process belongs to the group until it has ended.
        for _ in 0..<200 {
            // Ignored: a group that is gone has no processes.
            let members = (try? String(contentsOfFile: "\(group)/cgroup.procs", encoding: .utf8)) ?? ""
            for member in members.split(separator: "\n").compactMap({ pid_t($0) }) { kill(member, SIGKILL) }
            if unsafe rmdir(group) == 0 { break }
            poll(nil, 0, 10)
        }
        process.waitUntilExit()
    }

    func begin() throws {
        // Pages that another group has read would count there.
        let pages = unsafe open(file, O_RDONLY)
        fsync(pages)
        posix_fadvise(pages, 0, 0, POSIX_FADV_DONTNEED)
        close(pages)
        process.executableURL = URL(filePath: "/bin/sh")
        process.arguments = [
            "-c",
            "echo $$ > \"$1/cgroup.procs\";"
                + "for reader in 1 2 3; do while cat \"$2\"; do :; done > /dev/null 2>&1 & done; wait",
            "sh", group, file,
        ]
        try process.run()
    }

    /// Waits for the kernel's event, as the other process does; returns its time.
    func event() throws -> Double {
        var trigger = pollfd(fd: stalls.fileDescriptor, events: Int16(POLLPRI), revents: 0)
        guard unsafe poll(&trigger, 1, 60_000) == 1 else {
            throw BenchmarkFailure(description: "the kernel reported no stalls for a minute")
        }
        return monotonicMilliseconds()
    }
}

/// The system's monotonic clock, which is the same in every process.
private func monotonicMilliseconds() -> Double {
    var time = timespec()
    unsafe clock_gettime(CLOCK_MONOTONIC, &time)
    return Double(time.tv_sec) * 1e3 + Double(time.tv_nsec) / 1e6
}

/// The second number of `/proc/self/statm`, in pages (proc(5)).
private var residentMegabytes: Double {
    // Ignored: the figure is then 0.
    let text = (try? String(contentsOfFile: "/proc/self/statm", encoding: .utf8)) ?? ""
    let pages = text.split(separator: " ").dropFirst().first.flatMap { Double($0) } ?? 0
    return pages * Double(sysconf(Int32(_SC_PAGESIZE))) / 1e6
}
