internal import CSystem
internal import Glibc
internal import SystemSupport

/// Asks the process's terminal what it can do, for programs that print lines and leave the screen as it is.
///
/// Answers that are late must not reach the shell. So where the last one has not come within the limit, a thread reads on, without an
/// echo, as long again; ``end()`` waits for it before the program ends.
package enum TerminalInquiry {
    private static let late = Lock<Task<Void, Never>?>(nil)

    /// How long the terminal around tmux has after tmux itself has answered: it gets no questions where `allow-passthrough` is off.
    fileprivate static let outerLimit = Duration.milliseconds(200)

    /// Asks, and waits for the last answer until the limit. Keys typed meanwhile are put back, to be read by whoever reads next;
    /// where the kernel refuses that (`dev.tty.legacy_tiocsti`), those that came before the last answer are lost.
    ///
    /// Nil where there is no terminal, or it is another process group's.
    package static func answers(
        path: String = "/dev/tty", isInTmux: Bool = false, limit: Duration
    ) async -> TerminalAnswers? {
        // Losing the error is right: where there is no thread nothing is asked.
        let asked = try? await BlockingThreads(count: 1).run {
            ask(path: path, isInTmux: isInTmux, limit: limit)
        }
        guard let asked = asked ?? nil else { return nil }
        if !asked.isOver {
            let task = Task.detached {
                await BlockingThreads.runInAnyCase {
                    var asked = asked
                    asked.finish()
                }
            }
            late.withLock { $0 = task }
        }
        return asked.answers
    }

    /// Returns when no answer is waited for any more: at once if all have come.
    package static func end() async { await late.withLock { $0 }?.value }

    /// Blocks: not for the cooperative pool.
    private static func ask(path: String, isInTmux: Bool, limit: Duration) -> Asked? {
        do {
            let session = try TerminalSession(modes: .plain, path: path)
            guard tcgetpgrp(session.descriptor) == getpgrp() else { return nil }
            try session.enter()
            try session.write(isInTmux ? TerminalAnswers.questionsInTmux : TerminalAnswers.questions)
            var asked = Asked(session: session, sorter: AnswerSorter(isInTmux: isInTmux), limit: limit)
            asked.read(until: asked.began + limit, outer: outerLimit)
            if asked.answers.isComplete { asked.finish() }
            return asked
        } catch {
            // A terminal that is gone fails at the next write too, with a word.
            return nil
        }
    }
}

/// A terminal that was asked, and what it has said.
private struct Asked: Sendable {
    let session: TerminalSession
    var sorter: AnswerSorter
    let limit: Duration
    let began = ContinuousClock.now
    var isOver = false

    /// What comes this soon after the last answer belongs to the answers: one that a terminal gives twice.
    private static let echoLimit = Duration.milliseconds(10)

    var answers: TerminalAnswers { sorter.answers }

    /// Reads until the last answer, or the deadline, or so long after tmux's own answer.
    mutating func read(until deadline: ContinuousClock.Instant, outer: Duration) {
        var deadline = deadline
        while !answers.isComplete, let bytes = session.read(until: deadline), !bytes.isEmpty {
            let awaited = answers.awaitsOuterTerminal
            sorter.take(bytes)
            if answers.awaitsOuterTerminal, !awaited { deadline = min(deadline, .now + outer) }
        }
    }

    /// Waits for the last answer as long again as the limit was, and gives the terminal back with the keys that were typed.
    mutating func finish() {
        let end = began + limit + limit
        read(
            until: answers.awaitsOuterTerminal ? .now + Self.echoLimit : end,
            outer: TerminalInquiry.outerLimit)
        while answers.isComplete, let bytes = session.read(until: min(end, .now + Self.echoLimit)),
            !bytes.isEmpty
        {
            sorter.take(bytes)
        }
        sorter.end()
        // Before there is an echo again.
        session.putBack(sorter.keys)
        session.leave()
        isOver = true
    }
}

extension TerminalSession {
    /// Puts keys back that were read. Where the kernel refuses that they are lost.
    fileprivate func putBack(_ keys: [UInt8]) {
        guard !keys.isEmpty else { return }
        _ = unsafe keys.withUnsafeBytes {
            unsafe csystem_terminal_type(descriptor, $0.baseAddress, $0.count)
        }
    }
}
