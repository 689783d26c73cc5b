import Glibc
import SystemSupport

/// What the threads of a service share, and the thread that accepts connections.
final class Server: Sendable {
    let folder: CatalogueFolder
    let configuration: CatalogueService.Configuration
    let listener: Listener
    let stop: StopSignal
    let counters: ServiceCounters
    let report: (@Sendable (CatalogueService.Answer) -> Void)?
    private let threads: ServiceThreads
    private let isStarted = Lock(false)

    /// How long accepting pauses when the system has no descriptor or thread left.
    private static let exhaustionPause = Duration.milliseconds(100)

    init(
        folder: String, configuration: CatalogueService.Configuration,
        report: (@Sendable (CatalogueService.Answer) -> Void)?, startThread: BlockingThreads.Starter?
    ) throws(CatalogueServiceError) {
        self.report = report
        self.folder = try CatalogueFolder(path: folder)
        self.configuration = configuration
        stop = try StopSignal(grace: configuration.stopGrace)
        threads =
            if let startThread { try ServiceThreads(startThread: startThread) } else { try ServiceThreads() }
        counters = ServiceCounters(seed: configuration.failureSeed)
        listener = try Listener(address: configuration.address, port: configuration.port)
    }

    func start() throws(CatalogueServiceError) {
        // The thread is counted before the lock is let go, so that a stop at this moment waits for it.
        try isStarted.withLock { isStarted throws(CatalogueServiceError) in
            guard !isStarted else { return }
            do throws(ResourceShortage) {
                try threads.start { [self] in acceptUntilStopped() }
            } catch {
                throw .system(call: "pthread_create", errno: error.code)
            }
            isStarted = true
        }
    }

    func stopAndWait() {
        // One that was never started has no thread that would let go of the port, and must not start any more.
        let wasStarted = isStarted.withLock { isStarted in
            defer { isStarted = true }
            return isStarted
        }
        stop.raise()
        if !wasStarted { listener.stop() }
        threads.waitUntilEnded()
    }

    private func acceptUntilStopped() {
        defer { listener.stop() }
        while let descriptor = listener.waitable, stop.wait(for: descriptor, POLLIN, until: nil) != .stopped {
            switch listener.accept() {
            case .success(let socket): take(socket)
            case .failure(let failure) where failure.isExhaustion:
                stop.pause(until: .now + Self.exhaustionPause)
            // The client went away before it was accepted, or a signal came.
            case .failure: continue
            }
        }
    }

    private func take(_ socket: Int32) {
        let admission = counters.admit(atMost: configuration.maximumConnections)
        if case .drop = admission {
            close(socket)
            return
        }
        // Where there is no thread the connection waits for one, and so do those after it.
        while !stop.isRaised {
            do {
                return try threads.start { [self] in serve(socket, admission) }
            } catch {
                stop.pause(until: .now + Self.exhaustionPause)
            }
        }
        close(socket)
        counters.leave(admission)
    }

    private func serve(_ socket: Int32, _ admission: ServiceCounters.Admission) {
        // In this order, so that whoever sees no connection any more finds its descriptor free.
        defer { counters.leave(admission) }
        ClientSocket.serving(socket, stop: stop, counters: counters) { client in
            var connection = Connection(client: client, server: self)
            if case .turnAway = admission { connection.turnAway() } else { connection.run() }
        }
    }
}
