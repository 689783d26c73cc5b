import FoundationEssentials
import Glibc
import TestSupport

/// The checker of HTML of Debian's package `tidy`.
enum Tidy {
    static let isInstalled = FileManager.default.isExecutableFile(atPath: "/usr/bin/tidy")

    /// What it finds in a page; empty where there is nothing. Its release of 2017 takes newer attributes, such as `loading`, for
    /// somebody's own.
    static func findings(_ page: [UInt8]) throws -> String {
        let folder = try TemporaryFolder()
        let file = folder.file("page.html")
        try Data(page).write(to: URL(filePath: file))
        guard let pipe = unsafe popen("tidy -q -e --warn-proprietary-attributes no '\(file)' 2>&1", "r")
        else { return "tidy cannot be started" }
        defer { unsafe pclose(pipe) }
        var output: [UInt8] = []
        var buffer = [UInt8](repeating: 0, count: 65_536)
        while true {
            let count = unsafe fread(&buffer, 1, buffer.count, pipe)
            guard count > 0 else { return String(decoding: output, as: UTF8.self) }
            output += buffer[..<count]
        }
    }
}
