import FoundationEssentials
import Glibc
import SystemSupport

/// The program that works on a background job. It must make a ``JobProcess`` as soon as it starts. The simplest is the
/// same program with another argument:
///
///     JobCommand("/proc/self/exe", ["myprogram", "job-process"])
public struct JobCommand: Sendable {
    /// The absolute path of the program.
    public var executable: String
    /// Its arguments, the program's name first. All users of the machine can read them.
    public var arguments: [String]
    /// Its environment. Other processes of this user can read it: pass no secrets.
    public var environment: [String: String]

    /// A program. Default environment: this process's.
    public init(_ executable: String, _ arguments: [String], environment: [String: String]? = nil) {
        (self.executable, self.arguments) = (executable, arguments)
        self.environment = environment ?? ProcessInfo.processInfo.environment
    }

    /// Starts the program as a new process, and returns when it works on the job. Blocks.
    /// - Parameter lock: the job's lock, which the new process keeps.
    func start(_ folder: JobFolder, _ lock: borrowing Descriptor, secrets: [UInt8])
        throws(BackgroundJobsError)
    {
        let answer: [UInt8]
        do {
            let null = try folder.calls.openForReading(path: "/dev/null")
            let parent = try folder.calls.openFolder(folder.path)
            let log = try folder.calls.openForAppending(JobFolder.log, in: parent)
            let ends = try SessionProcess.socketPair()
            let connection = Descriptor(ends.own)
            do {
                let other = Descriptor(ends.other)
                try SessionProcess.start(
                    executable, arguments, environment: environment,
                    descriptors: [null.number, log.number, log.number, other.number, lock.number])
            }
            let message = try JSONEncoder().encode(JobMessage(folder: folder.path, secrets: Data(secrets)))
            // Ignores a failure: then there is no answer either.
            _ = SessionProcess.sendAll([UInt8](message), to: connection)
            answer = SessionProcess.receiveAll(connection)
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

/// The starter's message to the job's process, on descriptor 3, as JSON. The process answers with `begun`, or with the
/// reason why it cannot begin.
struct JobMessage: Codable {
    static let begun = [UInt8(ascii: "+")]
    /// The descriptors that the process inherits.
    static let (connection, lock): (Int32, Int32) = (3, 4)

    let folder: String
    let secrets: Data
}
