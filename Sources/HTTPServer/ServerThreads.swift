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

    /// Runs `body` on a thread of its own. The first thread must outlive the start of every other, since the
    /// count coming to zero is taken for the end.
    /// - Throws: when the system gives no thread. `body` is not run then.
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
            // A thread that was not the first has not ended the rest, and one that was the first may be tried again.
            running.withLock { $0 -= 1 }
            throw error
        }
    }

    /// Blocks until every thread has ended; returns at once if none was started.
    func waitUntilEnded() {
        if running.withLock({ $0 > 0 }) { allEnded.wait() }
    }

    /// A client that goes away during sendfile raises SIGPIPE, for which there is no flag; and the program's own
    /// signals belong to its own threads.
    private static func blockSignals() {
        var all = sigset_t()
        _ = unsafe sigfillset(&all)
        _ = unsafe pthread_sigmask(SIG_BLOCK, &all, nil)
    }
}
