import FoundationEssentials
import Glibc

/// What is piped into the program.
enum StandardInput {
    /// Larger inputs are no list of addresses.
    private static let limit = 64 * 1024 * 1024

    /// Everything up to the end.
    static func bytes() throws(Failure) -> [UInt8] {
        var all: [UInt8] = []
        var chunk = [UInt8](repeating: 0, count: 64 * 1024)
        while true {
            let count = unsafe read(STDIN_FILENO, &chunk, chunk.count)
            if count < 0, errno == EINTR { continue }
            guard count >= 0 else { throw Failure("standard input cannot be read") }
            if count == 0 { return all }
            all += chunk[..<count]
            guard all.count <= limit else { throw Failure("standard input is larger than \(limit) bytes") }
        }
    }

    /// Its lines without blank ones and without comments, which begin with `#`.
    static func lines() throws(Failure) -> [String] {
        String(decoding: try bytes(), as: UTF8.self).split(whereSeparator: \.isNewline)
            .map { $0.trimmingWhitespace() }.filter { !$0.isEmpty && !$0.hasPrefix("#") }
    }
}

extension Substring {
    fileprivate func trimmingWhitespace() -> String {
        let start = drop { $0.isWhitespace }
        guard let last = start.lastIndex(where: { !$0.isWhitespace }) else { return "" }
        return String(start[...last])
    }
}
