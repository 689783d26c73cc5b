/// How far a background job is.
public struct JobStatus: Sendable, Hashable {
    /// What a job is about.
    public enum State: String, Sendable, Hashable, CaseIterable {
        /// Its process works.
        case running
        /// Its process waits: see `wait`.
        case waiting
        /// Its process has gone without an end: it was killed, or the machine stopped.
        case stopped
        /// It has come to its end, and nothing failed.
        case done
        /// It has come to its end, and something failed.
        case failed
        /// It was cancelled.
        case cancelled
    }

    /// The job's name.
    public let name: String
    /// What it is about.
    public internal(set) var state = State.stopped
    /// What it waits for.
    public internal(set) var wait: JobWait?
    /// How many images its order has, entries that name none included.
    public internal(set) var total: Int
    /// How many of them are done, those that failed included.
    public internal(set) var finished = 0
    /// How many have failed.
    public internal(set) var failed = 0
    /// How many bytes it has fetched.
    public internal(set) var bytesFetched = 0
    /// What it ended with; nil where it has not.
    public internal(set) var exitStatus: Int32?
    /// Its process; nil where none works on it.
    public internal(set) var process: Int32?

    /// The status of a job that works on its order, if `isRunning`, after these events.
    init(_ name: String, _ order: JobOrder, _ events: [JobEvent], isRunning: Bool) {
        self.name = name
        total = order.items.count + order.rejected
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
        finished = failedBy.count + order.rejected
        failed = failedBy.values.count { $0 } + order.rejected
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
