import Foundation
import ImageCodecs

/// How much memory a decoding has in use at once.
enum PeakMemory {
    /// Measures in a process of its own, where nothing was freed yet that could be used again unseen: this program once
    /// more, with `--memory`.
    static func ofDecoding(_ path: String, fitting target: ImageSize?) throws -> Int {
        let program = try FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe")
        let fit = target.map { ["--fit", "\($0.width)x\($0.height)"] } ?? []
        // Larger pieces are mapped one by one, and given back when they are freed.
        let output = try Subprocess.output(
            "MALLOC_MMAP_THRESHOLD_=65536", [program, "decode", path, "--memory"] + fit)
        guard let bytes = Int(String(decoding: output, as: UTF8.self).filter(\.isNumber)) else {
            throw BenchmarkFailure(description: "no size of \(path)'s decoding")
        }
        return bytes
    }

    /// The bytes by which the process grows at most while `work` runs, by the kernel's count of its pages.
    static func growth(_ work: () throws -> Void) throws -> Int {
        // 5 sets the high-water mark back to what is in use now (proc(5)).
        try Data("5".utf8).write(to: URL(fileURLWithPath: "/proc/self/clear_refs"))
        let before = try kibibytes("VmRSS")
        try work()
        return (try kibibytes("VmHWM") - before) * 1024
    }

    /// A line of a process's status (`VmHWM:     70000 kB`); by default of this one's.
    static func kibibytes(_ field: String, of process: String = "self") throws -> Int {
        let status = try String(contentsOfFile: "/proc/\(process)/status", encoding: .utf8)
        for line in status.split(separator: "\n") where line.hasPrefix(field + ":") {
            if let value = line.split(whereSeparator: \.isWhitespace).dropFirst().first.flatMap({ Int($0) }) {
                return value
            }
        }
        throw BenchmarkFailure(description: "no \(field) in /proc/\(process)/status")
    }
}
