import BackgroundTransfers
import FoundationEssentials
import LazyImages
import SystemSupport

/// `marquee jobs`: shows and controls prewarms in the background.
enum JobsCommand: Command {
    static let specification = CommandSpecification(
        name: "jobs", operands: "[attach|wait|cancel|resume|remove NAME]", operandCount: 0...2,
        summary: "show and control prewarms in the background",
        examples: [
            ("marquee prewarm list.txt --detach", "start a job; it outlives the terminal"),
            ("marquee jobs", "list the jobs and their progress"),
            ("marquee jobs attach night", "show its progress; Ctrl-C leaves it running"),
            ("marquee jobs wait night && echo done", "wait for its end and return its exit status"),
            ("marquee jobs cancel night", "end it; fetched images stay in the cache"),
            ("marquee jobs resume night", "continue after a cancel, a kill or a reboot"),
            ("marquee jobs remove night", "remove its record; the cache keeps the images"),
        ])

    static func run(_ session: Session) async throws -> ExitStatus {
        let words = session.arguments.operands
        do {
            guard let action = words.first else { return try list(session) }
            guard ["attach", "wait", "cancel", "resume", "remove"].contains(action) else {
                throw UsageError("unknown action \"\(action)\"; use attach, wait, cancel, resume or remove")
            }
            guard words.count == 2 else {
                throw UsageError("jobs \(action) needs a job's NAME; marquee jobs lists them")
            }
            return try await act(action, words[1], session)
        } catch let error as BackgroundJobsError {
            throw Failure(error, of: words.first)
        }
    }

    private static func list(_ session: Session) throws(BackgroundJobsError) -> ExitStatus {
        let jobs = try BackgroundJobs.ofMarquee.list()
        if jobs.isEmpty { session.output.notice("there are no jobs; marquee prewarm --detach starts one") }
        if session.settings.wantsJSON {
            session.output.jsonArray(count: jobs.count) { JobRecord(jobs[$0]) }
        } else {
            for job in jobs { session.output.line(job.line) }
        }
        return .done
    }

    private static func act(_ action: String, _ name: String, _ session: Session) async throws -> ExitStatus {
        let jobs = BackgroundJobs.ofMarquee
        switch action {
        case "attach": return try await attach(try jobs.job(name), session)
        case "wait":
            let job = try jobs.job(name)
            let status = await job.completion()
            return try ended(job, status, session)
        case "cancel":
            let job = try jobs.job(name)
            try job.cancel()
            _ = await job.completion()
            try say(job, session)
            return .done
        case "resume":
            let settings = try JobSettings(session)
            let job = try jobs.resume(
                name, secrets: settings.secrets.bytes, secretNames: settings.secrets.names,
                by: JobSettings.command)
            try say(job, session)
            return .done
        default:
            try jobs.remove(name)
            return .done
        }
    }

    /// Prints a job: an object for programs, or a line for people, which is left out if the output is quiet.
    /// - Parameter line: Default: the job's state.
    static func say(_ job: BackgroundJob, _ session: Session, line: String? = nil) throws {
        if session.settings.wantsJSON {
            session.output.json(JobRecord(try job.status))
        } else if !session.output.isQuiet {
            session.output.line(try line ?? job.status.line)
        }
    }

    /// Shows the job's results so far and its progress, as `prewarm` does.
    private static func attach(_ job: BackgroundJob, _ session: Session) async throws -> ExitStatus {
        let plan = try job.plan
        // Ignored: an invalid address is shown as typed.
        let urls = plan.items.map { (try? URL(typed: $0.url))?.displayText ?? $0.url }
        let before = try job.status.bytesFetched
        let received = Lock(before)
        // The results have only whole images. The job's process tells the bytes as they arrive; those received before
        // this do not count in the bar's rate.
        let report = BatchReport(session, isBarEnough: true)
        report.beginProgress(
            total: { urls.count },
            traffic: {
                var traffic = job.traffic ?? NetworkActivity.Traffic()
                traffic.received = max(traffic.received, received.withLock { $0 })
                return traffic
            })
        var summary = JobSummary()
        for await event in job.events {
            summary.record(event)
            switch event {
            case .result(let result):
                let bytes = max(before, summary.bytesFetched)
                received.withLock { $0 = bytes }
                report.add(FetchRecord(result), index: result.index)
            case .waiting(let wait?): session.output.notice("job \(job.name) is \(wait.text)")
            case .started, .waiting, .ended, .stopped: break
            }
        }
        if Task.isCancelled {
            report.endProgress()
            session.output.failure(
                "job \(job.name) keeps running; marquee jobs attach \(job.name) shows it, marquee jobs cancel \(job.name) ends it"
            )
            return .interrupted
        }
        PrewarmCommand.finish(
            report, summary.counts(of: plan), urls, unreadable: plan.rejected, duration: summary.duration,
            isData: true, session)
        return try ended(job, summary.status, session)
    }

    /// The exit status of a job; a message if it has none.
    private static func ended(_ job: BackgroundJob, _ status: Int32?, _ session: Session) throws
        -> ExitStatus
    {
        if Task.isCancelled { return .interrupted }
        guard let status else {
            throw Failure(
                "job \(job.name) was stopped before its end; continue with marquee jobs resume \(job.name)",
                code: "job-stopped")
        }
        return ExitStatus(job: status)
    }
}

/// The results of a job's images, from its events.
struct JobSummary {
    private var results: [Int: JobResult] = [:]
    /// When the present run began, or the run that was killed, in seconds since 1970.
    private var started: Double?
    /// The time of its runs in seconds; nil after one was killed.
    private var seconds: Double? = 0
    /// Its exit status; nil until it has ended.
    private(set) var status: Int32?
    private(set) var bytesFetched = 0

    mutating func record(_ event: JobEvent) {
        switch event {
        case .started(_, let time):
            if started != nil { seconds = nil }
            (started, status) = (time, nil)
        case .ended(let status, let time):
            self.status = status
            seconds = seconds.map { $0 + max(0, time - (started ?? time)) }
            started = nil
        case .result(let result):
            results[result.index] = result
            if result.isFetched { bytesFetched += result.bytes ?? 0 }
        case .waiting, .stopped: break
        }
    }

    /// The time of all runs; nil if it is unknown, because one was killed.
    var duration: Duration? { started == nil ? seconds.map { .seconds($0) } : nil }

    func counts(of plan: JobPlan) -> Prewarmer.Summary {
        var summary = Prewarmer.Summary()
        for result in results.values {
            if result.error != nil {
                summary.failed += 1
            } else if result.isFetched {
                summary.fetched += 1
            } else {
                summary.alreadyCached += 1
                if result.outcome == "revalidated" { summary.revalidated += 1 }
            }
        }
        summary.bytesFetched = bytesFetched
        summary.cancelled = plan.items.count - results.count
        return summary
    }
}

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

extension BackgroundJobs {
    /// The jobs of `marquee`, whatever its file is called.
    static var ofMarquee: BackgroundJobs { BackgroundJobs(folder: folder(named: "marquee")) }
}
