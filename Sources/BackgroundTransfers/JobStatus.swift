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
