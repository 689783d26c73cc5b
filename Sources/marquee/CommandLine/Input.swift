import ImageCodecs
import SystemSupport

/// Reads standard input and files.
enum Input {
    /// The most bytes of an input. Catalogues and lists of addresses are smaller.
    static let limit = 64 * 1024 * 1024

    /// All of standard input: at most `limit` bytes.
    static func standard(limit: Int = limit) async throws(Failure) -> [UInt8] {
        try await reading { () throws(Failure) in
            try all(of: STDIN_FILENO, name: "standard input", limit: limit)
        }
    }

    /// The content of a file: at most `limit` bytes.
    /// - Parameter isPipeAllowed: whether it may be a pipe, and opening it wait for a writer. Default: yes.
    static func file(
        _ path: String, limit: Int = limit, isPipeAllowed: Bool = true
    ) async throws(Failure) -> [UInt8] {
        try await reading { () throws(Failure) in
            let file = try opened(path, isPipeAllowed ? 0 : O_NONBLOCK)
            // Ignored: an open file always has a status.
            guard isPipeAllowed || (try? FileCalls().status(of: file))?.isFile == true else {
                throw Failure("\(path): it is not a file; only files are read again")
            }
            return try all(of: file.number, name: path, limit: limit)
        }
    }

    /// The first bytes of a file, to detect its format.
    static func beginning(of path: String) throws(Failure) -> ArraySlice<UInt8> {
        let file = try opened(path, O_NONBLOCK)
        var chunk = [UInt8](repeating: 0, count: 4096)
        return try some(of: file.number, name: path, &chunk)
    }

    private static func opened(_ path: String, _ flags: Int32) throws(Failure) -> Descriptor {
        var number = unsafe open(path, O_RDONLY | O_CLOEXEC | flags)
        // A socket, as standard input is in a command over SSH, cannot be opened by its path.
        if number < 0, errno == ENXIO, path == "/dev/stdin" {
            number = fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, 0)
        }
        if number >= 0 { return Descriptor(number) }
        let code = errno
        throw Failure("\(path): \(FetchTarget.faultOfLink(path) ?? reason(code)); check the path")
    }

    /// Runs `read` on a thread of its own, since a pipe may never end, and a named one may wait for its other side. If
    /// the task is cancelled, the thread stays until the program ends, which is soon.
    static func reading<Value: Sendable>(
        _ read: @escaping @Sendable () throws(Failure) -> Value
    ) async throws(Failure) -> Value {
        let (outcomes, continuation) = AsyncStream.makeStream(of: Result<Value, Failure>.self)
        do {
            try BlockingThreads.startThread {
                continuation.yield(Result { () throws(Failure) in try read() })
                continuation.finish()
            }
        } catch {
            throw Failure(error, doing: "reading")
        }
        for await outcome in outcomes { return try outcome.get() }
        throw Failure("interrupted while reading", code: "cancelled")
    }

    private static func all(
        of descriptor: Int32, name: String, limit: Int = limit
    ) throws(Failure) -> [UInt8] {
        var all: [UInt8] = []
        var chunk = [UInt8](repeating: 0, count: 64 * 1024)
        while true {
            let more = try some(of: descriptor, name: name, &chunk)
            if more.isEmpty { return all }
            all += more
            guard all.count <= limit else {
                throw Failure("\(name): it is larger than \(ByteCount.text(limit)); split it")
            }
        }
    }

    /// The bytes of one read; empty at the end.
    static func some(
        of descriptor: Int32, name: String, _ chunk: inout [UInt8]
    ) throws(Failure) -> ArraySlice<UInt8> {
        while true {
            let count = unsafe read(descriptor, &chunk, chunk.count)
            if count < 0, errno == EINTR { continue }
            guard count >= 0 else { throw Failure("\(name): \(reason(errno))") }
            return chunk[..<count]
        }
    }

    private static func reason(_ code: Int32) -> String {
        switch code {
        case ENOENT: "there is no such file"
        case EISDIR: "it is a folder; name a file in it"
        case EACCES: "you may not read it"
        default: "it cannot be read: \(SystemError.text(code))"
        }
    }
}

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
            try take(try await Self.bytes())
            guard unfinished.count <= Input.limit else {
                hasEnded = true
                throw Failure("\(Self.name): a line is larger than \(ByteCount.text(Input.limit))")
            }
        }
        return lines.popFirst()
    }

    /// All of standard input if it begins like a picture, or is empty; nil if it is a list. Ask before `next`.
    /// - Parameters:
    ///   - isSure: whether it cannot be a list.
    ///   - limit: the most bytes of a picture.
    func picture(isSure: Bool, limit: Int) async throws(Failure) -> [UInt8]? {
        let beginning = try await Self.bytes()
        if !isSure, !beginning.isEmpty, ImageFormat(detecting: beginning.span) == nil {
            try take(beginning)
            return nil
        }
        hasEnded = true
        return beginning + (try await Input.standard(limit: limit))
    }

    /// The bytes that arrive next; none at the end.
    private static func bytes() async throws(Failure) -> [UInt8] {
        try await Input.reading { () throws(Failure) in
            var chunk = [UInt8](repeating: 0, count: 64 * 1024)
            return Array(try Input.some(of: STDIN_FILENO, name: name, &chunk))
        }
    }

    /// The lines that have already arrived; does not wait for more.
    func rest() -> [String] {
        var count = 0
        // The limit ends the loop even if a writer never stops.
        while !hasEnded, count < Input.limit {
            var ready = pollfd(fd: STDIN_FILENO, events: Int16(POLLIN), revents: 0)
            guard unsafe poll(&ready, 1, 0) > 0 else { break }
            var chunk = [UInt8](repeating: 0, count: 64 * 1024)
            // Ignored: the program is about to end, and the bytes read so far count.
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
        lines += text.split(whereSeparator: \.isNewline).map { String($0.trimmed) }
            .filter { !$0.isEmpty && !$0.hasPrefix("#") }
    }
}

extension Substring {
    /// Without white space at its ends.
    var trimmed: Substring {
        let start = drop { $0.isWhitespace }
        return start.lastIndex { !$0.isWhitespace }.map { start[...$0] } ?? ""
    }
}

/// A question before something is removed.
enum Confirmation {
    static let options = [
        Option(name: "yes", letter: "y", help: "remove without confirmation"),
        Option(name: "dry-run", help: "only say what would be removed"),
    ]

    /// Whether a command removes without a question: because of `--yes`, or because of `--dry-run` nothing.
    /// - Throws: if it has to ask, and nobody can answer.
    static func isNeedless(_ arguments: Arguments, for command: String) throws(UsageError) -> Bool {
        if arguments.has("yes") || arguments.has("dry-run") { return true }
        guard isatty(STDIN_FILENO) == 1 && isatty(STDERR_FILENO) == 1 else {
            throw UsageError("\(command) asks before it removes, but there is no terminal; add --yes")
        }
        return false
    }

    /// Asks, and waits for a line. Only `y` and `yes` confirm.
    static func isGiven(_ question: String, _ output: Output) async throws(Failure) -> Bool {
        output.question(question + " [y/N] ")
        let answer = try await InputLines().next()?.lowercased() ?? ""
        if answer == "y" || answer == "yes" { return true }
        output.notice("nothing was removed")
        return false
    }
}
