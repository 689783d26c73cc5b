import SystemSupport

extension DiskCache {
    /// The user's own cache folder for this purpose, shared by every program that names none: `marquee` in
    /// `XDG_CACHE_HOME`, or in `~/.cache` where that is not set or not absolute (XDG Base Directory Specification).
    public static var standardFolder: String {
        UserFolder.path(variable: "XDG_CACHE_HOME", standard: ".cache") + "/marquee"
    }
}
