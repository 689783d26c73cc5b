import Foundation

/// A folder for one benchmark's files, removed when the object goes.
final class ScratchFolder: Sendable {
    let path: String

    init() throws {
        path = FileManager.default.temporaryDirectory.path + "/marquee-bench-" + UUID().uuidString
        try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
    }

    deinit {
        // What is left of it in the temporary folder harms nobody.
        try? FileManager.default.removeItem(atPath: path)
    }

    /// A new empty folder within, in the place of an older one of the name.
    func new(_ name: String) throws -> String {
        let folder = path + "/" + name
        if FileManager.default.fileExists(atPath: folder) {
            try FileManager.default.removeItem(atPath: folder)
        }
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        return folder
    }
}

/// Other people's programs.
enum Subprocess {
    /// Runs a program of the PATH and waits for it.
    static func run(_ program: String, _ arguments: [String]) throws {
        try run(program, arguments, output: FileHandle.nullDevice)
    }

    /// Runs a program of the PATH, waits for it, and gives what it printed.
    static func output(of program: String, _ arguments: [String]) throws -> String {
        let pipe = Pipe()
        try run(program, arguments, output: pipe)
        return String(decoding: pipe.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
    }

    /// - Parameter output: a file handle, or a pipe, whose buffer must hold all that the program prints.
    private static func run(_ program: String, _ arguments: [String], output: Any) throws {
        let process = Process()
        process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
        process.arguments = [program] + arguments
        process.standardOutput = output
        process.standardError = FileHandle.nullDevice
        try process.run()
        process.waitUntilExit()
        guard process.terminationStatus == 0 else {
            throw BenchmarkFailure(
                description: process.terminationStatus == 127
                    ? "\(program) is not installed; --no-reference measures without it"
                    : "\(program) ended with status \(process.terminationStatus)")
        }
    }
}
