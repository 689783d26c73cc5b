internal import FoundationEssentials
internal import HTTPSemantics
package import HTTPServer
package import SystemSupport

/// Writes a line for each request to standard output, where container managers collect it. Messages for people go to
/// standard error.
///
/// The threads that serve requests never wait for the log's reader. They put answers into a queue, and one thread
/// writes them. If the queue is full, the line is dropped and counted.
package final class RequestLog: Sendable {
    package enum Form: String, Sendable, CaseIterable {
        /// One JSON object on each line.
        case json
        case text
    }

    private struct Entry: Sendable {
        let answer: HTTPServer.Answer
        /// In milliseconds since 1970.
        let time: Int

        /// The approximate memory of the entry, in bytes.
        var size: Int {
            256 + answer.target.utf8.count + answer.id.utf8.count + (answer.writer?.utf8.count ?? 0)
                + (answer.forwardedFor + [answer.userAgent, answer.referer, answer.trace].compactMap(\.self))
                .reduce(0) { $0 + $1.utf8.count }
        }
    }

    private struct State: Sendable {
        var entries: [Entry] = []
        var size = 0
        var isClosed = false
        var hasThread = false
    }

    private let form: Form
    private let output: Int32
    private let clients: ForwardedClient
    private let limit: Int
    private let state = Lock(State())
    private let dropped = Counter()
    private let lastWait: Duration
    private let wake, ended: WakeDescriptor

    /// A log that keeps its lines until `start()`.
    /// - Parameters:
    ///   - output: a descriptor, which the caller owns. Default: standard output.
    ///   - clients: finds the client of a request.
    ///   - limit: the bytes that may wait for the reader, default 4 MiB (some 10,000 lines).
    ///   - lastWait: how long `close()` waits for the reader to take the last lines. Default: a second.
    package init(
        _ form: Form, output: Int32 = STDOUT_FILENO, clients: ForwardedClient = ForwardedClient(),
        limit: Int = 4 << 20, lastWait: Duration = .seconds(1)
    ) throws(ResourceShortage) {
        self.form = form
        self.output = output
        self.clients = clients
        self.limit = limit
        self.lastWait = lastWait
        wake = try WakeDescriptor()
        ended = try WakeDescriptor()
    }

    /// The lines dropped because the reader was too slow or has gone.
    package var droppedLines: Int { dropped.value }

    /// Begins to write.
    /// - Throws: when the system gives no thread.
    package func start() throws(ResourceShortage) {
        try BlockingThreads.startThread(name: "marquee-log") { [self] in
            // A reader that has gone must count as dropped lines, not end the program by SIGPIPE.
            var signals = sigset_t()
            _ = unsafe sigfillset(&signals)
            _ = unsafe pthread_sigmask(SIG_BLOCK, &signals, nil)
            writeUntilClosed()
            ended.signal()
        }
        state.withLock { $0.hasThread = true }
    }

    /// Adds an answer to the queue. Never waits.
    package func record(_ answer: HTTPServer.Answer) {
        let entry = Entry(answer: answer, time: LogTime.now)
        let count = state.withLock { state in
            guard !state.isClosed, state.size + entry.size <= limit else { return 0 }
            state.size += entry.size
            state.entries.append(entry)
            return state.entries.count
        }
        if count == 0 { dropped.add() }
        if count == 1 { wake.signal() }
    }

    /// Writes the queue and ends. Waits at most `lastWait` for a reader that takes nothing. Blocks.
    package func close() {
        let hasThread = state.withLock { state in
            state.isClosed = true
            return state.hasThread
        }
        wake.signal()
        if hasThread { _ = Polling.ready([(ended.descriptor, POLLIN)], until: .now + lastWait) }
    }

    private func writeUntilClosed() {
        while true {
            wake.wait()
            wake.reset()
            let (entries, isClosed) = state.withLock { state in
                defer { (state.entries, state.size) = ([], 0) }
                return (state.entries, state.isClosed)
            }
            write(entries)
            if isClosed { return }
        }
    }

    private func write(_ entries: [Entry]) {
        var bytes: [UInt8] = []
        var lines = 0
        for (index, entry) in entries.enumerated() {
            let client = clients.client(peer: entry.answer.peer, forwardedFor: entry.answer.forwardedFor)
            let line = LogLine(answer: entry.answer, client: client, time: entry.time)
            bytes += (form == .json ? line.json : line.text).utf8
            lines += 1
            guard bytes.count >= 64 << 10 || index == entries.count - 1 else { continue }
            do {
                try FileCalls().write(bytes, toStream: output)
            } catch {
                dropped.add(lines)
            }
            bytes.removeAll(keepingCapacity: true)
            lines = 0
        }
    }
}

/// One request as a line of a log.
///
///     {"time":"2026-11-22T15:49:34.123Z","id":"5f1c2a00000012b","method":"GET","path":"/image/*/w342/*","source":"https://example.org/a.jpg","status":200,"bytes":18231,"ms":3.214,"client":"203.0.113.7","cache":"marquee; hit"}
///     {"time":"2026-11-22T15:49:35.250Z","id":"5f1c2a00000012c","method":"POST","path":"/films","status":201,"bytes":182,"ms":4.051,"client":"203.0.113.7","writer":"laptop"}
///
///     2026-11-22T15:49:34.123Z 203.0.113.7 "GET /image/*/w342/*" 200 18231 3.214 ms "https://example.org/a.jpg" "marquee; hit" "5f1c2a00000012b" - "curl/8.14.1" - -
///
/// At the end are User-Agent, Referer and traceparent, as `agent`, `referer` and `trace` in JSON, cut at 256 bytes. A line
/// has no secrets: no query, user information, other request field or signature. It has visible ASCII characters only,
/// so that it cannot steer a terminal or look like two lines.
struct LogLine {
    let answer: HTTPServer.Answer
    let client: IPAddress?
    /// The end of the answer, in milliseconds since 1970.
    let time: Int

    var json: String {
        let path = LogPath(answer.target)
        var line = "{\"time\":\"\(LogTime.text(time))\",\"id\":\(Self.quoted(answer.id))"
        line += ",\"method\":\(Self.quoted(answer.method)),\"path\":\(Self.quoted(path.text))"
        if let source = path.source { line += ",\"source\":\(Self.quoted(source))" }
        line += ",\"status\":\(answer.status),\"bytes\":\(answer.bytes),\"ms\":\(milliseconds)"
        if let client { line += ",\"client\":\"\(client)\"" }
        if let writer = answer.writer { line += ",\"writer\":\(Self.quoted(writer))" }
        if let cache = answer.cacheStatus { line += ",\"cache\":\(Self.quoted(cache))" }
        for (name, value) in clientFields {
            if let value { line += ",\"\(name)\":\(Self.quoted(value))" }
        }
        return line + "}\n"
    }

    var text: String {
        let path = LogPath(answer.target)
        var line = "\(LogTime.text(time)) \(client.map { "\($0)" } ?? "-")"
        line += " \(Self.quoted("\(answer.method) \(path.text)")) \(answer.status) \(answer.bytes)"
        line += " \(milliseconds) ms \(path.source.map(Self.quoted) ?? "-")"
        line += " \(answer.cacheStatus.map(Self.quoted) ?? "-") \(Self.quoted(answer.id))"
        line += " \(answer.writer.map(Self.quoted) ?? "-")"
        for (_, value) in clientFields { line += " \(value.map(Self.quoted) ?? "-")" }
        return line + "\n"
    }

    /// What the client says of itself.
    private var clientFields: [(name: String, value: String?)] {
        [
            ("agent", answer.userAgent), ("referer", answer.referer.flatMap(LogPath.page)),
            ("trace", answer.trace),
        ].map { ($0.0, $0.1.map { String(decoding: $0.utf8.prefix(256), as: UTF8.self) }) }
    }

    private var milliseconds: String {
        let microseconds = max(0, Int(answer.time / .microseconds(1)))
        return "\(microseconds / 1000).\(HTTPDate.padded(microseconds % 1000, 3))"
    }

    private static func quoted(_ text: String) -> String { JSONString.quoted(text, onlyASCII: true) }
}

/// The parts of a request's target that a log may show.
package struct LogPath: Hashable, Sendable {
    /// The path alone. In a picture's address, the signature is shown as `*` unless it is `-`. The encoded source is
    /// `*` too, because it may hold a secret.
    package let text: String
    /// The address of the picture, without user information, query and fragment.
    package let source: String?

    /// - Parameter target: the request's target, as the client sent it.
    package init(_ target: String) {
        let path = target.utf8.prefix { $0 != UInt8(ascii: "?") }
        guard let segments = try? RequestTarget(String(decoding: path, as: UTF8.self)).segments else {
            // Ignored: an unreadable target may hold anything, so the log shows none of it.
            (text, source) = ("*", nil)
            return
        }
        var shown = segments.map(PercentEncoding.encoded)
        var source: String?
        if let image = Self.picture(in: segments) {
            for (index, segment) in segments.enumerated().dropFirst(image + 1) {
                let isRecipe = index == image + 2
                if !isRecipe, segment != "-" { shown[index] = "*" }
            }
            source = segments.count == image + 4 ? Self.source(segments[image + 3]) : nil
        }
        text = "/" + shown.joined(separator: "/")
        self.source = source
    }

    /// The index of `image` in `/image/{signature}/{recipe}/{source}`: at the beginning, or behind a prefix that a
    /// proxy or a mistake has added.
    private static func picture(in segments: [String]) -> Int? {
        segments.indices.first { index in
            segments[index] == "image" && (index == 0 || segments.count - index >= 4)
        }
    }

    /// The address of a page, as far as the log may show it; nil for text that is no address.
    static func page(_ address: String) -> String? {
        parts(of: Array(address.utf8)).map { $0.origin + LogPath($0.path.isEmpty ? "/" : $0.path).text }
    }

    private static func source(_ encoded: String) -> String? {
        Base64URL.decode(encoded).flatMap(parts).map { PercentEncoding.visible($0.origin + $0.path) }
    }

    /// Scheme and host, and the path, of an absolute address.
    private static func parts(of bytes: [UInt8]) -> (origin: String, path: String)? {
        // Compares bytes: Swift may join a question mark with a combining accent, but it still begins a query.
        guard let colon = bytes.firstIndex(of: UInt8(ascii: ":")), bytes[colon...].starts(with: "://".utf8)
        else { return nil }
        let rest = bytes[(colon + 3)...]
        let authority = rest.prefix { !"/?#\\".utf8.contains($0) }
        let host = authority.split(separator: UInt8(ascii: "@"), omittingEmptySubsequences: false).last ?? []
        let name = String(decoding: host, as: UTF8.self)
        // Text that is not a host may be part of a password with a slash in it.
        guard HostAndPort(name) != nil else { return nil }
        let path = rest[authority.endIndex...].prefix { !"?#".utf8.contains($0) }
        return (
            String(decoding: bytes[..<colon], as: UTF8.self) + "://" + name,
            String(decoding: path, as: UTF8.self)
        )
    }
}

/// Times in the log and in messages: milliseconds since 1970.
enum LogTime {
    static var now: Int { Int(Date().timeIntervalSince1970 * 1000) }

    /// RFC 3339, UTC, with milliseconds: `2026-11-22T15:49:34.123Z`.
    static func text(_ time: Int) -> String {
        // Half a millisecond more: the format cuts, and a binary fraction may be just below the time.
        Date(timeIntervalSince1970: (Double(time) + 0.5) / 1000).formatted(format)
    }

    private static let format = Date.ISO8601FormatStyle(includingFractionalSeconds: true)
}
