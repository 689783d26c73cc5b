import Glibc
import LazyImages

/// A bar on standard error that shows how far a job is, redrawn in place at most thirty times a second.
final class ProgressBar: Sendable {
    private static let interval = Duration.milliseconds(33)
    private static let cells = 24
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
        let filled = done * Self.cells / total
        let bar = String(repeating: "━", count: filled) + String(repeating: "─", count: Self.cells - filled)
        Output.write("\r\(bar)  \(done)/\(total)  \(note)\u{1B}[K", to: STDERR_FILENO)
    }

    /// Clears the line, for other messages or for good.
    func clear() { Output.write("\r\u{1B}[K", to: STDERR_FILENO) }
}

/// Sizes as people read them.
enum ByteCount {
    /// `834 bytes`, `41.3 KB`, `1.2 GB`, in powers of 1000.
    static func text(_ count: Int) -> String {
        if count < 1000 { return "\(count) bytes" }
        var value = Double(count)
        for unit in ["KB", "MB", "GB", "TB"] {
            value /= 1000
            if value < 999.95 { return "\(value.formatted(decimals: 1)) \(unit)" }
        }
        return "\((value / 1000).formatted(decimals: 1)) PB"
    }
}
