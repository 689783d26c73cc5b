import Glibc
import SystemSupport

/// The threads of one server, counted, so that a stop can wait for the last of them.
final class ServerThreads: Sendable {
    private let running = Lock(0)
    private let allEnded: WakeDescriptor

    private let startThread: BlockingThreads.Starter

    /// - Parameter startThread: starts a thread. Default: the system.
    init(
        startThread: @escaping BlockingThreads.Starter = { name, body throws(ResourceShortage) in
            try BlockingThreads.startThread(name: name, body)
        }
    ) throws(ResourceShortage) {
        allEnded = try WakeDescriptor()
        self.startThread = startThread
    }

    /// Runs `body` on a new thread. The first thread must not end before the last one has started: a count of zero
    /// means that all have ended.
    /// - Throws: when the system gives no thread. `body` does not run then.
    func start(_ body: @escaping @Sendable () -> Void) throws(ResourceShortage) {
        running.withLock { $0 += 1 }
        do {
            try startThread("marquee-server") { [self] in
                Self.blockSignals()
                body()
                if running.withLock({ count in
                    count -= 1
                    return count == 0
                }) {
                    allEnded.signal()
                }
            }
        } catch {
            // If this was the first thread, the caller may try again; if not, the others go on.
            running.withLock { $0 -= 1 }
            throw error
        }
    }

    /// Blocks until every thread has ended; returns at once if none was started.
    func waitUntilEnded() {
        if running.withLock({ $0 > 0 }) { allEnded.wait() }
    }

    /// A client that goes away during sendfile raises SIGPIPE, and sendfile has no flag against it. The program's other
    /// signals belong to its own threads.
    private static func blockSignals() {
        var all = sigset_t()
        _ = unsafe sigfillset(&all)
        _ = unsafe pthread_sigmask(SIG_BLOCK, &all, nil)
    }
}
