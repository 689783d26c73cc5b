import Foundation

/// A folder for one benchmark's files, removed with the object.
final class ScratchFolder: Sendable {
    let path: String

    init() throws {
        path = FileManager.default.temporaryDirectory.path + "/marquee-bench-" + UUID().uuidString
        try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
    }

    deinit {
        // Ignored: files left in the temporary folder do no harm.
        try? FileManager.default.removeItem(atPath: path)
    }

    /// A new empty folder inside it. Replaces an older one of the same name.
    func new(_ name: String) throws -> String {
        let folder = path + "/" + name
        if FileManager.default.fileExists(atPath: folder) {
            try FileManager.default.removeItem(atPath: folder)
        }
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        return folder
    }
}

/// The programs of this package.
enum Program {
    /// A program that was built with this one, and so is in the same folder.
    static func path(_ name: String) throws -> String {
        let own = try FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe")
        return URL(filePath: own).deletingLastPathComponent().appending(path: name).path
    }
}

/// Other programs.
enum Subprocess {
    /// Runs a program of the PATH, waits for it, and discards its output.
    static func run(_ program: String, _ arguments: [String]) throws {
        try launch(program, arguments, output: FileHandle.nullDevice).finish(program)
    }

    /// Runs a program of the PATH and returns its output.
    static func output(_ program: String, _ arguments: [String]) throws -> [UInt8] {
        let pipe = Pipe()
        let process = try launch(program, arguments, output: pipe)
        let output = try pipe.fileHandleForReading.readToEnd() ?? Data()
        try process.finish(program)
        return [UInt8](output)
    }

    /// - Parameter output: a file handle or a pipe.
    private static func launch(_ program: String, _ arguments: [String], output: Any) throws -> Process {
        let process = Process()
        process.executableURL = URL(filePath: "/usr/bin/env")
        process.arguments = [program] + arguments
        process.standardOutput = output
        process.standardError = FileHandle.nullDevice
        try process.run()
        return process
    }
}

extension Process {
    fileprivate func finish(_ program: String) throws {
        waitUntilExit()
        guard terminationStatus == 0 else {
            throw BenchmarkFailure(
                description: terminationStatus == 127
                    ? "\(program) is not installed; --no-reference measures without it"
                    : "\(program) ended with status \(terminationStatus)")
        }
    }
}
