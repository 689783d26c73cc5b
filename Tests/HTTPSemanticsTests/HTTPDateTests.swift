import Glibc
import HTTPSemantics
import TestTraits
import Testing

@Suite("HTTPDate", .bounded)
struct HTTPDateTests {
    /// 2026-01-01.
    private let now = 1_767_225_600

    @Test(
        "a date is written in the preferred form",
        arguments: [
            (0, "Thu, 01 Jan 1970 00:00:00 GMT"), (784_111_777, "Sun, 06 Nov 1994 08:49:37 GMT"),
            (951_782_400, "Tue, 29 Feb 2000 00:00:00 GMT"), (-1, "Wed, 31 Dec 1969 23:59:59 GMT"),
            (4_107_542_399, "Sun, 28 Feb 2100 23:59:59 GMT"),
            (4_107_542_400, "Mon, 01 Mar 2100 00:00:00 GMT"),
            (Int.max, "Fri, 31 Dec 9999 23:59:59 GMT"), (Int.min, "Sat, 01 Jan 0000 00:00:00 GMT"),
        ])
    func format(seconds: Int, text: String) {
        #expect(HTTPDate.format(seconds) == text)
    }

    @Test(
        "the three forms read as one date",
        arguments: [
            "Sun, 06 Nov 1994 08:49:37 GMT", "Sunday, 06-Nov-94 08:49:37 GMT", "Sun Nov  6 08:49:37 1994",
            "sun, 6 nov 1994 08:49:37 GMT",
        ])
    func parse(text: String) {
        #expect(HTTPDate.parse(text, now: now) == 784_111_777)
    }

    @Test("a two-digit year is at most fifty years in the future")
    func twoDigitYears() {
        #expect(HTTPDate.parse("Wednesday, 01-Jan-76 00:00:00 GMT", now: now) == 3_345_062_400)
        #expect(HTTPDate.parse("Saturday, 01-Jan-77 00:00:00 GMT", now: now) == 220_924_800)
    }

    @Test("a written date is read back, for every hour of four centuries")
    func roundTrip() {
        for seconds in stride(from: -2_208_988_800, to: 11_000_000_000, by: 3_617 * 1_001) {
            #expect(HTTPDate.parse(HTTPDate.format(seconds), now: now) == seconds)
        }
    }

    @Test("days agree with the C library's")
    func agreesWithLibrary() {
        for seconds in stride(from: -2_208_988_800, to: 11_000_000_000, by: 86_400 * 97 + 12_345) {
            var time = time_t(seconds)
            var parts = unsafe tm()
            _ = unsafe gmtime_r(&time, &parts)
            let (day, year) = unsafe (parts.tm_mday, parts.tm_year + 1900)
            #expect(HTTPDate.format(seconds).contains(day < 10 ? ", 0\(day) " : ", \(day) "))
            #expect(HTTPDate.format(seconds).contains(" \(year) "))
        }
    }

    @Test(
        "a malformed date is refused",
        arguments: [
            "", "0", "now", "Sun, 06 Nov 1994 08:49:37", "Sun, 06 Nov 1994 08:49:37 CET",
            "Sun, 31 Feb 1994 08:49:37 GMT", "Sun, 29 Feb 1900 08:49:37 GMT", "Sun, 00 Nov 1994 08:49:37 GMT",
            "Sun, 06 Nov 1994 24:00:00 GMT", "Sun, 06 Nov 1994 08:60:37 GMT", "Sun, 06 Nov 1994 08:49:61 GMT",
            "Sun, 06 Nov 1994 8:49:37 GMT", "Sun, 06 Nox 1994 08:49:37 GMT", "Day, 06 Nov 1994 08:49:37 GMT",
            "Sun, 06 Nov 99999 08:49:37 GMT", "Sun, +6 Nov 1994 08:49:37 GMT",
            "Sunday, 06-Nov-1994 08:49:37 GMT",
            "Sun Nov 6 08:49:37 94", "Sun, 06 Nov -994 08:49:37 GMT",
        ])
    func refused(text: String) {
        #expect(HTTPDate.parse(text, now: now) == nil)
    }

    @Test("no time traps, however far off")
    func farClock() {
        #expect(HTTPDate.parse("Sunday, 06-Nov-94 08:49:37 GMT", now: .max) == nil)
        #expect(HTTPDate.parse("Sunday, 06-Nov-94 08:49:37 GMT", now: .min) == nil)
    }
}
