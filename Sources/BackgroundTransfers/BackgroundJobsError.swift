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

extension BackgroundJobsError: CustomStringConvertible {
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
