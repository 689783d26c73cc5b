import Glibc
import SystemSupport

/// Tells how far this machine reaches: now, and whenever that changes.
///
///     for await path in PathMonitor() {
///         print(path)                            // internet over wifi (wlan0)
///     }
///
/// The first path comes at once. After a change of links, addresses or routes the next one comes when nothing has changed
/// for 200 ms, or at the latest after 2 s of changes; none comes if the path is what it was. A reader who falls behind gets
/// the newest only. Where the system tells nothing, the path is the internet over `.other`, and the sequence ends.
///
/// Each reader has a thread of its own, which ends with it. Safe for concurrent use from any thread or actor.
public struct PathMonitor: AsyncSequence, Sendable {
    /// How long it must have been quiet, and how long is waited for that at most.
    private static let (quiet, longest) = (Duration.milliseconds(200), Duration.seconds(2))

    /// A monitor that has not begun yet.
    public init() {}

    /// The path of now. Blocks for about a tenth of a millisecond.
    public static func currentPath() -> NetworkPath {
        guard let socket = RouteSocket(hearsChanges: false), let path = path(socket) else { return .assumed }
        return path
    }

    /// A reader of its own.
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
            // Losing the error is right: a monitor informs, and without a thread it knows nothing.
            paths.yield(.assumed)
            paths.finish()
        }
        return stream.makeAsyncIterator()
    }

    private static func watch(until end: WakeDescriptor, tell: (NetworkPath) -> Void) {
        // What changes between the two lines is told of by the first.
        guard let changes = RouteSocket(hearsChanges: true), let questions = RouteSocket(hearsChanges: false),
            var last = path(questions)
        else { return tell(.assumed) }
        tell(last)
        while true {
            var wake = wait(for: changes, or: end, until: nil)
            let latest = ContinuousClock.now + longest
            while wake == .change, ContinuousClock.now < latest {
                wake = wait(for: changes, or: end, until: .now + quiet)
            }
            if wake == .end { return }
            guard let next = path(questions), next != last else { continue }
            last = next
            tell(next)
        }
    }

    private enum Wake { case change, quiet, end }

    /// Waits for a change, which it reads away, or for the end; `.quiet` if neither came in time.
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
