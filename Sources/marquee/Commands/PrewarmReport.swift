import LazyImages
import SystemSupport

/// Shows the progress of a prewarm: a bar on standard error for a person; otherwise a line for each image, or an object
/// for programs.
final class PrewarmReport: Sendable {
    private struct State {
        var reported: Set<Int> = []
        var failed: Set<Int> = []
        var failures: FailureReport
    }

    private let session: Session
    /// The addresses, without credentials.
    private let urls: [String]
    /// What messages call each of them; empty where they name the address.
    private let names: [String]
    private let state: Lock<State>
    /// False if the bar is on the same terminal, which is enough.
    private let printsLines: Bool
    private let work = Lock<Int?>(nil)

    /// - Parameter traffic: the bytes received so far.
    init(
        _ session: Session, _ urls: [String], named names: [String] = [],
        traffic: @escaping @Sendable () -> NetworkActivity.Traffic
    ) {
        self.session = session
        self.urls = urls
        self.names = names
        state = Lock(State(failures: FailureReport(session.output)))
        printsLines =
            !session.output.isQuiet && !session.settings.wantsJSON
            && !(Output.isTerminal && Terminal.showsProgress)
        let number = session.output.progress.begin { [self] in
            let (done, failed) = state.withLock { ($0.reported.count, $0.failed.count) }
            return JobProgress(
                done: done, total: urls.count, failed: failed, bytes: traffic())
        }
        work.withLock { $0 = number }
    }

    func add(_ result: Prewarmer.ItemResult) {
        let url = result.request.url.displayText
        let timing = LoadTiming(total: result.duration, queued: result.queued)
        let record: FetchRecord
        switch result.outcome {
        case .alreadyCached(let image), .fetched(let image):
            record = FetchRecord(
                image, of: url, timing: timing, wantsChecksum: session.settings.wantsChecksum)
        // Only a prewarm into memory gives this result; the command does not ask for one.
        case .alreadyDecoded: return
        case .failed(let error):
            record = FetchRecord(error, of: url, timing: timing)
        }
        add(record, index: result.index)
    }

    /// The result of one image. A failed image may come again after a job has been resumed.
    func add(_ record: FetchRecord, index: Int) {
        let url = record.url
        if session.settings.wantsJSON {
            session.output.json(record)
            session.output.flush()
        } else if printsLines, record.error == nil {
            session.output.line(record.summary + "  " + url)
            session.output.flush()
        }
        state.withLock { state in
            state.reported.insert(index)
            state.failed.remove(index)
            if let error = record.error {
                state.failed.insert(index)
                state.failures.add(
                    names.isEmpty
                        ? error.message
                        : names[index] + ": " + ImageLoadingError.withoutAddress(error.message))
            }
        }
    }

    /// Ends the bar.
    func end() { session.output.progress.end(work.withLock { $0 }) }

    /// Reports the images left after an interruption, and then the summary.
    /// - Parameters:
    ///   - withoutPoster: the films that have no poster.
    ///   - duration: how long it took; nil if that is unknown.
    ///   - isData: whether the summary is a part of what the user asked for, and goes to standard output. Default: it
    ///     is a message.
    func finish(
        _ summary: Prewarmer.Summary, unreadable: Int, withoutPoster: Int = 0, duration: Duration?,
        isData: Bool = false
    ) {
        end()
        if session.settings.wantsJSON {
            let reported = state.withLock { $0.reported }
            for (index, url) in urls.enumerated() where !reported.contains(index) {
                session.output.json(FetchRecord(.cancelled(url: url), of: url))
            }
            session.output.flush()
        }
        guard !session.output.isQuiet, !session.settings.wantsJSON else { return }
        var parts = [
            "\(summary.fetched) fetched (\(ByteCount.text(summary.bytesFetched)))",
            "\(summary.alreadyCached) already cached"
                + (summary.revalidated > 0 ? " (\(summary.revalidated) revalidated)" : ""),
        ]
        if summary.failed + unreadable > 0 { parts.append("\(summary.failed + unreadable) failed") }
        if withoutPoster > 0 {
            parts.append("\(withoutPoster) \(withoutPoster == 1 ? "film" : "films") without a poster")
        }
        if summary.cancelled > 0 { parts.append("\(summary.cancelled) not tried") }
        if let duration { parts.append("in \(duration.seconds.formatted(decimals: 2)) s") }
        let text = parts.joined(separator: ", ")
        guard isData else { return session.output.note(text) }
        session.output.line(text)
        session.output.flush()
    }
}
