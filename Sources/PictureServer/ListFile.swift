/// A file that an operator writes: one entry on each line. Blank lines and lines that begin with # are skipped.
///
///     # since March
///     w342
package enum ListFile {
    /// A line with an entry.
    package struct Entry {
        /// The words, separated by spaces or tabs; at least one.
        package let words: [String]
        /// The text of the comment on the line before; empty if there is none.
        package let comment: String
    }

    /// Why a file is invalid. Contains no entry: it may be a secret.
    package struct Fault: Error, Hashable, Sendable, CustomStringConvertible {
        /// Counted from 1; nil for the file as a whole.
        let line: Int?
        let reason: String

        package init(_ reason: String, line: Int? = nil) { (self.reason, self.line) = (reason, line) }

        /// One line: what is wrong and what to do.
        package var description: String { (line.map { "line \($0): " } ?? "") + reason }
    }

    /// The values of a file's entries, at least one.
    /// - Parameters:
    ///   - none: says what a file without entries needs.
    ///   - read: reads an entry; its fault gets the line.
    package static func values<Value>(
        of file: [UInt8], ifNone none: String, _ read: (Entry) throws(Fault) -> Value
    ) throws(Fault) -> [Value] {
        guard let text = String(validating: file, as: UTF8.self) else {
            throw Fault("the file is not text in UTF-8")
        }
        var values: [Value] = []
        var comment = ""
        let lines = text.utf8.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false)
        for (index, line) in lines.enumerated() {
            let words = line.split { [0x20, 0x09, 0x0D].contains($0) }.map { String(Substring($0)) }
            guard let first = words.first else {
                comment = ""
                continue
            }
            if first.hasPrefix("#") {
                comment = String(words.joined(separator: " ").drop { $0 == "#" || $0 == " " })
                continue
            }
            do throws(Fault) {
                values.append(try read(Entry(words: words, comment: comment)))
            } catch {
                throw Fault(error.reason, line: index + 1)
            }
            comment = ""
        }
        guard !values.isEmpty else { throw Fault(none) }
        return values
    }
}
