import Glibc
import LazyImages
import TerminalGraphics

/// A bar on standard error that shows how far a job is, redrawn in place at most thirty times a second.
final class ProgressBar: Sendable {
    private static let interval = Duration.milliseconds(33)
    private static let mostCells = 24
    /// What the numbers beside the bar take, more or less.
    private static let noteCells = 30
    private let lastDrawn = Lock<ContinuousClock.Instant?>(nil)

    /// Draws the bar; `note` stands behind it.
    func draw(done: Int, of total: Int, note: String) {
        let now = ContinuousClock().now
        let isDue = lastDrawn.withLock { last in
            if let last, now - last < Self.interval, done < total { return false }
            last = now
            return true
        }
        guard isDue, total > 0 else { return }
        // The last column stays free: a cursor beyond it would make the next drawing begin a line further down.
        let width = (Terminal.width(of: STDERR_FILENO) ?? 80) - 1
        let cells = min(Self.mostCells, max(0, width - Self.noteCells))
        let filled = done * cells / total
        let bar = String(repeating: "━", count: filled) + String(repeating: "─", count: cells - filled)
        let line = (bar.isEmpty ? "" : bar + "  ") + "\(done)/\(total)  \(note)"
        Output.write("\r\(TerminalText.truncated(line, toWidth: width))\u{1B}[K", to: STDERR_FILENO)
    }

    /// Clears the line, for other messages or for good.
    func clear() { Output.write("\r\u{1B}[K", to: STDERR_FILENO) }
}
