import SystemSupport

/// A process's memory, as the kernel counts it.
public enum ProcessMemory {
    /// The peak memory of a process so far, in KiB; 0 if there is no such process.
    /// - Parameter process: the process id, or `self`.
    public static func peak(of process: String) -> Int {
        // Ignored: an ended process has no memory.
        let text = (try? FileCalls().contents(ofPath: "/proc/\(process)/status")) ?? []
        let line = String(decoding: text, as: UTF8.self).split(separator: "\n")
            .first { $0.hasPrefix("VmHWM:") }
        return line.flatMap { line in Int(line.filter(\.isNumber)) } ?? 0
    }

    /// Resets this process's peak to its present memory.
    public static func forgetPeak() { _ = Shell.output("echo 5 >/proc/$PPID/clear_refs") }
}
