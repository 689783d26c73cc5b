internal import Glibc
internal import HTTPSemantics

/// Times in the log and in messages: milliseconds since 1970.
enum LogTime {
    static var now: Int {
        var now = timespec()
        unsafe clock_gettime(CLOCK_REALTIME, &now)
        return now.tv_sec * 1000 + now.tv_nsec / 1_000_000
    }

    /// RFC 3339, UTC, with milliseconds: `2026-11-22T15:49:34.123Z`.
    static func text(_ time: Int) -> String {
        let seconds = time / 1000
        let date = HTTPDate.civil(seconds / 86_400)
        let day = [date.month, date.day].map { padded($0, 2) }.joined(separator: "-")
        let clock = [seconds / 3600 % 24, seconds / 60 % 60, seconds % 60].map { padded($0, 2) }
        return "\(date.year)-\(day)T\(clock.joined(separator: ":")).\(padded(time % 1000, 3))Z"
    }

    /// A number with zeros before it.
    static func padded(_ number: Int, _ width: Int) -> String {
        let digits = String(number)
        return String(repeating: "0", count: max(0, width - digits.count)) + digits
    }
}
