import Glibc
import SystemSupport

/// Reports how far packets from this machine get: now, and after every change.
///
///     for await path in PathMonitor() {
///         print(path)                            // internet over wifi (wlan0)
///     }
///
/// The first path comes at once. After a change of links, addresses or routes the next path comes when nothing has
/// changed for 200 ms, or after 2 s of changes, if it differs from the last one. A slow reader gets only the newest
/// path. Where the system says nothing, the path is the internet over `.other`, and the sequence ends.
///
/// Each iterator has a thread, which ends with the iterator. Safe for concurrent use from any thread or actor.
public struct PathMonitor: AsyncSequence, Sendable {
    /// How long nothing must have changed, and the longest wait for that.
    private static let (quiet, longest) = (Duration.milliseconds(200), Duration.seconds(2))

    /// A monitor. Each iterator starts to watch when it is made.
    public init() {}

    /// The path now. Blocks for about 0.1 ms.
    public static func currentPath() -> NetworkPath {
        guard let socket = RouteSocket(hearsChanges: false), let path = path(socket) else { return .assumed }
        return path
    }

    /// Starts a new reader.
    public func makeAsyncIterator() -> AsyncStream<NetworkPath>.Iterator {
        let (stream, paths) = AsyncStream.makeStream(
            of: NetworkPath.self, bufferingPolicy: .bufferingNewest(1))
        do {
            let end = try WakeDescriptor()
            paths.onTermination = { _ in end.signal() }
            try BlockingThreads.startThread(name: "LazyImages.path") {
                Self.watch(until: end) { paths.yield($0) }
                paths.finish()
            }
        } catch {
            // Losing the error is right: a monitor only informs. Without a thread it reports the assumed path.
            paths.yield(.assumed)
            paths.finish()
        }
        return stream.makeAsyncIterator()
    }

    private static func watch(until end: WakeDescriptor, notify: (NetworkPath) -> Void) {
        // The first socket reports changes that happen before the second is open.
        guard let changes = RouteSocket(hearsChanges: true), let questions = RouteSocket(hearsChanges: false),
            var last = path(questions)
        else { return notify(.assumed) }
        notify(last)
        while true {
            var wake = wait(for: changes, or: end, until: nil)
            let latest = ContinuousClock.now + longest
            while wake == .change, ContinuousClock.now < latest {
                wake = wait(for: changes, or: end, until: .now + quiet)
            }
            if wake == .end { return }
            guard let next = path(questions), next != last else { continue }
            last = next
            notify(next)
        }
    }

    private enum Wake { case change, quiet, end }

    /// Waits for a change, whose messages it discards, or for the end; `.quiet` if neither came in time.
    private static func wait(
        for changes: RouteSocket, or end: WakeDescriptor, until deadline: ContinuousClock.Instant?
    ) -> Wake {
        let ready = Polling.ready([(end.descriptor, POLLIN), (changes.descriptor, POLLIN)], until: deadline)
        if ready[0] { return .end }
        if ready[1] { changes.drain() }
        return ready[1] ? .change : .quiet
    }

    private static func path(_ socket: RouteSocket) -> NetworkPath? {
        socket.table()?.path { InterfaceKind.link($0) }
    }
}
