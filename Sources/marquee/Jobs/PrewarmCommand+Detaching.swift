import BackgroundTransfers
import FoundationEssentials
import LazyImages

extension PrewarmCommand {
    /// Starts a job that fills the cache from the list, and returns.
    static func detach(_ list: List, _ session: Session) throws -> ExitStatus {
        let settings = try JobSettings(session)
        var items: [JobPlan.Item] = []
        for (request, sendsFields) in list.requests {
            guard request.fields == (sendsFields ? session.settings.fields : HeaderFields()) else {
                throw Failure(
                    "\(request.url.displayText): its address holds a password, which a job would store; give it with --credentials-file",
                    code: "credentials-in-address")
            }
            items.append(
                JobPlan.Item(
                    url: request.url.absoluteString, checksum: request.checksum, sendsFields: sendsFields))
        }
        let plan = JobPlan(
            items, settings: settings.stored, secretNames: settings.secrets.names, rejected: list.rejected,
            refusesCellular: session.arguments.has("no-cellular"))
        let jobs = BackgroundJobs()
        let job: BackgroundJob
        do {
            let name = try session.arguments.value("name") ?? freeName(session, jobs)
            job = try jobs.start(
                plan, named: name, secrets: settings.secrets.bytes, by: JobSettings.command)
        } catch let error as BackgroundJobsError {
            throw Failure(error)
        }
        if session.settings.wantsJSON {
            session.output.json(JobRecord(try job.status))
        } else if !session.output.isQuiet {
            let count = plan.items.count
            session.output.line(
                "job \(job.name)  \(count.grouped) image\(count == 1 ? "" : "s")   marquee jobs attach \(job.name)"
            )
        }
        return .done
    }

    /// A name that no job has: the manifest's, with a number if needed.
    private static func freeName(_ session: Session, _ jobs: BackgroundJobs) throws(BackgroundJobsError)
        -> String
    {
        let operand = session.arguments.operands.first ?? ""
        let file = operand.split(separator: "/").last.map { $0.prefix { !"?#".contains($0) } } ?? ""
        let stem = file.lastIndex(of: ".").map { file[..<$0] } ?? file
        let plain = stem.filter { $0.isASCII && ($0.isLetter || $0.isNumber || $0 == "-" || $0 == "_") }
            .prefix(48)
        let name = BackgroundJobs.isName(String(plain)) ? String(plain) : "prewarm"
        let taken = Set(try jobs.list().map(\.name))
        var number = 1
        var free = name
        while taken.contains(free) {
            number += 1
            free = "\(name)-\(number)"
        }
        return free
    }
}

extension Failure {
    /// Why a job command failed, and what to do.
    /// - Parameter action: the word after `marquee jobs`; nil if a job was to start.
    init(_ error: BackgroundJobsError, of action: String? = nil) {
        let advice: String? =
            switch error {
            case .running(let name) where action == "remove":
                "end it first with marquee jobs cancel \(name)"
            case .running(let name) where action != nil: "follow it with marquee jobs attach \(name)"
            case .running(let name):
                "follow it with marquee jobs attach \(name), or give another name with --name"
            case .exists(let name):
                "continue with marquee jobs resume \(name), or remove it with marquee jobs remove \(name)"
            case .notFound: "marquee jobs lists them"
            case .notRunning(let name): "remove it with marquee jobs remove \(name)"
            case .complete(let name): "see its results with marquee jobs attach \(name)"
            case .storageFailed: "set XDG_STATE_HOME to a writable folder"
            case .invalidName, .secretsMissing, .notStarted: nil
            }
        self.init(advice.map { "\(error); \($0)" } ?? "\(error)", code: error.code)
    }
}
