import FoundationEssentials
import Glibc
import SystemSupport

/// The program that works on a background job: it must make a `JobProcess` as soon as it begins. The simplest is the own
/// program with a word that tells it so.
///
///     JobCommand("/proc/self/exe", ["myprogram", "job-process"])
public struct JobCommand: Sendable {
    /// The absolute path of the program.
    public var executable: String
    /// Its arguments, its own name first. Every user of the machine can read them.
    public var arguments: [String]
    /// Its environment. Other processes of this user can read it: no secrets.
    public var environment: [String: String]

    /// A program. Its environment is this process's own unless told.
    public init(_ executable: String, _ arguments: [String], environment: [String: String]? = nil) {
        (self.executable, self.arguments) = (executable, arguments)
        self.environment = environment ?? ProcessInfo.processInfo.environment
    }

    /// Starts the program as a process of its own, and returns when it works on the job. Blocks.
    /// - Parameter lock: the job's lock, which the process keeps.
    func start(_ folder: JobFolder, _ lock: borrowing Descriptor, secrets: [UInt8])
        throws(BackgroundJobsError)
    {
        let answer: [UInt8]
        do {
            let nothing = try folder.calls.openForReading(path: "/dev/null")
            let parent = try folder.calls.openFolder(folder.path)
            let log = try folder.calls.openForAppending(JobFolder.log, in: parent)
            let ends = try SessionProcess.connection()
            let line = Descriptor(ends.own)
            do {
                let other = Descriptor(ends.other)
                try SessionProcess.start(
                    executable, arguments, environment: environment,
                    descriptors: [nothing.number, log.number, log.number, other.number, lock.number])
            }
            let message = try JSONEncoder().encode(JobMessage(folder: folder.path, secrets: Data(secrets)))
            // Who does not hear it does not answer either.
            _ = SessionProcess.say([UInt8](message), to: line)
            answer = SessionProcess.hear(line)
        } catch let error as FileFault {
            throw .notStarted(name: folder.name, reason: error.explanation)
        } catch {
            throw .notStarted(name: folder.name, reason: "\(error)")
        }
        if answer == JobMessage.begun { return }
        let reason = String(decoding: answer, as: UTF8.self)
        throw .notStarted(
            name: folder.name,
            reason: reason.isEmpty ? "its process ended; see \(folder.path)/\(JobFolder.log)" : reason)
    }
}

/// What a job's process is told at its start, on its descriptor 3, as JSON. It answers with `begun`, or with why it cannot.
struct JobMessage: Codable {
    static let begun = [UInt8(ascii: "+")]
    /// The descriptors that the process has from its starter.
    static let (line, lock): (Int32, Int32) = (3, 4)

    let folder: String
    let secrets: Data
}
