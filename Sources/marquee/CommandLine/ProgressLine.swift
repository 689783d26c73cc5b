import Glibc
import LazyImages
import SystemSupport
import TerminalGraphics

/// The line on standard error that says how far the work is: from 40 milliseconds on, some twenty times a second, and
/// only on a person's terminal. Other output takes its place, and the line comes back below it.
final class ProgressLine: Sendable {
    /// In microseconds: work that ends before needs no line. With the second it is less than a tenth of a second.
    private static let firstPause: useconds_t = 40_000
    private static let pause: useconds_t = 45_000

    private struct Job {
        let number: Int
        let progress: @Sendable () -> JobProgress
        var rate: TransferRate
    }

    private struct State {
        /// The last one is shown: a catalogue that loads for a fetch, then the fetch.
        var jobs: [Job] = []
        var lastNumber = 0
        var isDrawn = false
        var hasThread = false
    }

    private let isWanted: Bool
    private let isDrawn: Bool
    private let state = Lock(State())

    /// - Parameter isDrawn: whether the line draws itself. Default: yes; else `present` gives it.
    init(isWanted: Bool, isDrawn: Bool = true) {
        self.isWanted = isWanted
        self.isDrawn = isDrawn
    }

    /// Shows a piece of work until `end`.
    /// - Parameter progress: how far it is; called on a thread of the line's own.
    /// - Returns: what to end it by.
    func begin(_ progress: @escaping @Sendable () -> JobProgress) -> Int {
        guard isWanted else { return 0 }
        let rate = TransferRate(progress().traffic.received)
        let (number, needsThread) = state.withLock { state in
            state.lastNumber += 1
            state.jobs.append(Job(number: state.lastNumber, progress: progress, rate: rate))
            guard isDrawn else { return (state.lastNumber, false) }
            defer { state.hasThread = true }
            return (state.lastNumber, !state.hasThread)
        }
        // A thread that sleeps: a task would wait for the pool, which may be busy with the very work.
        if needsThread {
            do throws(ResourceShortage) {
                try BlockingThreads.startThread(name: "progress") { [self] in
                    usleep(Self.firstPause)
                    while draw() { usleep(Self.pause) }
                }
            } catch {
                // The work goes on without its line.
                state.withLock { $0.hasThread = false }
            }
        }
        return number
    }

    /// Ends a piece of work and clears the line. Once it has ended, or for none, it does nothing.
    func end(_ number: Int?) {
        guard isWanted, let number else { return }
        state.withLock { state in
            state.jobs.removeAll { $0.number == number }
            Self.clear(&state)
        }
    }

    /// Writes something else to the terminal, in place of the line. Under the lock, so that the line does not come between.
    func hidden(_ write: () -> Void) {
        guard isWanted else { return write() }
        state.withLock { state in
            Self.clear(&state)
            write()
        }
    }

    /// Draws the line; false when there is no work any more.
    private func draw() -> Bool {
        let job = state.withLock { state in
            if state.jobs.isEmpty { state.hasThread = false }
            return state.jobs.last
        }
        guard let job else { return false }
        let progress = job.progress()
        // The last column stays free: a cursor beyond it would make the next drawing begin a line further down.
        let width = (Terminal.width(of: STDERR_FILENO) ?? 80) - 1
        state.withLock { state in
            guard let rate = Self.rate(of: job.number, progress, &state) else { return }
            let line = progress.line(
                rate: rate, width: width, isUnicode: !Terminal.showsOnlyASCII(STDERR_FILENO))
            state.isDrawn = true
            Output.write("\r\(line)\u{1B}[K", to: STDERR_FILENO)
        }
        return true
    }

    /// How far the work is that began last, in so many cells at most; nil when there is none.
    func present(width: Int) -> String? {
        guard let job = state.withLock({ $0.jobs.last }) else { return nil }
        let progress = job.progress()
        let rate = state.withLock { Self.rate(of: job.number, progress, &$0) }
        return progress.line(rate: rate ?? 0, width: width, isUnicode: true)
    }

    /// The bytes a second of a job; nil once it has ended.
    private static func rate(of number: Int, _ progress: JobProgress, _ state: inout State) -> Double? {
        guard let index = state.jobs.lastIndex(where: { $0.number == number }) else { return nil }
        return state.jobs[index].rate.note(progress.traffic.received)
    }

    private static func clear(_ state: inout State) {
        guard state.isDrawn else { return }
        state.isDrawn = false
        Output.write("\r\u{1B}[K", to: STDERR_FILENO)
    }
}

/// How far a piece of work is.
struct JobProgress: Sendable {
    /// What is worked on; empty where the command line says it.
    var label = ""
    /// How many are done.
    var done = 0
    /// Of how many; nil where that is not known yet.
    var total: Int? = 1
    var failed = 0
    /// The bytes; nil for work that has none.
    var bytes: NetworkActivity.Traffic?

    private static let mostCells = 24
    /// What the numbers beside the bar take, more or less.
    private static let noteCells = 50

    var traffic: NetworkActivity.Traffic { bytes ?? NetworkActivity.Traffic() }

    /// `films.json  ━━━━━━────  29.3 KiB of 97.7 KiB  1.2 MiB/s  0:01 left`
    func line(rate: Double, width: Int, isUnicode: Bool) -> String {
        let isSingle = total == 1
        let whole = traffic.received + traffic.remaining
        var parts = label.isEmpty ? [] : [TerminalText.visible(label)]
        if let total {
            let share =
                isSingle
                ? Double(traffic.received) / Double(whole) : (Double(done) + traffic.underWay) / Double(total)
            parts.append(Self.bar(share, width: width - parts.joined().count, isUnicode))
            if !isSingle, total > 0 { parts.append("\(done)/\(total)") }
        } else {
            parts.append("\(done) done")
        }
        if bytes != nil {
            let received = ByteCount.text(traffic.received)
            parts.append(
                isSingle && traffic.remaining > 0 ? "\(received) of \(ByteCount.text(whole))" : received)
            parts.append(ByteCount.text(Int(rate)) + "/s")
            if isSingle, let left = timeLeft(rate: rate) { parts.append(left) }
        }
        if failed > 0 { parts.append("\(failed) failed") }
        return TerminalText.truncated(
            parts.filter { !$0.isEmpty }.joined(separator: "  "), toWidth: width)
    }

    /// `0:12 left`, `1:02:03 left`; nil where nothing is left, and while nothing moves.
    private func timeLeft(rate: Double) -> String? {
        let seconds = Double(traffic.remaining) / rate
        // Nobody waits for a hundred hours.
        guard traffic.remaining > 0, seconds < 360_000 else { return nil }
        let whole = Int(seconds.rounded(.up))
        let (hours, minutes) = (whole / 3600, whole / 60 % 60)
        func two(_ number: Int) -> String { number < 10 ? "0\(number)" : "\(number)" }
        return (hours > 0 ? "\(hours):\(two(minutes))" : "\(minutes)") + ":\(two(whole % 60)) left"
    }

    /// Empty where there is nothing to measure by, or no room.
    private static func bar(_ share: Double, width: Int, _ isUnicode: Bool) -> String {
        guard share.isFinite else { return "" }
        let cells = min(mostCells, max(0, width - noteCells))
        let filled = Int(Double(cells) * min(1, share))
        return String(repeating: isUnicode ? "━" : "=", count: filled)
            + String(repeating: isUnicode ? "─" : "-", count: cells - filled)
    }
}

/// How many bytes come in a second, by the last few seconds.
struct TransferRate: Sendable {
    private static let window = Duration.seconds(3)
    private var samples: [(time: ContinuousClock.Instant, bytes: Int)]

    /// A rate from now on, where so many bytes have come already.
    init(_ bytes: Int, now: ContinuousClock.Instant = .now) { samples = [(now, bytes)] }

    /// So many bytes have come in all; returns the bytes a second.
    mutating func note(_ bytes: Int, now: ContinuousClock.Instant = .now) -> Double {
        // What is sent again counts from its beginning.
        if bytes < samples[samples.count - 1].bytes { samples = [] }
        samples.append((now, bytes))
        while samples.count > 2, now - samples[1].time > Self.window { samples.removeFirst() }
        let seconds = (now - samples[0].time) / .seconds(1)
        return seconds > 0 ? Double(bytes - samples[0].bytes) / seconds : 0
    }
}
