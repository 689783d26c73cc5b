import SystemSupport

/// Where `ImageListModel` writes what its rows show, and where everybody else reads it, from any thread or actor.
final class RowBoard: Sendable {
    private struct State {
        var notices = RowNotices()
        /// How each reader is woken: a stream that keeps one ring at most.
        var bells: [Int: AsyncStream<Void>.Continuation] = [:]
        var isFinished = false
    }

    private let state = Lock(State())

    var counters: ImageListCounters { state.withLock { $0.notices.counters } }

    func state(of row: Int) -> RowState { state.withLock { $0.notices.state(of: row) } }

    /// Writes what changed, all at once, and wakes the readers.
    func post(_ changes: [(row: Int, state: RowState)], list: Int, counters: ImageListCounters) {
        // What is replaced is handed out, so that no image ends while the lock is held.
        let (bells, replaced) = state.withLock { state in
            state.notices.list = list
            state.notices.counters = counters
            let replaced = changes.map { state.notices.post($0.state, for: $0.row) }
            return (changes.isEmpty ? [] : Array(state.bells.values), replaced)
        }
        letGo(replaced)
        for bell in bells { bell.yield() }
    }

    /// Not inlined, because the optimiser would end a result that is only thrown away before the lock is opened.
    @inline(never)
    private func letGo(_ states: consuming [RowState?]) {}

    /// Ends every reader's sequence once it has read what there is.
    func finish() {
        let bells = state.withLock { state in
            state.isFinished = true
            return Array(state.bells.values)
        }
        for bell in bells { bell.finish() }
    }

    /// Adds a reader; the stream says when there may be news.
    func addReader() -> (number: Int, bell: AsyncStream<Void>) {
        let (stream, bell) = AsyncStream.makeStream(of: Void.self, bufferingPolicy: .bufferingNewest(1))
        let (number, isFinished) = state.withLock { state in
            let number = state.notices.addReader()
            state.bells[number] = bell
            return (number, state.isFinished)
        }
        if isFinished { bell.finish() }
        return (number, stream)
    }

    func removeReader(_ number: Int) {
        state.withLock { state in
            state.notices.removeReader(number)
            state.bells[number] = nil
        }
    }

    func next(for reader: Int) -> RowUpdate? { state.withLock { $0.notices.next(for: reader) } }
}
