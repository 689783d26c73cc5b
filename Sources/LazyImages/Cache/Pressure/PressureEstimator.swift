/// Derives the level of memory pressure from signals and checks. A plain struct; times are in nanoseconds.
///
/// A signal is a warning. The level is critical if little memory is left, or if signals continue for a whole window
/// after the warning. It is normal again when no signal has come for a while and enough memory is left.
struct PressureEstimator {
    /// The kernel's window, and the shortest interval of systemd's signals: two seconds.
    static let window: Int64 = 2_000_000_000
    /// After this time without a signal the pressure has passed.
    static let quietTime: Int64 = 3 * window
    /// Below these shares of the allowance the memory left is a warning, or critical.
    static let warningShare = 0.1
    static let criticalShare = 0.04

    private(set) var level = MemoryPressure.Level.normal
    private var warned: Int64 = 0
    private var lastSignal: Int64 = 0

    /// Notes a signal.
    /// - Parameter left: the available share of the allowance, from 0 to 1; nil if unknown.
    mutating func signal(at now: Int64, left: Double?) {
        lastSignal = now
        if let left, left < Self.criticalShare {
            level = .critical
        } else if level == .normal {
            level = .warning
            warned = now
        } else if now - warned >= Self.window {
            level = .critical
        }
    }

    /// Notes a check without a signal.
    mutating func check(at now: Int64, left: Double?) {
        if let left, left < Self.criticalShare {
            level = .critical
            lastSignal = now
        } else if let left, left < Self.warningShare {
            if level == .normal {
                level = .warning
                warned = now
            }
            lastSignal = now
        } else if now - lastSignal >= Self.quietTime {
            level = .normal
        }
    }
}
