import SystemSupport

/// What the kernel tells of the memory of a process.
public enum ProcessMemory {
    /// The most that a process has had in memory so far, in KiB; 0 for one that is not there.
    /// - Parameter process: its number, or `self`.
    public static func peak(of process: String) -> Int {
        // Losing the error is right: a process that has ended has no memory.
        let text = (try? FileCalls().contents(ofPath: "/proc/\(process)/status")) ?? []
        let line = String(decoding: text, as: UTF8.self).split(separator: "\n")
            .first { $0.hasPrefix("VmHWM:") }
        return line.flatMap { line in Int(line.filter(\.isNumber)) } ?? 0
    }

    /// Lets the peak of this process begin anew, from what it has in memory now.
    public static func forgetPeak() { _ = Shell.output("echo 5 >/proc/$PPID/clear_refs") }
}
