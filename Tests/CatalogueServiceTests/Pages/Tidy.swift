import FoundationEssentials
import TestSupport

/// The HTML checker of Debian's package `tidy`.
enum Tidy {
    static let isInstalled = Shell.has("tidy")

    /// Its findings for a page; empty if there are none. The release of 2017 reports newer attributes, such
    /// as `loading`, as proprietary.
    static func findings(_ page: [UInt8]) throws -> String {
        let folder = try TemporaryFolder()
        let file = folder.file("page.html")
        try Data(page).write(to: URL(filePath: file))
        let end = "ended\n"
        let output = Shell.output("tidy -q -e --warn-proprietary-attributes no '\(file)' 2>&1; echo ended")
        return output.hasSuffix(end) ? String(output.dropLast(end.count)) : "tidy cannot be started"
    }
}
