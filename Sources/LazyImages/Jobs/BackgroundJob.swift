import Glibc
import SystemSupport

/// A job in the background, whoever has started it: `BackgroundJobs` finds it by its name.
///
/// Safe for concurrent use from any thread or actor.
public struct BackgroundJob: Sendable {
    /// How often the results are looked at by those who follow them: files of every kind of disk tell that way.
    private static let pause = Duration.milliseconds(100)

    let folder: JobFolder

    /// Its name.
    public var name: String { folder.name }

    /// What it is to do.
    public var order: JobOrder { get throws(BackgroundJobsError) { try folder.storedOrder() } }

    /// How far it is.
    public var status: JobStatus { get throws(BackgroundJobsError) { try folder.status() } }

    /// What has happened from its beginning on, and then what happens, to its end or to that of its process. Each use is a
    /// sequence of its own, with a thread that ends with it. It is empty where the job has been removed.
    public var events: AsyncStream<JobEvent> {
        let (stream, events) = AsyncStream.makeStream(of: JobEvent.self)
        do {
            let end = try WakeDescriptor()
            events.onTermination = { _ in end.signal() }
            try BlockingThreads.startThread(name: "LazyImages.job") {
                follow(until: end) { events.yield($0) }
                events.finish()
            }
        } catch {
            // Losing the error is right: without a thread nothing can be followed, and the sequence says so by its end.
            events.finish()
        }
        return stream
    }

    private func follow(until end: WakeDescriptor, tell: (JobEvent) -> Void) {
        do {
            var reader = try JobReader(folder.path + "/" + JobFolder.results)
            var hasEnded = false
            while true {
                // In this order: what its process writes last is read before its end is believed.
                let isRunning = try folder.isRunning()
                for event in try reader.next() {
                    if case .started = event { hasEnded = false }
                    if case .ended = event { hasEnded = true }
                    tell(event)
                }
                if !isRunning { break }
                if Polling.ready([(end.descriptor, POLLIN)], until: .now + Self.pause)[0] { return }
            }
            if !hasEnded { tell(.stopped) }
        } catch {
            // Removed, or its disk has gone.
            tell(.stopped)
        }
    }

    /// Waits until the job has ended, or its process has gone: the status of `JobEvent.ended`; nil for a job that was
    /// stopped, and when the task is cancelled.
    public func completion() async -> Int32? {
        var status: Int32?
        for await event in events {
            switch event {
            case .started: status = nil
            case .ended(let end, _): status = end
            case .waiting, .result, .stopped: break
            }
        }
        return Task.isCancelled ? nil : status
    }

    /// Asks the job to end, as Ctrl-C would; `completion()` tells when it has. What it has fetched stays, and `resume` goes
    /// on from there. Blocks for a moment where the job is just starting.
    /// - Throws: `.notRunning`.
    public func cancel() throws(BackgroundJobsError) {
        // No signal: the number of a process may be another's by now. A pipe is read by the job itself or by nobody.
        while try folder.isRunning() {
            let isAsked = try folder.opened { folder throws(FileFault) in
                guard let pipe = try self.folder.calls.openPipeForWriting(JobFolder.control, in: folder)
                else { return false }
                try self.folder.calls.write([UInt8(ascii: "x")], to: pipe)
                return true
            }
            if isAsked { return }
            // It has its lock, and does not listen yet.
            usleep(10_000)
        }
        throw .notRunning(name: name)
    }
}
