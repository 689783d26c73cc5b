internal import FoundationEssentials

/// The base folders of a user (XDG Base Directory Specification).
package enum UserFolder {
    /// The folder that a variable names; where it is not set or not absolute, this one in the user's home.
    package static func path(variable: String, standard: String) -> String {
        let environment = ProcessInfo.processInfo.environment
        if let folder = environment[variable], folder.hasPrefix("/") { return folder }
        let home = environment["HOME"] ?? FileManager.default.homeDirectoryForCurrentUser.path
        return home + "/" + standard
    }
}
