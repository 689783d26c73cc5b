/// A file that an operator writes: one entry on each line. Blank lines and lines that begin with # are skipped.
///
///     # since March
///     w342
enum ListFile {
    /// The words of each entry, separated by spaces or tabs, and its line, counted from 1. Nil if the file is not text
    /// in UTF-8.
    static func entries(of file: [UInt8]) -> [(line: Int, words: [String])]? {
        guard let text = String(validating: file, as: UTF8.self) else { return nil }
        let lines = text.utf8.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false)
        return lines.enumerated().compactMap { index, line in
            let words = line.split { [0x20, 0x09, 0x0D].contains($0) }
            guard let first = words.first, first.first != UInt8(ascii: "#") else { return nil }
            return (index + 1, words.map { String(Substring($0)) })
        }
    }
}
