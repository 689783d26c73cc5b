import Foundation
import TestSupport

@testable import FilmSources

/// A process of `LibraryProbe`, which writes into a library.
final class Probe {
    private let process = Process()
    private let output = Pipe()
    private let errors = Pipe()

    /// - Parameter shell: a command line that runs `"$@"`; nil runs the probe itself.
    init(_ words: [String], shell: String? = nil) throws {
        let command = [BuiltProgram.path("LibraryProbe")] + words
        if let shell {
            process.executableURL = URL(filePath: "/bin/sh")
            process.arguments = ["-c", shell, "sh"] + command
        } else {
            process.executableURL = URL(filePath: command[0])
            process.arguments = words
        }
        process.standardOutput = output
        process.standardError = errors
        try process.run()
    }

    /// The status, the complete lines of acknowledged writes, and the errors.
    func end() -> (status: Int32, acknowledged: [Int], errors: String) {
        let read = output.fileHandleForReading.readDataToEndOfFile()
        let text = String(decoding: errors.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
        process.waitUntilExit()
        let lines = String(decoding: read, as: UTF8.self).split(
            separator: "\n", omittingEmptySubsequences: false)
        return (process.terminationStatus, lines.dropLast().compactMap { Int($0) }, text)
    }

    /// The poster that the probe gives to a film.
    static func poster(_ number: Int) -> [UInt8] {
        (0..<(1000 + number * 977 % 60_000)).map { UInt8(truncatingIfNeeded: $0 &* 31 &+ number) }
    }
}

extension FilmLibrary {
    /// SQLite's integrity check of the database; "ok" if it finds no error.
    func integrity() throws -> String {
        try read { database throws(FilmLibraryError) in
            try database.first("PRAGMA integrity_check") { row throws(FilmLibraryError) in row.text(0) } ?? ""
        }
    }
}

extension FilmLibrary {
    /// Changes the database in a way that the library never does.
    func execute(_ sql: String) throws {
        try write { transaction in try transaction.database.execute(sql) }
    }
}
