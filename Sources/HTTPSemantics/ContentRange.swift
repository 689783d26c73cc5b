/// The part of a representation that a response encloses (RFC 9110 section 14.4):
///
///     bytes 500-999/1234      bytes 500-999/*      bytes */1234
package struct ContentRange: Hashable, Sendable {
    /// The enclosed bytes; nil in a 416 response.
    package let part: Range<Int>?
    /// The length of the complete representation; nil if unknown.
    package let total: Int?

    /// Reads the field; nil if it is malformed or contradicts itself.
    package init?(_ text: String) {
        let words = FieldList.trimmed(text[...]).split(separator: " ", maxSplits: 1)
        guard words.count == 2, words[0].lowercased() == "bytes" else { return nil }
        let sides = FieldList.trimmed(words[1]).split(separator: "/", omittingEmptySubsequences: false)
        guard sides.count == 2 else { return nil }
        if sides[1] == "*" {
            total = nil
        } else {
            guard let number = Self.number(sides[1]) else { return nil }
            total = number
        }
        if sides[0] == "*" {
            // `bytes */*` is invalid.
            guard total != nil else { return nil }
            part = nil
            return
        }
        let ends = sides[0].split(separator: "-", omittingEmptySubsequences: false)
        guard ends.count == 2, let first = Self.number(ends[0]), let last = Self.number(ends[1]),
            first <= last, last < total ?? Int.max
        else { return nil }
        part = first..<last + 1
    }

    private static func number(_ text: Substring) -> Int? {
        text.utf8.allSatisfy { $0.isDigit } ? Int(text) : nil
    }
}

/// The part that a Range field requests (RFC 9110 section 14).
package enum RangeHeader: Hashable {
    /// The whole: the range is absent, malformed, or one of several, which a server may ignore.
    case whole
    /// These bytes; never empty.
    case part(Range<Int>)
    /// The range begins after the end.
    case unsatisfiable

    /// Resolves `bytes=0-99`, `bytes=100-` or `bytes=-100` against a file of `size` bytes.
    package init(_ value: String?, size: Int) {
        self = .whole
        guard let value, let equals = value.firstIndex(of: "="),
            value[..<equals].lowercased() == "bytes"
        else { return }
        let ends = value[value.index(after: equals)...].split(
            separator: "-", omittingEmptySubsequences: false)
        guard ends.count == 2 else { return }
        switch (Self.number(ends[0]), Self.number(ends[1])) {
        case (let first?, let last?) where first <= last:
            self = first < size ? .part(first..<min(last, size - 1) + 1) : .unsatisfiable
        case (let first?, nil) where ends[1].isEmpty:
            self = first < size ? .part(first..<size) : .unsatisfiable
        case (nil, let length?) where ends[0].isEmpty:
            self = length > 0 && size > 0 ? .part(max(0, size - length)..<size) : .unsatisfiable
        default: return
        }
    }

    /// Digits only. A number that does not fit counts as the largest.
    private static func number(_ text: Substring) -> Int? {
        guard !text.isEmpty, text.utf8.allSatisfy({ $0.isDigit }) else { return nil }
        return Int(text) ?? .max
    }
}
