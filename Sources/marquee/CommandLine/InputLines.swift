import Glibc
import ImageCodecs
import LazyImages

/// The lines of standard input, each as soon as it arrives, without blank lines and comments, which begin with `#`. One
/// caller at a time.
actor InputLines {
    private static let name = "standard input"
    private var lines: ArraySlice<String> = []
    /// The beginning of a line whose end has not arrived.
    private var unfinished: [UInt8] = []
    private var hasBegun = false
    private var hasEnded = false

    /// The next line; nil at the end. Cancelling the task ends the wait.
    func next() async throws(Failure) -> String? {
        while lines.isEmpty, !hasEnded {
            try take(
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

    /// The lines that have already arrived; does not wait for more.
    func rest() -> [String] {
        var count = 0
        // The limit ends the loop even if a writer never stops.
        while !hasEnded, count < Input.limit {
            var ready = pollfd(fd: STDIN_FILENO, events: Int16(POLLIN), revents: 0)
            guard unsafe poll(&ready, 1, 0) > 0 else { break }
            var chunk = [UInt8](repeating: 0, count: 64 * 1024)
            // Losing the error is right: the program is about to end, and the bytes read so far count.
            let more = (try? Input.some(of: STDIN_FILENO, name: Self.name, &chunk)) ?? []
            count += more.count
            do throws(Failure) {
                try take(Array(more))
            } catch {
                break
            }
        }
        defer { lines = [] }
        return Array(lines)
    }

    /// - Throws: if the input is no list: a picture or another binary file.
    private func take(_ bytes: [UInt8]) throws(Failure) {
        if !hasBegun, ImageFormat(detecting: bytes.span) != nil || bytes.contains(0) {
            hasEnded = true
            throw Failure(
                "\(Self.name): this is no list of addresses, one a line; marquee show - shows a picture",
                code: "no-list")
        }
        hasEnded = bytes.isEmpty
        let end = hasEnded ? bytes.endIndex : bytes.lastIndex(of: UInt8(ascii: "\n")).map { $0 + 1 }
        unfinished += bytes[..<(end ?? bytes.endIndex)]
        guard let end else { return }
        var text = String(decoding: unfinished, as: UTF8.self)[...]
        unfinished = Array(bytes[end...])
        // Skips a byte order mark, which some editors write before the first line.
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
