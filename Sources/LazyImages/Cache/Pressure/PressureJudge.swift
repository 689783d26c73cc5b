/// What the signs of pressure amount to: a plain struct that is told what happens and when, in nanoseconds.
///
/// A sign is a warning. It is critical where little memory is left, or when signs go on although the warning has had a
/// whole window of time to help. When no sign has come for a while, and not much is used, all is normal again.
struct PressureJudge {
    /// The kernel's windows of pressure, and how often systemd's are told at most: two seconds.
    static let window: Int64 = 2_000_000_000
    /// Without a sign for so long, the pressure has passed.
    static let calm: Int64 = 3 * window
    /// The parts of the allowance below which what is left is a sign by itself, or critical.
    static let warningShare = 0.1
    static let criticalShare = 0.04

    private(set) var level = MemoryPressure.Level.normal
    private var warned: Int64 = 0
    private var lastSign: Int64 = 0

    /// Pressure was signalled.
    /// - Parameter left: the part of the allowance that is available, from 0 to 1; nil if nobody knows.
    mutating func sign(at now: Int64, left: Double?) {
        lastSign = now
        if let left, left < Self.criticalShare {
            level = .critical
        } else if level == .normal {
            level = .warning
            warned = now
        } else if now - warned >= Self.window {
            level = .critical
        }
    }

    /// Nothing was signalled for a while: what is left tells.
    mutating func look(at now: Int64, left: Double?) {
        if let left, left < Self.criticalShare {
            level = .critical
            lastSign = now
        } else if let left, left < Self.warningShare {
            if level == .normal {
                level = .warning
                warned = now
            }
            lastSign = now
        } else if now - lastSign >= Self.calm {
            level = .normal
        }
    }
}
