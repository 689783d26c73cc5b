import Foundation

/// `marquee serve` in a process of its own.
final class ServiceProcess: Sendable {
    let port: UInt16
    private let process: Int32

    /// - Parameter arguments: the words after `serve`.
    init(_ arguments: [String]) throws {
        let child = Process()
        let pipe = Pipe()
        child.executableURL = URL(filePath: try Program.path("marquee"))
        child.arguments = ["serve"] + arguments
        child.standardOutput = pipe
        child.standardError = FileHandle.nullDevice
        try child.run()
        // http://127.0.0.1:40123/
        let line = String(decoding: pipe.fileHandleForReading.availableData, as: UTF8.self)
        guard let port = line.split(separator: ":").last.flatMap({ UInt16($0.prefix { $0.isNumber }) }) else {
            throw BenchmarkFailure(description: "marquee serve does not start: \(line)")
        }
        self.port = port
        process = child.processIdentifier
    }

    func stop() {
        kill(process, SIGTERM)
        // Foundation reaps its children; this waits until it has.
        while kill(process, 0) == 0 { poll(nil, 0, 2) }
    }

    var bytes: Int {
        get throws { try PeakMemory.kibibytes("VmRSS", of: "\(process)") * 1024 }
    }

    /// The peak memory in bytes.
    var peakBytes: Int {
        get throws { try PeakMemory.kibibytes("VmHWM", of: "\(process)") * 1024 }
    }
}
