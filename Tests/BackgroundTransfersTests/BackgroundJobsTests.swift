import FoundationEssentials
import Glibc
import SystemSupport
import TestSupport
import TestTraits
import Testing

import LazyImages

@testable import BackgroundTransfers

@Suite("Background jobs", .bounded)
struct BackgroundJobsTests {
    private let folder: TemporaryFolder
    private let jobs: BackgroundJobs

    init() throws {
        folder = try TemporaryFolder()
        jobs = BackgroundJobs(folder: folder.file("state/jobs"))
    }

    private let plan = JobPlan([JobPlan.Item(url: "https://example.org/a.png")])

    /// A job without a process.
    private func makeJob(_ name: String) throws -> JobFolder {
        try FileCalls().makeFolders(jobs.folder)
        let job = JobFolder(name, in: jobs.folder)
        let lock = try job.make(plan, in: try FileCalls().openFolder(jobs.folder))
        // Unlocks before it closes: a starting program of another test may have a duplicate of the descriptor
        // for a moment.
        FileCalls().unlockWithCopies(lock)
        return job
    }

    private func append(_ text: String, to job: JobFolder) throws {
        let calls = FileCalls()
        let file = try calls.openForAppending(JobFolder.results, in: try calls.openFolder(job.path))
        try calls.write(Array(text.utf8), to: file)
    }

    @Test("a program that does not exist, or ends at once, is an error, and leaves no job")
    func notStarted() throws {
        for program in ["/nowhere/program", "/bin/true"] {
            let error = #expect(throws: BackgroundJobsError.self) {
                try jobs.start(plan, named: "a", by: JobCommand(program, ["a"]))
            }
            #expect(error?.code == "job-not-started", "\(String(describing: error))")
        }
        #expect(try jobs.list().isEmpty)
        #expect(try FileManager.default.contentsOfDirectory(atPath: jobs.folder).isEmpty)
    }

    @Test("a program's own folder has its name, so that its jobs are not among those of marquee")
    func ownFolder() {
        #expect(BackgroundJobs().folder.hasSuffix("/\(ProcessInfo.processInfo.processName)/jobs"))
    }

    @Test("an empty folder, as of an unset variable, is an error, and a relative one is made absolute")
    func emptyFolder() throws {
        let nowhere = BackgroundJobs(folder: "")
        for attempt in 0..<3 {
            let error = #expect(throws: BackgroundJobsError.self) {
                switch attempt {
                case 0: try nowhere.start(plan, named: "a", by: JobCommand("/bin/true", []))
                case 1: _ = try nowhere.list()
                default: try nowhere.remove("tmp")
                }
            }
            #expect(error?.code == "state-failed", "\(String(describing: error))")
        }
        #expect(!FileManager.default.fileExists(atPath: "/a"))
        #expect(BackgroundJobs(folder: "jobs").folder.hasPrefix("/"))
    }

    @Test("a job that could not be resumed can be removed at once, while its program still ends")
    func notResumed() throws {
        _ = try makeJob("a")
        for _ in 0..<20 {
            let error = #expect(throws: BackgroundJobsError.self) {
                try jobs.resume("a", by: JobCommand("/bin/true", ["a"]))
            }
            #expect(error?.code == "job-not-started", "\(String(describing: error))")
        }
        try jobs.remove("a")
    }

    @Test(
        "an invalid name reaches no other folder",
        arguments: ["", ".", "..", "a/b", "-a", ".a", "a b", "ä", String(repeating: "a", count: 65)])
    func names(name: String) {
        #expect(throws: BackgroundJobsError.invalidName(name)) {
            try jobs.start(plan, named: name, by: JobCommand("/bin/true", []))
        }
        #expect(throws: BackgroundJobsError.notFound(name: name)) { try jobs.remove(name) }
    }

    @Test("an incomplete last line is ignored, and lines written after it count")
    func halfLine() async throws {
        let job = try makeJob("a")
        try append(
            "{\"process\":1,\"started\":5}\n{\"result\":{\"index\":0,\"milliseconds\":1,\"outcome\":\"network\",\"queu",
            to: job)
        #expect(try job.events() == [.started(process: 1, time: 5)])
        #expect(plan.remaining(after: try job.events()) == [0])
        let recorder = try JobRecorder(job, nil)
        recorder.addNow(.ended(status: 0, time: 6))
        #expect(try job.events() == [.started(process: 1, time: 5), .ended(status: 0, time: 6)])
    }

    @Test("a job without an end is stopped; the status of its end makes it done, failed or cancelled")
    func states() throws {
        let job = try makeJob("a")
        #expect(try job.status().state == .stopped)
        try append("{\"process\":1,\"started\":5}\n{\"waiting\":\"network\"}\n", to: job)
        #expect(try job.status().state == .stopped && job.status().wait == nil && job.status().process == nil)
        for (status, state) in [(0, JobStatus.State.done), (1, .failed), (2, .failed), (130, .cancelled)] {
            try append("{\"ended\":6,\"status\":\(status)}\n", to: job)
            #expect(try job.status().state == state)
        }
        try append("{\"process\":1,\"started\":7}\n", to: job)
        let lock = try job.locked()
        #expect(try job.status().state == .running)
        #expect(throws: BackgroundJobsError.running(name: "a")) { try jobs.remove("a") }
        FileCalls().unlockWithCopies(lock)
        #expect(try jobs.list().map(\.state) == [.stopped])
        try jobs.remove("a")
        #expect(try jobs.list().isEmpty)
    }

    @Test("bytes from servers are counted, bytes from the cache are not")
    func bytes() throws {
        let job = try makeJob("a")
        for (outcome, bytes) in [("network", 5), ("resumed", 6), ("disk", 7)] {
            try append(
                "{\"result\":{\"bytes\":\(bytes),\"index\":0,\"milliseconds\":1,\"outcome\":\"\(outcome)\",\"queued\":0,\"url\":\"a\"}}\n",
                to: job)
        }
        #expect(try job.status().bytesFetched == 11)
    }

    @Test("a result is written once its file is on disk")
    func recordedAfterStore() async throws {
        let job = try makeJob("a")
        let gate = CallGate()
        let disk = DiskCache(
            folder: folder.file("cache"), limit: 1 << 20, calls: gate.calls(before: .rename))
        await disk.store([7], metadata: [], for: CacheKey(id: "a"))
        try await gate.reached()
        let recorder = try JobRecorder(job, disk)
        let writing = Task { await recorder.write {} }
        recorder.add(.waiting(.memory))
        var isEarly = false
        for _ in 0..<2000 where !isEarly {
            await Task.yield()
            isEarly = try !job.events().isEmpty
        }
        #expect(!isEarly)
        gate.open()
        recorder.finish()
        await writing.value
        #expect(try job.events() == [.waiting(.memory)])
    }

    @Test("the events finish when the process has ended")
    func events() async throws {
        let job = try makeJob("a")
        try append("{\"process\":1,\"started\":5}\n", to: job)
        let held = Lock<[JobEvent]>([])
        var lock: Descriptor? = try job.locked()
        let handle = try jobs.job("a")
        let following = Task {
            for await event in handle.events { held.withLock { $0.append(event) } }
        }
        try await eventually { held.withLock { $0.count } == 1 }
        try append("{\"waiting\":\"memory\"}\n", to: job)
        try await eventually { held.withLock { $0.count } == 2 }
        lock = nil
        await following.value
        #expect(held.withLock { $0 } == [.started(process: 1, time: 5), .waiting(.memory), .stopped])
        _ = lock
    }

    @Test("the log is bounded: it is renamed at 1 MiB")
    func log() throws {
        let job = try makeJob("a")
        let full = [UInt8](repeating: UInt8(ascii: "x"), count: JobLog.limit - 10)
        let calls = FileCalls()
        let place = try calls.openFolder(job.path)
        try calls.write(full, to: try calls.openForAppending(JobFolder.log, in: place))
        let moves = Lock(0)
        let log = JobLog(job) { _ in moves.withLock { $0 += 1 } }
        log.add("one\ntwo")
        #expect(moves.withLock { $0 } == 1)
        #expect(try calls.status(of: JobFolder.oldLog, in: place).size == full.count)
        let text = String(decoding: try calls.contents(ofPath: job.path + "/log"), as: UTF8.self)
        #expect(text.hasSuffix("Z one two\n") && text.count < 40)
    }
}
