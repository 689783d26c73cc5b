import Glibc
import LazyImages

/// The threads of one service, counted, so that a stop can wait for the last of them.
final class ServiceThreads: Sendable {
    private let running = Lock(0)
    private let allEnded: Event

    init() throws(CatalogueServiceError) { allEnded = try Event() }

    /// Runs `body` on a thread of its own. The first thread must outlive the start of every other, since the
    /// count coming to zero is taken for the end.
    func start(_ body: @escaping @Sendable () -> Void) {
        running.withLock { $0 += 1 }
        BlockingThreads.startThread { [self] in
            Self.blockSignals()
            body()
            if running.withLock({ count in
                count -= 1
                return count == 0
            }) {
                allEnded.set()
            }
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
