/// What a Range field asks of a file (RFC 9110 section 14).
package enum RangeHeader: Hashable {
    /// All of it: there is no range, it is malformed, or there are several, which a server may ignore.
    case whole
    /// These bytes, at least one.
    case part(Range<Int>)
    /// A range that begins past the end.
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

    /// Digits only; a number too large to hold is as good as the largest.
    private static func number(_ text: Substring) -> Int? {
        guard !text.isEmpty, text.utf8.allSatisfy({ $0.isDigit }) else { return nil }
        return Int(text) ?? .max
    }
}
