import BackgroundTransfers
import LazyImages

/// A job, for programs. `JSONHelp` lists its members.
struct JobRecord: Encodable, Sendable {
    let name: String
    let state: String
    let total: Int
    let done: Int
    let failed: Int
    let status: Int?
    let process: Int?

    init(_ job: JobStatus) {
        name = job.name
        state = job.wait.map { "waiting-\($0.rawValue)" } ?? job.state.rawValue
        (total, done, failed) = (job.total, job.finished, job.failed)
        status = job.exitStatus.map(Int.init)
        process = job.process.map(Int.init)
    }
}

extension JobStatus {
    /// `job night  waiting for the network  12 of 4,000 images, 1 failed`
    var line: String {
        let failures = failed > 0 ? ", \(failed) failed" : ""
        return "job \(name)  \(stateText)  \(finished.grouped) of \(total.grouped) images\(failures)"
    }

    /// The job's state, and what can be done.
    private var stateText: String {
        if let wait { return wait.text }
        return switch state {
        case .stopped, .cancelled: "\(state.rawValue) (marquee jobs resume \(name))"
        default: state.rawValue
        }
    }
}

extension JobWait {
    var text: String {
        switch self {
        case .network: "waiting for the network"
        case .otherNetwork: "waiting for a network that is not cellular"
        case .memory: "waiting for memory"
        }
    }
}

extension Int {
    /// `4,000`: a number with a comma after every three digits.
    var grouped: String {
        let digits = Array(String(magnitude))
        let groups = digits.indices.map { index in
            (index > 0 && (digits.count - index) % 3 == 0 ? "," : "") + String(digits[index])
        }
        return (self < 0 ? "-" : "") + groups.joined()
    }
}
