import LazyImages
import SystemSupport
import TerminalGraphics

/// The line on standard error that shows the progress of the work. It appears after 40 milliseconds, changes some
/// twenty times a second, and is shown only on a person's terminal. Other output takes its place, and the line comes
/// back below.
final class ProgressLine: Sendable {
    /// In microseconds. Shorter work needs no line. Longer work must show one within a tenth of a second.
    static let firstPause: useconds_t = 40_000
    private static let pause: useconds_t = 45_000

    private struct Job {
        let number: Int
        let progress: @Sendable () -> JobProgress
        var rate: TransferRate
    }

    private struct State {
        /// The last one is shown: first a catalogue that loads for a fetch, then the fetch.
        var jobs: [Job] = []
        var lastNumber = 0
        var isDrawn = false
        var hasThread = false
    }

    private let isWanted: Bool
    private let isDrawn: Bool
    private let state = Lock(State())

    /// - Parameter isDrawn: whether the line draws itself. Default: yes; otherwise read it from `present`.
    init(isWanted: Bool, isDrawn: Bool = true) {
        self.isWanted = isWanted
        self.isDrawn = isDrawn
    }

    /// Shows the progress of some work until `end`.
    /// - Parameter progress: reports the progress; called on the line's own thread.
    /// - Returns: the number for `end`.
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
        // A thread that sleeps. A task would wait for the pool, which the work itself may keep busy.
        if needsThread {
            do throws(ResourceShortage) {
                try BlockingThreads.startThread(name: "progress") { [self] in
                    usleep(Self.firstPause)
                    while draw() { usleep(Self.pause) }
                }
            } catch {
                // Without a thread, the work goes on without the line.
                state.withLock { $0.hasThread = false }
            }
        }
        return number
    }

    /// Ends some work and clears the line. A second call, or nil, does nothing.
    func end(_ number: Int?) {
        guard isWanted, let number else { return }
        state.withLock { state in
            state.jobs.removeAll { $0.number == number }
            Self.clear(&state)
        }
    }

    /// Writes something else in place of the line. Holds the lock, so that the line does not come between.
    func hidden(_ write: () -> Void) {
        guard isWanted else { return write() }
        state.withLock { state in
            Self.clear(&state)
            write()
        }
    }

    /// Draws the line; false when no work is left.
    private func draw() -> Bool {
        let job = state.withLock { state in
            if state.jobs.isEmpty { state.hasThread = false }
            return state.jobs.last
        }
        guard let job else { return false }
        let progress = job.progress()
        // The last column stays free: otherwise the cursor would go to the next line.
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

    /// The progress of the most recent work, in at most `width` cells; nil when there is none.
    func present(width: Int) -> String? {
        guard let job = state.withLock({ $0.jobs.last }) else { return nil }
        let progress = job.progress()
        let rate = state.withLock { Self.rate(of: job.number, progress, &$0) }
        return progress.line(rate: rate ?? 0, width: width, isUnicode: true)
    }

    /// The bytes a second of some work; nil after its end.
    private static func rate(of number: Int, _ progress: JobProgress, _ state: inout State) -> Double? {
        guard let index = state.jobs.lastIndex(where: { $0.number == number }) else { return nil }
        return state.jobs[index].rate.add(progress.traffic.received)
    }

    private static func clear(_ state: inout State) {
        guard state.isDrawn else { return }
        state.isDrawn = false
        Output.write("\r\u{1B}[K", to: STDERR_FILENO)
    }
}

/// The progress of some work.
struct JobProgress: Sendable {
    /// Its name; empty if the command line names it.
    var label = ""
    /// The number of finished parts.
    var done = 0
    /// The number of all parts; nil if it is not yet known.
    var total: Int? = 1
    var failed = 0
    /// The transferred bytes; nil for work without transfers.
    var bytes: NetworkActivity.Traffic?

    private static let mostCells = 24
    /// The approximate cells of the numbers beside the bar.
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

    /// `0:12 left`, `1:02:03 left`; nil when nothing is left, or nothing moves.
    private func timeLeft(rate: Double) -> String? {
        let seconds = Double(traffic.remaining) / rate
        // A hundred hours or more are not shown.
        guard traffic.remaining > 0, seconds < 360_000 else { return nil }
        let whole = Int(seconds.rounded(.up))
        let (hours, minutes) = (whole / 3600, whole / 60 % 60)
        func two(_ number: Int) -> String { number < 10 ? "0\(number)" : "\(number)" }
        return (hours > 0 ? "\(hours):\(two(minutes))" : "\(minutes)") + ":\(two(whole % 60)) left"
    }

    /// Empty if the share is unknown, or there is no room.
    private static func bar(_ share: Double, width: Int, _ isUnicode: Bool) -> String {
        guard share.isFinite else { return "" }
        let cells = min(mostCells, max(0, width - noteCells))
        let filled = Int(Double(cells) * min(1, share))
        return String(repeating: isUnicode ? "━" : "=", count: filled)
            + String(repeating: isUnicode ? "─" : "-", count: cells - filled)
    }
}

/// The bytes a second over the last few seconds.
struct TransferRate: Sendable {
    private static let window = Duration.seconds(3)
    private var samples: [(time: ContinuousClock.Instant, bytes: Int)]

    /// A rate that starts now, with this many bytes already received.
    init(_ bytes: Int, now: ContinuousClock.Instant = .now) { samples = [(now, bytes)] }

    /// Takes the number of bytes received in all; returns the bytes a second.
    mutating func add(_ bytes: Int, now: ContinuousClock.Instant = .now) -> Double {
        // A transfer that starts again counts from its beginning.
        if bytes < samples[samples.count - 1].bytes { samples = [] }
        samples.append((now, bytes))
        while samples.count > 2, now - samples[1].time > Self.window { samples.removeFirst() }
        let seconds = (now - samples[0].time) / .seconds(1)
        return seconds > 0 ? Double(bytes - samples[0].bytes) / seconds : 0
    }
}
