/// How much memory this process may use, and how much of it is free. Read from the files of its control groups, version
/// 1 or 2 (cgroups(7)), and of the whole system (proc(5)).
package struct SystemMemory {
    /// A control group that limits the memory of this process: its own, or an ancestor.
    package struct Group: Equatable {
        /// The folder of its files.
        package let folder: String
        package let version: Int

        fileprivate var limitFile: String { version == 2 ? "memory.max" : "memory.limit_in_bytes" }
        fileprivate var usageFile: String { version == 2 ? "memory.current" : "memory.usage_in_bytes" }
        fileprivate var cacheField: String { version == 2 ? "inactive_file" : "total_inactive_file" }
    }

    /// The process's own group first, then its ancestors. Empty if no group accounts for memory.
    package let groups: [Group]
    private let root: String

    /// - Parameter root: prefix of every path, for tests.
    package init(root: String = "") {
        self.root = root
        groups = Self.groups(
            mounts: Self.text(root + "/proc/self/mountinfo") ?? "",
            membership: Self.text(root + "/proc/self/cgroup") ?? ""
        ).map { Group(folder: root + $0.folder, version: $0.version) }
    }

    /// The most bytes this process may use: the machine's memory, or the lowest limit of its control groups. Nil if the
    /// kernel tells neither.
    package var allowance: Int? {
        ([field("MemTotal")] + groups.map { number($0, $0.limitFile) }).compactMap { $0 }.min()
    }

    /// The bytes of the allowance that are free, or can be made free without swapping.
    package var available: Int? {
        let system = field("MemAvailable")
        let ofGroups = groups.map { group -> Int? in
            guard let limit = number(group, group.limitFile), let usage = number(group, group.usageFile)
            else {
                return nil
            }
            // The kernel reclaims inactive file pages first.
            let statistics = Self.text(group.folder + "/memory.stat") ?? ""
            let cached = Self.field(group.cacheField, of: statistics, separator: " ") ?? 0
            return max(0, limit - max(0, usage - cached))
        }
        return ([system] + ofGroups).compactMap { $0 }.min()
    }

    /// The files that report memory pressure and can be polled: that of the process's group first, then that of the
    /// system.
    package var pressureFiles: [String] {
        groups.filter { $0.version == 2 }.prefix(1).map { $0.folder + "/memory.pressure" }
            + [root + "/proc/pressure/memory"]
    }

    /// A field of /proc/meminfo, in bytes.
    private func field(_ name: String) -> Int? {
        Self.field(name, of: Self.text(root + "/proc/meminfo") ?? "", separator: ":").map { $0 * 1024 }
    }

    /// The number in a file. Nil for `max`, and for a number too large for a limit, which is how version 1 writes
    /// `max`.
    private func number(_ group: Group, _ file: String) -> Int? {
        guard let text = Self.text("\(group.folder)/\(file)"), let number = Int(text.prefix { $0.isNumber }),
            number < Int.max / 2
        else { return nil }
        return number
    }

    /// A mounted hierarchy of control groups. A line of mountinfo:
    ///
    ///     31 23 0:27 /root-of-it /sys/fs/cgroup/memory rw - cgroup cgroup rw,memory
    private struct Mount {
        let root, folder: String
        let version: Int
        let hasMemory: Bool

        init?(_ line: Substring) {
            let words = line.split(separator: " ").map(String.init)
            guard words.count > 6, let dash = words.firstIndex(of: "-"), words.count > dash + 3,
                let version = ["cgroup": 1, "cgroup2": 2][words[dash + 1]]
            else { return nil }
            (root, folder, self.version) = (words[3], words[4], version)
            hasMemory = words[dash + 3].split(separator: ",").contains("memory")
        }
    }

    /// Finds the folders of the groups. A line of the membership:
    ///
    ///     4:memory:/root-of-it/own/group            (version 1; in version 2 the line begins with "0::")
    private static func groups(mounts: String, membership: String) -> [Group] {
        let mounts = mounts.split(separator: "\n").compactMap(Mount.init)
        // If both versions are mounted, use the one that has the memory controller.
        let isFirstVersion = mounts.contains { $0.version == 1 && $0.hasMemory }
        for mount in mounts {
            guard mount.version == 1 ? mount.hasMemory : !isFirstVersion,
                let path = path(in: membership, version: mount.version)
            else { continue }
            let isBelow = path.hasPrefix(mount.root) && mount.root != "/"
            return ancestors(of: isBelow ? String(path.dropFirst(mount.root.count)) : path).map {
                Group(folder: mount.folder + $0, version: mount.version)
            }
        }
        return []
    }

    private static func path(in membership: String, version: Int) -> String? {
        for line in membership.split(separator: "\n") {
            let parts = line.split(separator: ":", maxSplits: 2, omittingEmptySubsequences: false)
            guard parts.count == 3 else { continue }
            let isIt = version == 2 ? parts[0] == "0" : parts[1].split(separator: ",").contains("memory")
            if isIt { return String(parts[2]) }
        }
        return nil
    }

    /// `/a/b` gives `/a/b`, `/a` and the empty path.
    private static func ancestors(of path: String) -> [String] {
        let parts = path.split(separator: "/").map(String.init)
        return (0...parts.count).reversed().map { parts.prefix($0).map { "/" + $0 }.joined() }
    }

    private static func field(_ name: String, of text: String, separator: Character) -> Int? {
        for line in text.split(separator: "\n") {
            let parts = line.split(whereSeparator: { $0 == separator || $0 == " " })
            if parts.count > 1, parts[0] == name { return Int(parts[1]) }
        }
        return nil
    }

    /// The text of a small file; nil if it cannot be read.
    private static func text(_ path: String) -> String? {
        // Ignored: most systems lack some of these files, and the others suffice.
        (try? FileCalls().contents(ofPath: path)).map { String(decoding: $0, as: UTF8.self) }
    }
}
