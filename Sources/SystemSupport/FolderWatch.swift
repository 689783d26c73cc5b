/// Observes a folder and the folders below it, eight levels deep (inotify(7)): calls back when files or folders were added, removed, renamed or
/// written. Several changes in a row count once (debounced).
///
/// A system watches a limited number of folders. Beyond it the callback comes once a minute, changed or not.
package final class FolderWatch: Sendable {
    private let wake: WakeDescriptor

    /// How long nothing must change before the callback.
    private static let quiet = Duration.milliseconds(300)
    /// The longest delay of the callback while changes go on.
    private static let longestDelay = Duration.seconds(5)
    /// The time between two callbacks for what cannot be watched.
    private static let interval = Duration.seconds(60)
    private static let deepest = 8
    private static let events = UInt32(
        IN_CREATE | IN_DELETE | IN_MOVED_FROM | IN_MOVED_TO | IN_CLOSE_WRITE | IN_DELETE_SELF | IN_MOVE_SELF
            | IN_ONLYDIR)

    /// Starts to watch, on a thread of its own, until the watch is released. Changes count from the return on.
    /// - Parameters:
    ///   - path: an existing folder.
    ///   - onChange: called on that thread; must not retain the watch.
    package init(_ path: String, onChange: @escaping @Sendable () -> Void) throws(ResourceShortage) {
        wake = try WakeDescriptor()
        let number = inotify_init1(Int32(IN_CLOEXEC) | Int32(IN_NONBLOCK))
        guard number >= 0 else { throw ResourceShortage(missing: .descriptor, code: errno) }
        let watched = Watched(descriptor: number, root: path)
        let isWhole = watched.add()
        try BlockingThreads.startThread(name: "marquee-folder") { [wake] in
            watched.run(until: wake, isWhole, onChange)
        }
    }

    deinit { wake.signal() }

    /// The watched folders. Used by the watching thread alone.
    private final class Watched: Sendable {
        private let descriptor: Int32
        private let root: String

        init(descriptor: Int32, root: String) { (self.descriptor, self.root) = (descriptor, root) }

        deinit { close(descriptor) }

        /// - Parameter isWhole: whether all folders are watched.
        func run(until wake: WakeDescriptor, _ isWhole: Bool, _ onChange: () -> Void) {
            var isWhole = isWhole
            let awaited = [(wake.descriptor, POLLIN), (descriptor, POLLIN)]
            while true {
                let deadline = isWhole ? nil : ContinuousClock.now + FolderWatch.interval
                let ready = Polling.ready(awaited, until: deadline)
                if ready[0] { return }
                if ready[1] {
                    drain()
                    let latest = ContinuousClock.now + FolderWatch.longestDelay
                    while true {
                        let quiet = min(ContinuousClock.now + FolderWatch.quiet, latest)
                        let more = Polling.ready(awaited, until: quiet)
                        if more[0] { return }
                        if !more[1] || ContinuousClock.now >= latest { break }
                        drain()
                    }
                    // Folders may have come. Watching one again changes nothing.
                    isWhole = add()
                }
                onChange()
            }
        }

        /// Watches the root and the folders below it.
        /// - Returns: whether all of them are watched.
        func add() -> Bool { add(root, depth: 0) }

        /// - Returns: false if the system has no room for another folder.
        private func add(_ path: String, depth: Int) -> Bool {
            guard unsafe inotify_add_watch(descriptor, path, FolderWatch.events) >= 0 else {
                return errno != ENOSPC
            }
            let calls = FileCalls()
            // Ignored: a folder that is gone has no folders to watch. A link is watched, and may lead round.
            guard depth < FolderWatch.deepest,
                (try? calls.status(ofPath: path))?.isFolder == true || depth == 0,
                let folder = try? calls.openFolder(path), let names = try? calls.names(in: folder)
            else { return true }
            return names.allSatisfy { add(path + "/" + $0, depth: depth + 1) }
        }

        /// Reads the events, which say only that something has changed.
        private func drain() {
            var buffer = [UInt8](repeating: 0, count: 16 * 1024)
            while unsafe read(descriptor, &buffer, buffer.count) > 0 {}
        }
    }
}
