import LazyImages
import SystemSupport

/// The work of a command on many items: items in, records out, one summary. `fetch`, `picture` and `show FOLDER` load
/// their items in a batch; `prewarm` and `jobs attach` report theirs as one.
enum Batch {
    /// An element of a list of items.
    enum Entry<Item: Sendable>: Sendable {
        case item(Item)
        /// A word that names no item.
        case failure(FetchRecord)
    }

    /// The job of one item.
    typealias Job = @Sendable () async -> FetchRecord

    /// Runs the job of each item, some at once, while the list is still being read, and reports each when it is done.
    /// Cancelling the task ends the list and the jobs.
    /// - Parameters:
    ///   - slots: the jobs at once.
    ///   - next: the next element of the list; nil at its end. A failure of its own does not end the list.
    ///   - ended: called at the end of the list.
    ///   - job: makes the job of an item. Called in the order of the list, so that file names do not depend on which
    ///     job ends first.
    static func run<Item: Sendable>(
        atOnce slots: Int, _ report: BatchReport,
        next: @escaping @Sendable () async throws(Failure) -> Entry<Item>?, ended: () async -> Void = {},
        job: (Item) -> Job
    ) async {
        await withTaskGroup(of: Step<Item>.self) { group in
            var slots = slots
            func ask() {
                if Task.isCancelled { return }
                group.addTask {
                    do throws(Failure) { return try await next().map { .next($0) } ?? .end } catch {
                        return .fault(error)
                    }
                }
            }
            ask()
            while let step = await group.next() {
                switch step {
                case .next(.item(let item)):
                    let job = job(item)
                    group.addTask { .ended(await job()) }
                    slots -= 1
                    if slots > 0 { ask() }
                case .next(.failure(let record)):
                    report.add(record)
                    ask()
                case .ended(let record):
                    report.add(record)
                    slots += 1
                    if slots == 1 { ask() }
                case .fault(let failure):
                    if Task.isCancelled { break }
                    report.add(failure)
                    ask()
                case .end: await ended()
                }
            }
        }
    }

    /// The results of a batch's tasks.
    private enum Step<Item: Sendable>: Sendable {
        case next(Entry<Item>)
        case ended(FetchRecord)
        /// The list cannot be read here.
        case fault(Failure)
        case end
    }
}

/// The words of a command line and, in place of `-`, the lines of standard input, each as soon as it arrives. One caller
/// at a time.
actor OperandWords {
    /// Nil if `-` stays as it is.
    private let input: InputLines?
    private var words: ArraySlice<String>
    private var readsInput = false

    init(_ words: ArraySlice<String>, input: InputLines? = InputLines()) {
        (self.words, self.input) = (words, input)
    }

    /// The next word; nil at the end.
    func next() async throws(Failure) -> String? {
        while true {
            if readsInput {
                do throws(Failure) {
                    if let line = try await input?.next() { return line }
                    readsInput = false
                } catch {
                    // The words after it still count. After an interruption, `rest` reads once more.
                    readsInput = Task.isCancelled
                    throw error
                }
            }
            guard let word = words.popFirst() else { return nil }
            if word != "-" || input == nil { return word }
            readsInput = true
        }
    }

    /// The remaining words as far as they are known. Does not wait.
    func rest() async -> [String] {
        var rest: [String] = readsInput ? await input?.rest() ?? [] : []
        for word in words { rest += word == "-" ? await input?.rest() ?? [] : [word] }
        return rest
    }
}

/// Reports a batch: for each item that ends an object for programs or a line for people, each failure once on standard
/// error, and meanwhile the progress. Safe for concurrent use.
final class BatchReport: Sendable {
    private struct State {
        /// The items that have ended, by their numbers.
        var ended: Set<Int> = []
        var failed: Set<Int> = []
        var failures: FailureReport
        var hasWarned = false

        /// - Parameter message: why the item failed; nil if it did not.
        mutating func end(_ index: Int, failing message: String?) {
            ended.insert(index)
            failed.remove(index)
            guard let message else { return }
            failed.insert(index)
            failures.add(message)
        }
    }

    private let session: Session
    /// What messages call each item; empty where they name its address.
    private let names: [String]
    /// Whether a person gets a line for each item.
    private let printsLines: Bool
    /// Whether a damaged picture is a warning, and the command's status says so.
    private let warnsOfDamage: Bool
    private let state: Lock<State>
    private let progress = Lock<Int?>(nil)

    /// - Parameters:
    ///   - names: what messages call each item. Default: by its address.
    ///   - isBarEnough: whether a bar on the same terminal stands for the lines.
    ///   - warnsOfDamage: whether a damaged picture is a warning. Default: only its line says so.
    init(
        _ session: Session, named names: [String] = [], isBarEnough: Bool = false, warnsOfDamage: Bool = false
    ) {
        self.session = session
        self.warnsOfDamage = warnsOfDamage
        self.names = names
        printsLines =
            !session.output.isQuiet && !session.settings.wantsJSON
            && !(isBarEnough && Output.isTerminal && Terminal.showsProgress)
        state = Lock(State(failures: FailureReport(session.output)))
    }

    /// Shows the progress until `endProgress`.
    /// - Parameters:
    ///   - total: the number of items; nil if it is not known.
    ///   - traffic: the bytes received so far.
    func beginProgress(
        total: @escaping @Sendable () -> Int?, traffic: @escaping @Sendable () -> NetworkActivity.Traffic
    ) {
        let number = session.output.progress.begin { [self] in
            let (ended, failed) = counts
            return JobProgress(done: ended, total: total(), failed: failed, bytes: traffic())
        }
        progress.withLock { $0 = number }
    }

    func endProgress() { session.output.progress.end(progress.withLock { $0 }) }

    /// How many items have ended, and how many of them failed.
    var counts: (ended: Int, failed: Int) { state.withLock { ($0.ended.count, $0.failed.count) } }

    /// Takes the result of an item. A cancelled one has an object but no message.
    /// - Parameter index: its number, from 0. A failed item may come again after a job has been resumed. Default: the
    ///   next.
    func add(_ record: FetchRecord, index: Int? = nil) {
        if session.settings.wantsJSON {
            session.output.json(record)
        } else if record.error == nil, printsLines {
            session.output.line(record.line)
        }
        session.output.flush()
        state.withLock { state in
            if record.isCancelled, index == nil { return }
            let index = index ?? state.ended.count
            let message = record.error?.message
            if warnsOfDamage, message == nil, let warning = record.warning {
                state.failures.add(warning)
                state.hasWarned = true
            }
            state.end(
                index,
                failing: names.isEmpty
                    ? message : message.map { names[index] + ": " + ImageLoadingError.withoutAddress($0) })
        }
    }

    /// Takes a failure that has no address.
    func add(_ failure: Failure) {
        state.withLock { $0.end($0.ended.count, failing: failure.description) }
    }

    /// The numbers below `count` of the items that have not ended.
    func missing(of count: Int) -> [Int] {
        let ended = state.withLock { $0.ended }
        return (0..<count).filter { !ended.contains($0) }
    }

    /// The status of a command that does nothing but these items.
    /// - Parameter nothing: why there was nothing to do, if no item has ended.
    func status(ifNothing nothing: String) throws(Failure) -> ExitStatus {
        let (ended, failed) = counts
        if ended == 0, !Task.isCancelled { throw Failure(nothing) }
        if failed == 0 { return state.withLock(\.hasWarned) ? .someFailed : .done }
        return failed == ended ? .nothingDone : .someFailed
    }
}

/// Prints one line for each failure. A line that would repeat for every address is printed once.
struct FailureReport {
    private let output: Output
    private var seen: Set<String> = []

    init(_ output: Output) { self.output = output }

    var isEmpty: Bool { seen.isEmpty }

    mutating func add(_ message: String) {
        if seen.insert(message).inserted { output.failure(message) }
    }
}
