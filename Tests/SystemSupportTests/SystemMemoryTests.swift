import FoundationEssentials
import SystemSupport
import TestSupport
import TestTraits
import Testing

@Suite("System memory", .bounded)
struct SystemMemoryTests {
    private let folder: TemporaryFolder

    init() throws { folder = try TemporaryFolder() }

    private func file(_ path: String, _ text: String) throws {
        let whole = folder.file(path)
        let parent = String(whole.prefix(upTo: whole.lastIndex(of: "/") ?? whole.endIndex))
        try FileManager.default.createDirectory(atPath: parent, withIntermediateDirectories: true)
        try Data(text.utf8).write(to: URL(filePath: whole))
    }

    private func system() throws -> SystemMemory {
        try file("proc/meminfo", "MemTotal:  8000 kB\nMemFree: 1 kB\nMemAvailable:  6000 kB\n")
        return SystemMemory(root: folder.path)
    }

    @Test("without control groups the machine's memory counts")
    func machine() throws {
        let memory = try system()
        #expect(memory.allowance == 8_000 << 10 && memory.available == 6_000 << 10 && memory.groups.isEmpty)
        #expect(memory.pressureFiles == [folder.file("proc/pressure/memory")])
    }

    @Test("cgroup v2: the tightest limit of the process's group and those above it counts")
    func secondVersion() throws {
        try file("proc/self/cgroup", "0::/app/worker\n")
        try file(
            "proc/self/mountinfo", "30 24 0:26 / /sys/fs/cgroup rw,nosuid - cgroup2 cgroup2 rw,nsdelegate\n")
        try file("sys/fs/cgroup/app/memory.max", "4096000\n")
        try file("sys/fs/cgroup/app/memory.current", "3096000\n")
        try file("sys/fs/cgroup/app/memory.stat", "anon 5\ninactive_file 96000\n")
        try file("sys/fs/cgroup/app/worker/memory.max", "max\n")
        let memory = try system()
        #expect(memory.groups.count == 3)
        #expect(memory.allowance == 4_096_000 && memory.available == 1_096_000)
        #expect(memory.pressureFiles.first == folder.file("sys/fs/cgroup/app/worker/memory.pressure"))
    }

    @Test("cgroup v1: the limit counts, under the root that a container sees, and 'none' means none")
    func firstVersion() throws {
        try file("proc/self/cgroup", "4:cpu,memory:/box/own\n0::/elsewhere\n")
        try file(
            "proc/self/mountinfo",
            "29 24 0:25 / /sys/fs/cgroup/unified rw - cgroup2 cgroup2 rw\n"
                + "31 24 0:27 /box /sys/fs/cgroup/memory rw shared:1 - cgroup cgroup rw,memory\n")
        try file("sys/fs/cgroup/memory/own/memory.limit_in_bytes", "2048000\n")
        try file("sys/fs/cgroup/memory/own/memory.usage_in_bytes", "48000\n")
        try file("sys/fs/cgroup/memory/memory.limit_in_bytes", "9223372036854771712\n")
        let memory = try system()
        #expect(memory.groups.map(\.version) == [1, 1])
        #expect(memory.allowance == 2_048_000 && memory.available == 2_000_000)
    }

    @Test("this machine has a positive limit")
    func here() {
        let memory = SystemMemory()
        #expect((memory.allowance ?? 0) > 1 << 20 && (memory.available ?? 0) > 0)
    }
}
