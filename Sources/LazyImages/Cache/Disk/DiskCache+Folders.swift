import FoundationEssentials
import SystemSupport

extension DiskCache {
    /// The program's own folder, by its name.
    static var ownFolder: String {
        let name = ProcessInfo.processInfo.processName
        return folder(named: ["", ".", ".."].contains(name) ? "LazyImages" : name) + "/images"
    }

    /// A cache folder that programs share on purpose, by its name below `XDG_CACHE_HOME` or `~/.cache`. `marquee` has the
    /// one named `marquee`.
    /// - Parameter name: the name, without a slash.
    public static func folder(named name: String) -> String {
        UserFolder.path(variable: "XDG_CACHE_HOME", standard: ".cache") + "/" + name
    }
}
