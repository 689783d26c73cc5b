package import LazyImages
import Glibc
import SystemSupport

/// A background job of any program, found by its name with ``BackgroundJobs/job(_:)``.
///
/// Safe for concurrent use from any thread or actor.
public struct BackgroundJob: Sendable {
    /// How often followers read the results: polling works on every file system.
    private static let pause = Duration.milliseconds(100)

    let folder: JobFolder

    /// Its name.
    public var name: String { folder.name }

    /// Its plan.
    public var plan: JobPlan { get throws(BackgroundJobsError) { try folder.storedPlan() } }

    /// Its present status.
    public var status: JobStatus { get throws(BackgroundJobsError) { try folder.status() } }

    /// The bytes received so far, in all runs, with those of the running transfers; nil if they are unknown. They are a
    /// quarter of a second old at most, while a process works on the job. Reads a file.
    package var traffic: NetworkActivity.Traffic? { folder.storedTraffic }

    /// All events from the job's start, and then new ones, until the job or its process ends. Each use makes a new
    /// sequence, with a thread that ends with it. For a removed job it has only `.stopped`.
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
            // Losing the error is right: without a thread the sequence ends at once.
            events.finish()
        }
        return stream
    }

    private func follow(until end: WakeDescriptor, notify: (JobEvent) -> Void) {
        do {
            var reader = try JobReader(folder.path + "/" + JobFolder.results)
            var hasEnded = false
            while true {
                // In this order: the last events are read before the loop ends.
                let isRunning = try folder.isRunning()
                for event in try reader.next() {
                    if case .started = event { hasEnded = false }
                    if case .ended = event { hasEnded = true }
                    notify(event)
                }
                if !isRunning { break }
                if Polling.ready([(end.descriptor, POLLIN)], until: .now + Self.pause)[0] { return }
            }
            if !hasEnded { notify(.stopped) }
        } catch {
            // The job was removed, or its disk is gone.
            notify(.stopped)
        }
    }

    /// Waits until the job or its process has ended. Returns the status of ``JobEvent/ended(status:time:)``; nil for a
    /// stopped job, or if the task is cancelled.
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

    /// Tells the job to end; ``completion()`` waits for that. Its files stay, and a resumption continues there. Blocks
    /// for a moment while the job is starting.
    /// - Throws: `.notRunning`.
    public func cancel() throws(BackgroundJobsError) {
        // By a pipe, which only the job reads. A signal could reach another process that has the same number by now.
        while try folder.isRunning() {
            let isSent = try folder.opened { folder throws(FileFault) in
                guard let pipe = try self.folder.calls.openPipeForWriting(JobFolder.control, in: folder)
                else { return false }
                try self.folder.calls.write([UInt8(ascii: "x")], to: pipe)
                return true
            }
            if isSent { return }
            // The job has its lock, but does not listen yet.
            usleep(10_000)
        }
        throw .notRunning(name: name)
    }
}
