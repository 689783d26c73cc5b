internal import FoundationEssentials

/// The folders of a user (XDG Base Directory Specification).
package enum UserFolder {
    /// The user's home. An empty `HOME` is as an unset one.
    package static var home: String {
        let variable = ProcessInfo.processInfo.environment["HOME"] ?? ""
        return variable.isEmpty ? FileManager.default.homeDirectoryForCurrentUser.path : variable
    }

    /// The name of the program, for a folder of its own.
    package static var programName: String {
        let name = ProcessInfo.processInfo.processName
        return ["", ".", ".."].contains(name) ? "LazyImages" : name
    }

    /// The folder named by an environment variable or, if that is unset or not absolute, the `standard` one in the
    /// user's home.
    package static func path(variable: String, standard: String) -> String {
        if let folder = ProcessInfo.processInfo.environment[variable], folder.hasPrefix("/") { return folder }
        return home + "/" + standard
    }

    /// The folder of temporary files that may be large: `TMPDIR`, else `/var/tmp`, which is on a disk and not in memory.
    package static var temporary: String {
        let variable = ProcessInfo.processInfo.environment["TMPDIR"] ?? ""
        return variable.isEmpty ? "/var/tmp" : variable
    }
}
