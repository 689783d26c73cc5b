internal import Glibc
package import HTTPServer
package import SystemSupport

/// A line for each request, on standard output: there the lines are data for a program, apart from the messages for people
/// on standard error, and there container managers look for them.
///
/// The threads that serve never wait for the reader. They put their answers into a queue, which one thread writes; a line
/// that finds no room is counted and dropped.
package final class RequestLog: Sendable {
    package enum Form: String, Sendable, CaseIterable {
        /// An object a line.
        case json
        case text
    }

    private struct Entry: Sendable {
        let answer: HTTPServer.Answer
        /// In milliseconds since 1970.
        let time: Int

        /// What it takes of memory, nearly.
        var size: Int {
            256 + answer.target.utf8.count + answer.forwardedFor.reduce(0) { $0 + $1.utf8.count }
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
    private let wake, ended: WakeDescriptor

    /// How long the end of the program waits for the reader to take the last lines.
    private static let lastWait = Duration.seconds(1)

    /// A log that keeps its lines until `start()`.
    /// - Parameters:
    ///   - output: a descriptor, which stays the caller's. Default: standard output.
    ///   - clients: tells who the client is.
    ///   - limit: bytes that may wait for the reader, default 4 MiB, which are some 10,000 lines.
    package init(
        _ form: Form, output: Int32 = STDOUT_FILENO, clients: ForwardedClient = ForwardedClient(),
        limit: Int = 4 << 20
    ) throws(ResourceShortage) {
        self.form = form
        self.output = output
        self.clients = clients
        self.limit = limit
        wake = try WakeDescriptor()
        ended = try WakeDescriptor()
    }

    /// Lines that were dropped, because the reader was too slow or has gone.
    package var droppedLines: Int { dropped.value }

    /// Writes from now on.
    /// - Throws: when the system gives no thread.
    package func start() throws(ResourceShortage) {
        try BlockingThreads.startThread(name: "marquee-log") { [self] in
            // A reader that has gone is an error to count, not a reason to die.
            var signals = sigset_t()
            _ = unsafe sigfillset(&signals)
            _ = unsafe pthread_sigmask(SIG_BLOCK, &signals, nil)
            writeUntilClosed()
            ended.signal()
        }
        state.withLock { $0.hasThread = true }
    }

    /// Takes an answer. Never waits, and writes nothing itself.
    package func record(_ answer: HTTPServer.Answer) {
        var now = timespec()
        unsafe clock_gettime(CLOCK_REALTIME, &now)
        let entry = Entry(answer: answer, time: now.tv_sec * 1000 + now.tv_nsec / 1_000_000)
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

    /// Writes what waits and ends. Waits a second for a reader that takes nothing. Blocks.
    package func close() {
        let hasThread = state.withLock { state in
            state.isClosed = true
            return state.hasThread
        }
        wake.signal()
        if hasThread { _ = Polling.ready([(ended.descriptor, POLLIN)], until: .now + Self.lastWait) }
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

    /// Whether the reader has taken all. Waits for a reader that is slow.
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
