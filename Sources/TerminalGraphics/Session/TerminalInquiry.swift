internal import CMarqueeSystem
internal import SystemSupport

/// Queries the process's terminal for its capabilities, for programs that print lines and leave the screen alone.
///
/// Late answers must not reach the shell. If the last one does not come within the limit, a thread keeps reading
/// without echo, by default for as long again; `end()` waits for it before the program ends.
package enum TerminalInquiry {
    private static let late = Lock<Task<Void, Never>?>(nil)

    /// Sends the queries and waits for the last answer until the limit. Pushes keys typed meanwhile back into the
    /// input. Where the kernel forbids that (`dev.tty.legacy_tiocsti`), keys typed before the last answer are lost; keys
    /// typed behind it are not read.
    ///
    /// Nil if there is no terminal, or another process group has it.
    /// - Parameter lateLimit: how long after the limit the thread reads late answers. Default: the limit.
    package static func answers(
        path: String = "/dev/tty", isInTmux: Bool = false, limit: Duration, lateLimit: Duration? = nil
    ) async -> TerminalAnswers? {
        // Ignored: without a thread no query is sent.
        let asked = try? await BlockingThreads(count: 1).run {
            ask(path: path, isInTmux: isInTmux, limit: limit, lateLimit: lateLimit ?? limit)
        }
        guard let asked = asked ?? nil else { return nil }
        if !asked.answers.isComplete {
            let task = Task.detached {
                await BlockingThreads.runOnOwnThread {
                    var asked = asked
                    asked.finish()
                }
            }
            late.withLock { $0 = task }
        }
        return asked.answers
    }

    /// Returns when no more answers are expected: at once if all have come.
    package static func end() async { await late.withLock { $0 }?.value }

    /// Blocks: do not call it on the cooperative pool.
    private static func ask(
        path: String, isInTmux: Bool, limit: Duration, lateLimit: Duration
    ) -> PendingInquiry? {
        do {
            let session = try TerminalSession(modes: .plain, path: path)
            guard tcgetpgrp(session.descriptor) == getpgrp() else { return nil }
            try session.enter()
            try session.write(isInTmux ? TerminalAnswers.questionsInTmux : TerminalAnswers.questions)
            let end = ContinuousClock.now + limit
            var asked = PendingInquiry(
                session: session, sorter: AnswerSorter(isInTmux: isInTmux), lateEnd: end + lateLimit)
            asked.read(until: end)
            // Some terminals print a query that they do not know: macOS' Terminal, and the console of Linux.
            try session.write(Array("\r\u{1B}[K".utf8))
            if asked.answers.isComplete { asked.finish() }
            return asked
        } catch {
            // Ignored: if the terminal is gone, the next write fails and reports it.
            return nil
        }
    }
}

/// A running inquiry, with its answers so far.
private struct PendingInquiry: Sendable {
    let session: TerminalSession
    var sorter: AnswerSorter
    /// When to stop reading late answers.
    let lateEnd: ContinuousClock.Instant

    /// Input this soon after the last answer still belongs to it: some terminals answer twice.
    private static let echoLimit = Duration.milliseconds(10)
    /// How long to wait for the terminal around tmux after tmux itself has answered: it gets no queries if
    /// `allow-passthrough` is off.
    private static let outerLimit = Duration.milliseconds(200)

    var answers: TerminalAnswers { sorter.answers }

    /// Reads until the last answer, or the deadline, or `outerLimit` after tmux's own answer.
    mutating func read(until deadline: ContinuousClock.Instant) {
        var deadline = deadline
        // Byte by byte: nothing behind the last answer is read.
        while !answers.isComplete, let bytes = session.read(until: deadline, atMost: 1), !bytes.isEmpty {
            let awaited = answers.awaitsOuterTerminal
            sorter.take(bytes)
            if answers.awaitsOuterTerminal, !awaited { deadline = min(deadline, .now + Self.outerLimit) }
        }
    }

    /// Waits for the last answer until the end of the late ones, and restores the terminal with the typed keys.
    mutating func finish() {
        read(until: answers.awaitsOuterTerminal ? .now + Self.echoLimit : lateEnd)
        // Keys that cannot be pushed back are not read.
        while answers.isComplete, TerminalSession.canPutBack || sorter.keys.isEmpty,
            let bytes = session.read(
                until: min(lateEnd, .now + Self.echoLimit),
                atMost: TerminalSession.canPutBack ? TerminalSession.mostBytes : 1),
            !bytes.isEmpty
        {
            sorter.take(bytes)
        }
        sorter.end()
        // Before echo is switched on again.
        session.putBack(sorter.keys)
        session.leave()
    }
}
