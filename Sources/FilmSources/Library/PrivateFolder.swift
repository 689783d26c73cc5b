import FoundationEssentials
import SystemSupport

/// A folder for the files of this process alone, removed with the object. The next process that makes one removes what a
/// killed process has left.
///
///     /tmp/marquee-films-0B5D…/films.db
///
/// Its lock tells it from a leftover. It also keeps programs that remove old temporary files away (tmpfiles.d(5)).
package final class PrivateFolder: Sendable {
    package let path: String
    private let folder: Descriptor

    private static let prefix = "marquee-films-"

    /// Where a folder is made: in the first of these where that works. A container may have only `/dev/shm`.
    static var places: [String] {
        let named = ProcessInfo.processInfo.environment["TMPDIR"] ?? ""
        return (named.isEmpty ? [] : [named]) + ["/tmp", "/dev/shm"]
    }

    /// - Parameters:
    ///   - name: what the folder is for, in messages.
    ///   - places: where it is made, in the first that allows it. Default: `places`.
    package static func make(
        for name: String, in places: [String] = places
    ) throws(FilmLibraryError) -> PrivateFolder {
        for place in places {
            // Ignored: the next place may do, and the error below names all.
            guard let folder = try? PrivateFolder(in: place) else { continue }
            removeLeftovers(in: place)
            return folder
        }
        throw .system(
            path: name,
            reason: "its films need a temporary folder, and none can be made in "
                + places.joined(separator: ", ") + "; set TMPDIR to a folder with room")
    }

    private init(in place: String) throws(FileFault) {
        let calls = FileCalls()
        path = place + "/" + Self.prefix + UUID().uuidString
        try calls.makeFolder(path)
        folder = try calls.openFolder(path)
        // Before it was locked, another process may have taken it for a leftover.
        guard try calls.tryLock(folder), FileNumber(path) != nil else {
            throw FileFault(kind: .lock, name: path, code: ENOLCK)
        }
    }

    deinit { remove() }

    /// Removes the folder and its files. Open ones can still be used. A second call does nothing.
    package func remove() {
        // Ignored: without a lock it is a leftover, which the next process removes.
        try? FileManager.default.removeItem(atPath: path)
    }

    private static func removeLeftovers(in place: String) {
        let calls = FileCalls()
        // Ignored: what cannot be looked at or removed now is left for the next process.
        guard let parent = try? calls.openFolder(place), let names = try? calls.names(in: parent) else {
            return
        }
        for name in names where name.hasPrefix(prefix) {
            // Ignored: as above.
            guard let folder = try? calls.openFolder(name, in: parent),
                (try? calls.status(of: folder))?.owner == geteuid(), (try? calls.tryLock(folder)) == true
            else { continue }
            // Ignored: as above.
            try? FileManager.default.removeItem(atPath: place + "/" + name)
        }
    }
}
