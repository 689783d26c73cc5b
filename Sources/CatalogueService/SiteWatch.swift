import Glibc
import SystemSupport

/// Looks at the served file once a second, on a thread of its own. Requests look too, but a service without requests
/// must notice as well that its library was replaced, or that its catalogue is broken or good again.
final class SiteWatch: Sendable {
    private let interval: Duration
    private let look: @Sendable () -> Void
    private let wake, ended: WakeDescriptor
    private let isStarted = Lock(false)

    /// - Parameters:
    ///   - interval: the time between two looks. Default: a second.
    ///   - look: must not retain the watch.
    init(
        every interval: Duration = .seconds(1), look: @escaping @Sendable () -> Void
    ) throws(ResourceShortage) {
        self.interval = interval
        self.look = look
        wake = try WakeDescriptor()
        ended = try WakeDescriptor()
    }

    deinit { wake.signal() }

    /// Begins to look. A second call does nothing.
    /// - Throws: when the system gives no thread.
    func start() throws(ResourceShortage) {
        // The thread does not retain the watch, so that a released service ends.
        let (interval, look, wake, ended) = (interval, look, wake, ended)
        try isStarted.withLock { isStarted throws(ResourceShortage) in
            guard !isStarted else { return }
            try BlockingThreads.startThread(name: "marquee-watch") {
                while !Polling.ready([(wake.descriptor, POLLIN)], until: .now + interval)[0] { look() }
                ended.signal()
            }
            isStarted = true
        }
    }

    /// Stops, and returns when the thread has ended. A stopped watch does not start again. Blocks.
    func stop() {
        wake.signal()
        let hadThread = isStarted.withLock { isStarted in
            defer { isStarted = true }
            return isStarted
        }
        // The signal stays, so a second call does not wait.
        if hadThread { ended.wait() }
    }
}
