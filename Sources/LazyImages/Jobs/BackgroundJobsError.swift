/// What stands in the way of a background job.
public enum BackgroundJobsError: Error, Sendable, Hashable {
    /// Names are 1 to 64 letters, digits, `.`, `_` and `-`, and begin with a letter or digit.
    case invalidName(String)
    /// A job of this name is running.
    case running(name: String)
    /// There is a job of this name that does not run.
    case exists(name: String)
    /// There is no job of this name.
    case notFound(name: String)
    /// The job does not run, so it cannot be cancelled.
    case notRunning(name: String)
    /// All images are done: there is nothing to resume.
    case complete(name: String)
    /// The job was started with these secrets, which are stored nowhere: they must be given again.
    case secretsMissing(name: String, secrets: [String])
    /// The job's process ended before it began.
    case notStarted(name: String, reason: String)
    /// The state folder cannot be read or written.
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
            "\"\(name)\" is no name for a job: use up to 64 letters, digits, '.', '_' and '-', a letter or digit first"
        case .running(let name): "job \(name) is running"
        case .exists(let name): "there is a job \(name) already, which does not run"
        case .notFound(let name): "there is no job \(name)"
        case .notRunning(let name): "job \(name) does not run"
        case .complete(let name): "job \(name) is complete: there is nothing to resume"
        case .secretsMissing(let name, let secrets):
            "job \(name) was started with \(secrets.joined(separator: " and ")), which is stored nowhere: give it again"
        case .notStarted(let name, let reason): "job \(name) did not start: \(reason)"
        case .storageFailed(let path, let reason): "the state of jobs cannot be kept in \(path): \(reason)"
        }
    }
}
