import FoundationEssentials
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
        let end = "ended\n"
        let output = Shell.output("tidy -q -e --warn-proprietary-attributes no '\(file)' 2>&1; echo ended")
        return output.hasSuffix(end) ? String(output.dropLast(end.count)) : "tidy cannot be started"
    }
}
