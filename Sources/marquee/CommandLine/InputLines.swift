import Glibc
import LazyImages

/// The lines piped into the program, each as soon as it is there, without blank ones and without comments, which begin
/// with `#`. One caller at a time.
actor InputLines {
    private static let name = "standard input"
    private var lines: ArraySlice<String> = []
    /// What has come of a line whose end has not.
    private var unfinished: [UInt8] = []
    private var hasBegun = false
    private var hasEnded = false

    /// The next line; nil at the end. Cancelling the task ends the wait.
    func next() async throws(Failure) -> String? {
        while lines.isEmpty, !hasEnded {
            take(
                try await Input.reading { () throws(Failure) in
                    var chunk = [UInt8](repeating: 0, count: 64 * 1024)
                    return Array(try Input.some(of: STDIN_FILENO, name: Self.name, &chunk))
                })
            guard unfinished.count <= Input.limit else {
                hasEnded = true
                throw Failure("\(Self.name): a line is larger than \(ByteCount.text(Input.limit))")
            }
        }
        return lines.popFirst()
    }

    /// The lines that are there already, without waiting for more of them.
    func rest() -> [String] {
        var count = 0
        // What is written without an end would never end here either.
        while !hasEnded, count < Input.limit {
            var ready = pollfd(fd: STDIN_FILENO, events: Int16(POLLIN), revents: 0)
            guard unsafe poll(&ready, 1, 0) > 0 else { break }
            var chunk = [UInt8](repeating: 0, count: 64 * 1024)
            // Losing the error is right: the program is about to end, and what was read counts.
            let more = (try? Input.some(of: STDIN_FILENO, name: Self.name, &chunk)) ?? []
            count += more.count
            take(Array(more))
        }
        defer { lines = [] }
        return Array(lines)
    }

    private func take(_ bytes: [UInt8]) {
        hasEnded = bytes.isEmpty
        let end = hasEnded ? bytes.endIndex : bytes.lastIndex(of: UInt8(ascii: "\n")).map { $0 + 1 }
        unfinished += bytes[..<(end ?? bytes.endIndex)]
        guard let end else { return }
        var text = String(decoding: unfinished, as: UTF8.self)[...]
        unfinished = Array(bytes[end...])
        // A byte order mark, which some editors put before the first line.
        if !hasBegun, text.unicodeScalars.first == "\u{FEFF}" { text.unicodeScalars.removeFirst() }
        hasBegun = true
        lines += text.split(whereSeparator: \.isNewline).map { $0.trimmingWhitespace() }
            .filter { !$0.isEmpty && !$0.hasPrefix("#") }
    }
}

extension Substring {
    fileprivate func trimmingWhitespace() -> String {
        let start = drop { $0.isWhitespace }
        guard let last = start.lastIndex(where: { !$0.isWhitespace }) else { return "" }
        return String(start[...last])
    }
}
