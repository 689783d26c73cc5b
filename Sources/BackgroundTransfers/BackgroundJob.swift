public import FoundationEssentials
package import LazyImages
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
        .onThread(named: "LazyImages.job") { end, notify in follow(until: end, notify: notify) }
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

extension AsyncStream where Element: Sendable {
    /// A stream with a thread of its own, which ends with its reader.
    /// - Parameters:
    ///   - otherwise: the only element if the system has no thread; nil for none.
    ///   - body: calls its closure with each element. Returns at the end, or when the descriptor is readable: the reader
    ///     has left.
    static func onThread(
        named name: String, _ policy: Continuation.BufferingPolicy = .unbounded,
        orElse otherwise: Element? = nil,
        _ body: @escaping @Sendable (WakeDescriptor, (Element) -> Void) -> Void
    ) -> AsyncStream {
        AsyncStream(bufferingPolicy: policy) { elements in
            do {
                let end = try WakeDescriptor()
                elements.onTermination = { _ in end.signal() }
                try BlockingThreads.startThread(name: name) {
                    body(end) { elements.yield($0) }
                    elements.finish()
                }
            } catch {
                // Ignored: the readers only follow, and the next one tries again.
                if let otherwise { elements.yield(otherwise) }
                elements.finish()
            }
        }
    }
}

/// The plan of a background job: all that its process needs to know. It is stored in the job's folder, which only this
/// user can read, and contains no secrets.
public struct JobPlan: Sendable, Hashable, Codable {
    /// One image.
    public struct Item: Sendable, Hashable, Codable {
        /// Its absolute URL, without user name and password.
        public var url: String
        /// The SHA-256 that its bytes must have, in hexadecimal; nil for any.
        public var checksum: String?
        /// Whether to send the caller's header fields. The library ignores it: it is for the program that makes the
        /// requests.
        public var sendsFields: Bool

        /// An image of a plan.
        public init(url: String, checksum: String? = nil, sendsFields: Bool = true) {
            (self.url, self.checksum, self.sendsFields) = (url, checksum, sendsFields)
        }
    }

    /// The images, in their order.
    public var items: [Item]
    /// Settings of the program that works on the job. No secrets.
    public var settings: [String]
    /// The names of the secrets passed to `start`, such as `--header`. `resume` requires them again.
    public var secretNames: [String]
    /// The number of invalid entries in the caller's list, which count as failed.
    public var rejected: Int
    /// Whether the job waits while the network is a mobile network.
    public var refusesCellular: Bool

    /// A plan with these values.
    public init(
        _ items: [Item], settings: [String] = [], secretNames: [String] = [], rejected: Int = 0,
        refusesCellular: Bool = false
    ) {
        self.items = items
        self.settings = settings
        self.secretNames = secretNames
        self.rejected = rejected
        self.refusesCellular = refusesCellular
    }
}

/// The status of a background job.
public struct JobStatus: Sendable, Hashable {
    /// The state of a job.
    public enum State: String, Sendable, Hashable, CaseIterable {
        /// Its process is working.
        case running
        /// Its process waits: see ``JobStatus/wait``.
        case waiting
        /// Its process ended without a final status: it was killed, or the machine stopped.
        case stopped
        /// It has finished, and no image failed.
        case done
        /// It has finished, and some image failed.
        case failed
        /// It was cancelled.
        case cancelled
    }

    /// The job's name.
    public let name: String
    /// The state of the job.
    public internal(set) var state = State.stopped
    /// Why the job waits; nil if it does not.
    public internal(set) var wait: JobWait?
    /// The number of images in its plan, including invalid entries.
    public internal(set) var total: Int
    /// The number of finished images, including failed ones.
    public internal(set) var finished = 0
    /// The number of failed images.
    public internal(set) var failed = 0
    /// The number of bytes fetched.
    public internal(set) var bytesFetched = 0
    /// The exit status; nil if the job has not finished.
    public internal(set) var exitStatus: Int32?
    /// The process that works on the job; nil for none.
    public internal(set) var process: Int32?

    /// The status of a job after these events. `isRunning`: a process works on it.
    init(_ name: String, _ plan: JobPlan, _ events: [JobEvent], isRunning: Bool) {
        self.name = name
        total = plan.items.count + plan.rejected
        var failedBy: [Int: Bool] = [:]
        for event in events {
            switch event {
            case .started(let process, _): (self.process, wait, exitStatus) = (process, nil, nil)
            case .waiting(let wait): self.wait = wait
            case .result(let result):
                failedBy[result.index] = result.error != nil
                if result.isFetched { bytesFetched += result.bytes ?? 0 }
            case .ended(let status, _): exitStatus = status
            case .stopped: break
            }
        }
        finished = failedBy.count + plan.rejected
        failed = failedBy.values.count { $0 } + plan.rejected
        if isRunning {
            state = wait == nil ? .running : .waiting
            exitStatus = nil
            return
        }
        (wait, process) = (nil, nil)
        state =
            switch exitStatus {
            case nil: .stopped
            case 0: .done
            case 130: .cancelled
            default: .failed
            }
    }
}

/// An event of a background job.
public enum JobEvent: Sendable, Hashable {
    /// A process has begun to work on the job. `time` is in seconds since 1970.
    case started(process: Int32, time: Double)
    /// The job waits for something; nil: it no longer waits.
    case waiting(JobWait?)
    /// One image is done, or has failed. After a resumption a failed image may have a second result, which replaces the
    /// first.
    case result(JobResult)
    /// The job has finished. 0: all done; 1: some failed; 2: all failed; 130: cancelled.
    case ended(status: Int32, time: Double)
    /// The process ended without a final status: it was killed, or the machine stopped.
    case stopped
}

/// Why a background job waits.
public enum JobWait: String, Sendable, Hashable, Codable, CaseIterable {
    /// There is no network.
    case network
    /// The network is a mobile network, which the plan refuses.
    case otherNetwork = "other-network"
    /// Memory is short.
    case memory
}

/// The result of one image of a background job.
public struct JobResult: Sendable, Hashable, Codable {
    /// The error of a failed image.
    public struct Failure: Sendable, Hashable, Codable {
        /// The code of the `ImageLoadingError`.
        public let code: String
        /// One line for people.
        public let message: String
    }

    /// The index of the image in the plan, from 0.
    public let index: Int
    /// Its URL, without credentials.
    public let url: String
    /// The source of the file (`LoadedFile.Source`), or `failed`.
    public let outcome: String
    /// The status of the answer.
    public private(set) var status: Int?
    /// The file's size.
    public private(set) var bytes: Int?
    /// `jpeg`, `png`, ...
    public private(set) var format: String?
    /// In pixels.
    public private(set) var width: Int?
    /// In pixels.
    public private(set) var height: Int?
    /// From the transfer's start, in milliseconds.
    public let milliseconds: Double
    /// How long it waited for slots, in milliseconds.
    public let queued: Double
    /// What the file lacks; nil for a whole one.
    public private(set) var damage: String?
    /// The SHA-256 of the file, if the job wants checksums.
    public private(set) var sha256: String?
    /// Why it failed.
    public private(set) var error: Failure?

    /// Whether the file was fetched from a server.
    public var isFetched: Bool {
        [LoadedFile.Source.network, .resumed].contains { "\($0)" == outcome }
    }

    /// Nil for an image that was decoded already: a job fills the disk.
    init?(
        _ result: Prewarmer.ItemResult, index: Int, wantsChecksum: Bool,
        explain: (ImageLoadingError) -> String
    ) {
        self.index = index
        url = result.request.url.displayText
        let timing = LoadTiming(total: result.duration, queued: result.queued)
        milliseconds = timing.own / .milliseconds(1)
        queued = timing.queued / .milliseconds(1)
        switch result.outcome {
        case .alreadyDecoded: return nil
        case .alreadyCached(let file), .fetched(let file):
            outcome = "\(file.source)"
            status = file.status
            bytes = file.bytes.count
            format = file.header?.format.name
            width = file.header?.size?.width
            height = file.header?.size?.height
            damage = file.damage?.description
            sha256 = wantsChecksum ? file.bytes.checksum : nil
        case .failed(let error):
            outcome = "failed"
            if case .httpStatus(_, let status) = error { self.status = status }
            self.error = Failure(code: error.code, message: explain(error))
        }
    }
}

/// The errors of background jobs.
public enum BackgroundJobsError: Error, Sendable, Hashable {
    /// Names are 1 to 64 letters, digits, `.`, `_` and `-`, and begin with a letter or digit.
    case invalidName(String)
    /// A job with this name is running.
    case running(name: String)
    /// A job with this name exists, but is not running.
    case exists(name: String)
    /// There is no job with this name.
    case notFound(name: String)
    /// The job is not running, so it cannot be cancelled.
    case notRunning(name: String)
    /// All images are done: there is nothing to resume.
    case complete(name: String)
    /// The job was started with these secrets, which are not stored: pass them again.
    case secretsMissing(name: String, secrets: [String])
    /// The job's process ended before it began to work.
    case notStarted(name: String, reason: String)
    /// The folder of the jobs cannot be read or written.
    case storageFailed(path: String, reason: String)

    /// A short, stable name for programs.
    public var code: String {
        switch self {
        case .invalidName: "invalid-name"
        case .running: "job-running"
        case .exists: "job-exists"
        case .notFound: "no-such-job"
        case .notRunning: "job-not-running"
        case .complete: "job-complete"
        case .secretsMissing: "secrets-missing"
        case .notStarted: "job-not-started"
        case .storageFailed: "state-failed"
        }
    }
}

extension BackgroundJobsError: CustomStringConvertible, LocalizedError {
    /// As `description`.
    public var errorDescription: String? { description }

    /// One line for people.
    public var description: String {
        switch self {
        case .invalidName(let name):
            "\"\(name)\" is not a valid job name: use up to 64 letters, digits, '.', '_' and '-', a letter or digit first"
        case .running(let name): "job \(name) is running"
        case .exists(let name): "job \(name) exists, but is not running"
        case .notFound(let name): "there is no job \(name)"
        case .notRunning(let name): "job \(name) is not running"
        case .complete(let name): "job \(name) is complete: there is nothing to resume"
        case .secretsMissing(let name, let secrets):
            "job \(name) was started with \(secrets.joined(separator: " and ")), which is not stored: pass it again"
        case .notStarted(let name, let reason): "job \(name) did not start: \(reason)"
        case .storageFailed(let path, let reason): "the jobs' folder \(path) cannot be used: \(reason)"
        }
    }
}
