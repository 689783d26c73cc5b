import FoundationEssentials

extension DiskCache {
    /// The user's own cache folder for this purpose, shared by every program that names none: `marquee` in
    /// `XDG_CACHE_HOME`, or in `~/.cache` where that is not set or not absolute (XDG Base Directory Specification).
    public static var standardFolder: String {
        let environment = ProcessInfo.processInfo.environment
        if let home = environment["XDG_CACHE_HOME"], home.hasPrefix("/") { return home + "/marquee" }
        return (environment["HOME"] ?? FileManager.default.homeDirectoryForCurrentUser.path)
            + "/.cache/marquee"
    }
}
