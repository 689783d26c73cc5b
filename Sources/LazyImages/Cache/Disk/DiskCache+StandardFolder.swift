import SystemSupport

extension DiskCache {
    /// The default cache folder, shared by all programs of the user: `marquee` in `XDG_CACHE_HOME`, or in `~/.cache` if
    /// that variable is not set or not absolute (XDG Base Directory Specification).
    public static var standardFolder: String {
        UserFolder.path(variable: "XDG_CACHE_HOME", standard: ".cache") + "/marquee"
    }
}
