internal import FoundationEssentials

/// The base folders of a user (XDG Base Directory Specification).
package enum UserFolder {
    /// The folder named by an environment variable or, if that is unset or not absolute, the `standard` one in the
    /// user's home.
    package static func path(variable: String, standard: String) -> String {
        let environment = ProcessInfo.processInfo.environment
        if let folder = environment[variable], folder.hasPrefix("/") { return folder }
        let home = environment["HOME"] ?? FileManager.default.homeDirectoryForCurrentUser.path
        return home + "/" + standard
    }
}
