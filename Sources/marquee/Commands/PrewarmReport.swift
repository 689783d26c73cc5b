import LazyImages

/// Shows a prewarm as it goes: a bar on standard error for a person, a line an image otherwise, an object for programs.
final class PrewarmReport: Sendable {
    private struct State {
        var done = 0
        var bytes = 0
        var failed = 0
        var failures: FailureReport
    }

    private let session: Session
    private let total: Int
    private let bar: ProgressBar?
    private let state: Lock<State>

    init(_ session: Session, total: Int) {
        self.session = session
        self.total = total
        state = Lock(State(failures: FailureReport(session.output)))
        let isForPeople = !session.settings.wantsJSON && !session.output.isQuiet
        bar = isForPeople && Terminal.showsProgress && Output.isTerminal ? ProgressBar() : nil
        bar?.draw(done: 0, of: total, note: "")
    }

    func add(_ result: Prewarmer.ItemResult) {
        let url = result.request.url.displayText
        let record: FetchRecord
        switch result.outcome {
        case .alreadyCached(let image), .fetched(let image):
            record = FetchRecord(
                image, of: url, duration: result.duration, wantsChecksum: session.settings.wantsChecksum)
        case .failed(let error):
            record = FetchRecord(error, of: url, duration: result.duration)
        }
        let note = state.withLock { state in
            state.done += 1
            if ["network", "resumed"].contains(record.outcome) { state.bytes += record.bytes ?? 0 }
            if record.error != nil { state.failed += 1 }
            let failed = state.failed == 0 ? "" : ", \(state.failed) failed"
            return (done: state.done, text: ByteCount.text(state.bytes) + failed)
        }
        if session.settings.wantsJSON {
            session.output.json(record)
            session.output.flush()
        } else if let bar {
            if record.error != nil { bar.clear() }
        } else if record.error == nil, !session.output.isQuiet {
            session.output.line(record.summary + "  " + url)
            session.output.flush()
        }
        if let error = record.error { state.withLock { $0.failures.add(error.message) } }
        bar?.draw(done: note.done, of: total, note: note.text)
    }

    /// The last line: what became of all of them.
    func finish(_ summary: Prewarmer.Summary, unreadable: Int, duration: Duration) {
        bar?.clear()
        guard !session.output.isQuiet, !session.settings.wantsJSON else { return }
        var parts = [
            "\(summary.fetched) fetched (\(ByteCount.text(summary.bytesFetched)))",
            "\(summary.alreadyCached) already cached"
                + (summary.revalidated > 0 ? " (\(summary.revalidated) revalidated)" : ""),
        ]
        if summary.failed + unreadable > 0 { parts.append("\(summary.failed + unreadable) failed") }
        if summary.cancelled > 0 { parts.append("\(summary.cancelled) not tried") }
        session.output.line(
            parts.joined(separator: ", ") + ", in \(duration.seconds.formatted(decimals: 2)) s")
        session.output.flush()
    }
}
