import Foundation
import LazyImages

/// Loads images that fail in every way, prints what the loads leave in this process, and exits with 1 if that is more
/// than nothing. `Tests/Faults/failing-loads.sh` starts it with its server, `Tests/Faults/failing-origin.py`.
@main
struct FailingLoads {
    /// The loads of one round, and how many of them run at once.
    private static let loadsOfRound = 1_000
    private static let loadsAtOnce = 32
    /// The rounds until the allocator has its blocks: after them only a leak grows.
    private static let firstRounds = 2
    /// The limit for bodies in memory, in bytes. `full.jpg` needs nearly all of it.
    private static let memoryForBodies = 8 << 20
    /// The most growth in MiB: by 120 truncated pictures, and by all rounds after the first ones.
    private static let growthByPreviews = 30
    private static let growthByRounds = 8

    static func main() async throws {
        let arguments = CommandLine.arguments
        guard arguments.count == 4, let rounds = Int(arguments[3]), rounds > 0 else {
            print("usage: FailingLoads SERVER REFUSING-SERVER ROUNDS")
            exit(2)
        }
        let server = Server(address: arguments[1], refusing: arguments[2])
        let leavesNothing = [
            try await loadWithPreviews(server), try await loadInEveryWay(server, rounds: rounds),
        ]
        exit(leavesNothing.allSatisfy { $0 } ? 0 : 1)
    }

    /// 120 truncated pictures whose previews are read, between two good ones.
    private static func loadWithPreviews(_ server: Server) async throws -> Bool {
        var configuration = ImageDownloader.Configuration()
        configuration.retry = .never
        let loader = ImageLoader.ephemeral(configuration: configuration)
        var good = [await loader.imageTask(with: try server.request("good.jpg", 1)).outcome]
        let before = ProcessFigures.now
        var previews = 0
        var outcomes: [String: Int] = [:]
        for number in 0..<120 {
            let name = number.isMultiple(of: 2) ? "long-progressive.jpg" : "long-baseline.jpg"
            let task = loader.imageTask(with: try server.request(name, number))
            for await _ in task.previews { previews += 1 }
            outcomes[await task.outcome, default: 0] += 1
        }
        let after = ProcessFigures.now
        good.append(await loader.imageTask(with: try server.request("good.jpg", 2)).outcome)
        print("120 truncated pictures of 1.4 MB, \(previews) previews read: \(text(outcomes))")
        print("    memory: \(before.memory) MiB before, \(after.memory) MiB after")
        print("    a good picture before and after them: \(good.joined(separator: ", "))")
        return outcomes == ["truncated": 120] && previews > 0 && good == ["loaded", "loaded"]
            && after.memory - before.memory <= growthByPreviews
    }

    /// Rounds of loads that fail in every way, all by one loader.
    private static func loadInEveryWay(_ server: Server, rounds: Int) async throws -> Bool {
        let before = await ProcessFigures.settled()
        let (outcomes, memory, isBudgetFree) = try await loadRounds(server, rounds)
        let after = await ProcessFigures.settled(within: before)
        print("\(rounds * loadsOfRound) loads, previews and progress read or abandoned: \(text(outcomes))")
        print("    memory: \(memory.before) MiB before, \(memory.after) MiB after")
        print("    threads: \(before.threads) before, \(after.threads) after")
        print("    descriptors: \(before.descriptors) before, \(after.descriptors) after")
        print("    after each \(loadsOfRound) a body had all of the memory for bodies: \(isBudgetFree)")
        let codes = Set(Failure.allCases.map(\.code))
        return isBudgetFree && codes.isSubset(of: outcomes.keys) && outcomes["loaded"] == nil
            && after.threads <= before.threads && after.descriptors <= before.descriptors
            && memory.after - memory.before <= growthByRounds
    }

    /// - Returns: how many loads had each outcome; the memory after the first rounds and after all; and whether all of
    ///   the memory for bodies was free after each round. Nothing retains the loader then.
    private static func loadRounds(
        _ server: Server, _ rounds: Int
    ) async throws -> (outcomes: [String: Int], memory: (before: Int, after: Int), isBudgetFree: Bool) {
        var configuration = ImageDownloader.Configuration()
        configuration.retry = .never
        configuration.transfers = loadsAtOnce
        configuration.transfersPerHost = loadsAtOnce
        configuration.memoryForBodies = memoryForBodies
        configuration.timeouts.firstByte = .milliseconds(500)
        configuration.timeouts.stall = .milliseconds(500)
        let loader = ImageLoader.ephemeral(configuration: configuration)
        var outcomes: [String: Int] = [:]
        var before = 0
        var isBudgetFree = true
        for round in 0..<firstRounds + rounds {
            if round == firstRounds { before = ProcessFigures.now.memory }
            let numbers = round * loadsOfRound..<(round + 1) * loadsOfRound
            let ofRound = try await load(numbers, by: loader, server)
            if round >= firstRounds { outcomes.merge(ofRound, uniquingKeysWith: +) }
            isBudgetFree = try await hasFreeBudget(loader, server, round)
            if !isBudgetFree { break }
        }
        return (outcomes, (before, ProcessFigures.now.memory), isBudgetFree)
    }

    /// - Returns: how many loads had each outcome.
    private static func load(
        _ numbers: Range<Int>, by loader: ImageLoader, _ server: Server
    ) async throws -> [String: Int] {
        try await withThrowingTaskGroup(of: String.self) { group in
            var outcomes: [String: Int] = [:]
            for (index, number) in numbers.enumerated() {
                if index >= loadsAtOnce, let outcome = try await group.next() {
                    outcomes[outcome, default: 0] += 1
                }
                group.addTask { try await FailingLoad(number: number).run(loader, server) }
            }
            for try await outcome in group { outcomes[outcome, default: 0] += 1 }
            return outcomes
        }
    }

    /// Whether a picture loads that needs nearly all of the memory for bodies.
    private static func hasFreeBudget(
        _ loader: ImageLoader, _ server: Server, _ round: Int
    ) async throws -> Bool {
        let request = try server.request("full.jpg", round)
        // A cancelled transfer ends a little after its caller has left.
        for _ in 0..<300 {
            if await loader.imageTask(with: request).outcome == "loaded" { return true }
            try await Task.sleep(for: .milliseconds(100))
        }
        return false
    }

    /// `truncated 60, cancelled 40`
    private static func text(_ outcomes: [String: Int]) -> String {
        outcomes.sorted { $0.key < $1.key }.map { "\($0.key) \($0.value)" }.joined(separator: ", ")
    }
}

/// How a load fails.
private enum Failure: CaseIterable {
    case truncatedProgressive, truncatedBaseline, refused, cancelledAtOnce, cancelledMidway, noImage, silent,
        stalled,
        missing

    /// The code of its error.
    var code: String {
        switch self {
        case .truncatedProgressive, .truncatedBaseline: "truncated"
        case .refused: "connection-failed"
        case .cancelledAtOnce, .cancelledMidway: "cancelled"
        case .noImage: "not-an-image"
        case .silent, .stalled: "timed-out"
        case .missing: "http-status"
        }
    }

    /// The server's path that fails so.
    var path: String {
        switch self {
        case .truncatedProgressive: "short-progressive.jpg"
        case .truncatedBaseline: "short-baseline.jpg"
        case .refused: "good.jpg"
        case .cancelledAtOnce, .cancelledMidway, .stalled: "stalled.jpg"
        case .noImage: "page.html"
        case .silent: "silent.jpg"
        case .missing: "missing.jpg"
        }
    }
}

/// What a program reads of a load.
private enum Reading: CaseIterable {
    case nothing, allPreviews, firstPreview, allProgress, firstProgress, both
    /// It makes the sequences and never reads them.
    case abandoned

    func read(_ task: ImageTask) async {
        switch self {
        case .nothing: break
        case .allPreviews: for await _ in task.previews {}
        case .firstPreview: for await _ in task.previews { break }
        case .allProgress: for await _ in task.progress {}
        case .firstProgress: for await _ in task.progress { break }
        case .both:
            async let previews: Void = Reading.allPreviews.read(task)
            async let progress: Void = Reading.allProgress.read(task)
            _ = await (previews, progress)
        case .abandoned: _ = (task.previews, task.progress)
        }
    }
}

/// One load. Its number says how it fails and what is read of it.
private struct FailingLoad {
    let number: Int

    private var failure: Failure { Failure.allCases[number % Failure.allCases.count] }

    private var reading: Reading {
        Reading.allCases[number / Failure.allCases.count % Reading.allCases.count]
    }

    /// Loads, and returns the code of the error.
    func run(_ loader: ImageLoader, _ server: Server) async throws -> String {
        let request = try server.request(failure.path, number, isRefused: failure == .refused)
        let task = loader.imageTask(with: request)
        async let read: Void = reading.read(task)
        if failure == .cancelledAtOnce { task.cancel() }
        if failure == .cancelledMidway {
            for await progress in task.progress where progress.received > 0 { task.cancel() }
        }
        let outcome = await task.outcome
        await read
        return outcome
    }
}

/// The server of the script.
private struct Server {
    let address: String
    /// Refuses every connection.
    let refusing: String

    /// A small picture, which decodes fast.
    func request(_ path: String, _ number: Int, isRefused: Bool = false) throws -> ImageRequest {
        ImageRequest(
            "\(isRefused ? refusing : address)\(path)?\(number)", targetSize: ImageSize(width: 62, height: 93)
        )
    }
}

extension ImageTask {
    /// `loaded`, or the code of the error.
    fileprivate var outcome: String {
        get async {
            do throws(ImageLoadingError) {
                _ = try await value
                return "loaded"
            } catch {
                return error.code
            }
        }
    }
}

/// What this process has of the system.
private struct ProcessFigures {
    /// The memory in use (VmRSS), in MiB.
    let memory: Int
    /// The threads, without those of the pool that runs Swift's tasks: their number varies.
    let threads: Int
    let descriptors: Int

    static var now: ProcessFigures {
        let line = text("/proc/self/status").split(separator: "\n").first { $0.hasPrefix("VmRSS:") }
        // The pool's threads are named after its queues: com.apple.root.default-qos.
        let threads = entries("/proc/self/task").filter {
            !text("/proc/self/task/\($0)/comm").contains("qos")
        }
        return ProcessFigures(
            memory: (line.flatMap { Int($0.filter(\.isNumber)) } ?? 0) / 1024, threads: threads.count,
            descriptors: entries("/proc/self/fd").count)
    }

    /// The figures once the threads and connections of a released loader have ended, a little after it. Waits until
    /// the counts have not changed for two seconds and are within `limit`, at most 30 s.
    static func settled(within limit: ProcessFigures? = nil) async -> ProcessFigures {
        var (last, same) = (now, 0)
        for _ in 0..<300 {
            // Ignored: nobody cancels this task.
            try? await Task.sleep(for: .milliseconds(100))
            let next = now
            same = next.threads == last.threads && next.descriptors == last.descriptors ? same + 1 : 0
            last = next
            let isWithin =
                limit.map { last.threads <= $0.threads && last.descriptors <= $0.descriptors } ?? true
            if same >= 20, isWithin { break }
        }
        return last
    }

    // Ignored: an ended thread has no text, and a missing folder no entries.
    private static func text(_ path: String) -> String {
        (try? String(contentsOfFile: path, encoding: .utf8)) ?? ""
    }

    private static func entries(_ path: String) -> [String] {
        (try? FileManager.default.contentsOfDirectory(atPath: path)) ?? []
    }
}
