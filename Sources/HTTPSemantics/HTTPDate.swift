/// Dates in HTTP (RFC 9110 section 5.6.7). A date is a number of seconds since 1970-01-01 00:00 UTC.
///
///     Sun, 06 Nov 1994 08:49:37 GMT     the form that is written, and read
///     Sunday, 06-Nov-94 08:49:37 GMT    read: RFC 850
///     Sun Nov  6 08:49:37 1994          read: C's asctime
package enum HTTPDate {
    private static let months = [
        "Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec",
    ]
    private static let weekdays = [
        "Sunday", "Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday",
    ]
    private static let secondsPerDay = 86_400
    /// The years that fit in four digits.
    private static let years = 0...9999

    /// Formats a date as IMF-fixdate. Dates outside the years 0 to 9999 are clamped.
    package static func format(_ seconds: Int) -> String {
        let first = Self.day(year: years.lowerBound, month: 1, day: 1) * secondsPerDay
        let last = (Self.day(year: years.upperBound, month: 12, day: 31) + 1) * secondsPerDay - 1
        let seconds = min(max(seconds, first), last)
        let day = (seconds - first) / secondsPerDay + first / secondsPerDay
        let (year, month, dayOfMonth) = civil(day)
        // Day 0 was a Thursday; `weekdays` begins with Sunday.
        let weekday = weekdays[((day + 4) % 7 + 7) % 7].prefix(3)
        return "\(weekday), \(padded(dayOfMonth)) \(months[month - 1]) \(padded(year, 4)) "
            + "\(clock(seconds - day * secondsPerDay)) GMT"
    }

    /// The time of the day in UTC, such as `08:49:37`.
    /// - Parameter seconds: since a midnight, at least 0.
    package static func clock(_ seconds: Int) -> String {
        "\(padded(seconds / 3600 % 24)):\(padded(seconds / 60 % 60)):\(padded(seconds % 60))"
    }

    /// Reads a date in one of the three formats; nil for anything else. `now` decides the century of RFC 850's
    /// two-digit years: more than 50 years in the future means the past. Names may be in any case, and the weekday need
    /// not match the date.
    package static func parse(_ text: String, now: Int) -> Int? {
        if let date = preferredForm(text) { return date }
        let words = text.split(separator: " ")
        switch words.count {
        case 6 where words[0].hasSuffix(",") && words[5] == "GMT" && words[3].utf8.count == 4:
            return date(words[0].dropLast(), words[1], words[2], number(words[3]), words[4])
        case 5 where words[4].utf8.count == 4:
            return date(words[0], words[2], words[1], number(words[4]), words[3])
        case 4 where words[0].hasSuffix(",") && words[3] == "GMT":
            let parts = words[1].split(separator: "-", omittingEmptySubsequences: false)
            guard parts.count == 3, parts[2].utf8.count == 2, let short = number(parts[2]) else { return nil }
            let thisYear = civil(Int((Double(now) / Double(secondsPerDay)).rounded(.down))).year
            let sameCentury = thisYear - thisYear % 100 + short
            let year = sameCentury > thisYear + 50 ? sameCentury - 100 : sameCentury
            return date(words[0].dropLast(), parts[0], parts[1], year, words[2])
        default: return nil
        }
    }

    /// Reads IMF-fixdate without copies, because every response has such dates.
    private static func preferredForm(_ text: String) -> Int? {
        let bytes = text.utf8Span.span
        guard bytes.count == 29, bytes[3] == UInt8(ascii: ","), bytes[19] == UInt8(ascii: ":"),
            bytes[22] == UInt8(ascii: ":"), bytes[4] == 0x20, bytes[7] == 0x20, bytes[11] == 0x20,
            bytes[16] == 0x20, bytes[25] == 0x20,
            bytes[26] == UInt8(ascii: "G"), bytes[27] == UInt8(ascii: "M"), bytes[28] == UInt8(ascii: "T")
        else { return nil }
        guard name(bytes, at: 0, of: weekdays) != nil, let month = name(bytes, at: 8, of: months),
            let day = number(bytes, 5..<7), let year = number(bytes, 12..<16),
            let hour = number(bytes, 17..<19), let minute = number(bytes, 20..<22),
            let second = number(bytes, 23..<25)
        else { return nil }
        return seconds(year, month + 1, day, hour, minute, second)
    }

    /// The seconds since 1970; nil if a number is out of its range. A leap second (60) is the first second of the next
    /// minute.
    private static func seconds(
        _ year: Int, _ month: Int, _ day: Int, _ hour: Int, _ minute: Int, _ second: Int
    ) -> Int? {
        guard years.contains(year), day >= 1, day <= length(ofMonth: month, year: year), hour < 24,
            minute < 60, second <= 60
        else { return nil }
        return Self.day(year: year, month: month, day: day) * secondsPerDay + hour * 3600 + minute * 60
            + second
    }

    /// The index of the name that begins with the three letters at `offset`.
    private static func name(_ bytes: Span<UInt8>, at offset: Int, of names: [String]) -> Int? {
        names.firstIndex { name in
            let letters = name.utf8Span.span
            return letters[0] == bytes[offset] && letters[1] == bytes[offset + 1]
                && letters[2] == bytes[offset + 2]
        }
    }

    private static func number(_ bytes: Span<UInt8>, _ range: Range<Int>) -> Int? {
        var number = 0
        for index in range {
            guard bytes[index] >= 0x30, bytes[index] <= 0x39 else { return nil }
            number = number * 10 + Int(bytes[index] - 0x30)
        }
        return number
    }

    private static func date(
        _ weekday: Substring, _ day: Substring, _ month: Substring, _ year: Int?, _ time: Substring
    ) -> Int? {
        let clock = time.split(separator: ":", omittingEmptySubsequences: false)
        let name = weekday.lowercased()
        guard weekdays.contains(where: { $0.lowercased() == name || $0.prefix(3).lowercased() == name }),
            let index = months.firstIndex(where: { $0.lowercased() == month.lowercased() }),
            let year, let day = number(day), clock.count == 3, clock.allSatisfy({ $0.utf8.count == 2 }),
            let hour = number(clock[0]), let minute = number(clock[1]), let second = number(clock[2])
        else { return nil }
        return seconds(year, index + 1, day, hour, minute, second)
    }

    /// Reads one to four digits and nothing else.
    private static func number(_ text: Substring) -> Int? {
        guard (1...4).contains(text.utf8.count), text.utf8.allSatisfy({ $0.isDigit }) else {
            return nil
        }
        return Int(text)
    }

    /// A number with zeros before it.
    package static func padded(_ number: Int, _ width: Int = 2) -> String {
        let digits = String(number)
        return String(repeating: "0", count: max(0, width - digits.count)) + digits
    }

    private static func length(ofMonth month: Int, year: Int) -> Int {
        day(year: month == 12 ? year + 1 : year, month: month % 12 + 1, day: 1)
            - day(year: year, month: month, day: 1)
    }

    /// The days from 1970-01-01 to a date of the Gregorian calendar. Years begin in March, so that the leap day comes
    /// last, and 400 years (146,097 days) make an era; era 0 begins 719,468 days before 1970.
    private static func day(year: Int, month: Int, day: Int) -> Int {
        let marchYear = month <= 2 ? year - 1 : year
        let era = (marchYear >= 0 ? marchYear : marchYear - 399) / 400
        let yearOfEra = marchYear - era * 400
        let dayOfYear = (153 * ((month + 9) % 12) + 2) / 5 + day - 1
        return era * 146_097 + yearOfEra * 365 + yearOfEra / 4 - yearOfEra / 100 + dayOfYear - 719_468
    }

    /// The date of a day counted from 1970-01-01: the inverse of `day(year:month:day:)`.
    package static func civil(_ day: Int) -> (year: Int, month: Int, day: Int) {
        let shifted = day + 719_468
        let era = (shifted >= 0 ? shifted : shifted - 146_096) / 146_097
        let dayOfEra = shifted - era * 146_097
        let yearOfEra = (dayOfEra - dayOfEra / 1460 + dayOfEra / 36_524 - dayOfEra / 146_096) / 365
        let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
        let marchMonth = (5 * dayOfYear + 2) / 153
        let month = marchMonth < 10 ? marchMonth + 3 : marchMonth - 9
        let year = yearOfEra + era * 400 + (month <= 2 ? 1 : 0)
        return (year, month, dayOfYear - (153 * marchMonth + 2) / 5 + 1)
    }
}

/// How long a client should wait before its next request: `Retry-After: 120`, or a date (RFC 9110 section 10.2.3).
package enum RetryAfter {
    /// The seconds from `now`, at least 0; nil if the field is absent or malformed.
    package static func seconds(_ fields: HeaderFields, now: Int) -> Int? {
        guard let value = fields["retry-after"] else { return nil }
        let text = FieldList.trimmed(value[...])
        if let seconds = CacheControl.seconds(text) { return seconds }
        return HTTPDate.parse(value, now: now).map { min(max(0, $0 - now), CacheControl.maximumSeconds) }
    }
}
