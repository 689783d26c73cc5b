internal import Glibc
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
                + answer.forwardedFor.reduce(0) { $0 + $1.utf8.count }
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
        enum Outcome { case first, queued, dropped }
        let outcome: Outcome = state.withLock { state in
            guard !state.isClosed, state.size + entry.size <= limit else { return .dropped }
            state.size += entry.size
            state.entries.append(entry)
            return state.entries.count == 1 ? .first : .queued
        }
        switch outcome {
        case .first: wake.signal()
        case .queued: break
        case .dropped: dropped.add()
        }
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
            if !writeAll(bytes) { dropped.add(lines) }
            bytes.removeAll(keepingCapacity: true)
            lines = 0
        }
    }

    /// Whether the reader has taken all bytes. Waits for a slow reader.
    private func writeAll(_ bytes: [UInt8]) -> Bool {
        var rest = bytes[...]
        while !rest.isEmpty {
            let count = unsafe rest.withUnsafeBytes { unsafe Glibc.write(output, $0.baseAddress, $0.count) }
            if count > 0 {
                rest = rest.dropFirst(count)
            } else if errno == EAGAIN {
                _ = Polling.ready([(output, POLLOUT)])
            } else if errno != EINTR {
                return false
            }
        }
        return true
    }
}
