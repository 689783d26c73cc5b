import SystemSupport

/// What a row of a list shows.
public enum RowState: Sendable {
    /// Nothing yet: the row has no image, waits for the list to come to rest, or is neither visible nor in the page ahead.
    case placeholder
    /// The image is loading; 0 bytes received until the first ones arrive. `preview`: what the image looks like so far, if
    /// the model was asked for previews and there is one.
    case loading(progress: TransferProgress, preview: ImagePreview?)
    /// The image.
    case loaded(LoadedImage)
    /// The load failed. `isRetryable`: the same load may succeed later.
    case failed(reason: ImageLoadingError, isRetryable: Bool)
}

/// A new state of all rows with one request.
public struct RowUpdate: Sendable {
    /// The key of the request, `LoadKey(request)`. The list may have changed since: an update whose key belongs to none of
    /// the present rows can be ignored.
    public let key: LoadKey
    /// What the rows with this request show from now on.
    public let state: RowState
}

/// The updates of a list, as ``ImageListModel/updates`` gives them. A new reader first gets the state of every request
/// that is no placeholder. A slow reader gets the newest state of each request and makes nobody wait; several readers
/// each get everything. The sequence ends with the model, or when the reading task is cancelled.
public struct RowUpdates: AsyncSequence, Sendable {
    /// A new state of all rows with one request.
    public typealias Element = RowUpdate
    /// It never fails.
    public typealias Failure = Never

    let board: RowBoard

    /// Begins to read.
    public func makeAsyncIterator() -> Iterator { Iterator(board) }

    /// One reader.
    public struct Iterator: AsyncIteratorProtocol {
        /// Removes the reader from the board when its iterator is released.
        private final class Subscription: Sendable {
            let board: RowBoard
            let reader: Int

            init(_ board: RowBoard, _ reader: Int) {
                self.board = board
                self.reader = reader
            }

            deinit { board.removeReader(reader) }
        }

        private let subscription: Subscription
        private var bell: AsyncStream<Void>.Iterator

        init(_ board: RowBoard) {
            let (reader, bell) = board.addReader()
            subscription = Subscription(board, reader)
            self.bell = bell.makeAsyncIterator()
        }

        /// The next update, once there is one.
        /// - Parameter actor: where the caller runs.
        public mutating func next(
            isolation actor: isolated (any Actor)? = #isolation
        ) async -> RowUpdate? {
            repeat {
                if Task.isCancelled { return nil }
                if let update = subscription.board.next(for: subscription.reader) { return update }
            } while await bell.next(isolation: actor) != nil
            return nil
        }
    }
}

/// The states of a list's requests: `ImageListModel` writes them, and anybody reads them, from any thread or actor.
final class RowBoard: Sendable {
    private struct State {
        var notices = RowNotices()
        /// Wakes each reader: a stream that keeps at most one ring.
        var bells: [Int: AsyncStream<Void>.Continuation] = [:]
        var isFinished = false
    }

    private let state = Lock(State())

    var counters: ImageListCounters { state.withLock { $0.notices.counters } }

    func state(of key: LoadKey) -> RowState { state.withLock { $0.notices.state(of: key) } }

    /// Writes all changes at once and wakes the readers.
    func post(_ changes: [(key: LoadKey, state: RowState)], counters: ImageListCounters) {
        // The replaced states leave the lock before they end: releasing an image takes time.
        let (bells, replaced) = state.withLock { state in
            state.notices.counters = counters
            let replaced = changes.map { state.notices.post($0.state, for: $0.key) }
            return (changes.isEmpty ? [] : Array(state.bells.values), replaced)
        }
        letGo(replaced)
        for bell in bells { bell.yield() }
    }

    /// Not inlined: the optimiser would otherwise release the unused states while the lock is held.
    @inline(never)
    private func letGo(_ states: consuming [RowState?]) {}

    /// Ends every reader's sequence after what is left to read.
    func finish() {
        let bells = state.withLock { state in
            state.isFinished = true
            return Array(state.bells.values)
        }
        for bell in bells { bell.finish() }
    }

    /// Adds a reader. The stream rings when there may be updates.
    func addReader() -> (reader: Int, bell: AsyncStream<Void>) {
        let (stream, bell) = AsyncStream.makeStream(of: Void.self, bufferingPolicy: .bufferingNewest(1))
        let (reader, isFinished) = state.withLock { state in
            let reader = state.notices.addReader()
            state.bells[reader] = bell
            return (reader, state.isFinished)
        }
        if isFinished { bell.finish() }
        return (reader, stream)
    }

    func removeReader(_ reader: Int) {
        state.withLock { state in
            state.notices.removeReader(reader)
            state.bells[reader] = nil
        }
    }

    func next(for reader: Int) -> RowUpdate? { state.withLock { $0.notices.next(for: reader) } }
}

/// The states of a list's requests, and what each reader has yet to be told. A plain struct, not safe for concurrent use:
/// `RowBoard` holds it under its lock.
///
/// A slow reader misses intermediate states and gets the newest one of each request. The cost of a reader is bounded,
/// however slow it is: only present states hold images, and a reader's lists have only keys of requests that have a state,
/// or had one when the reader was last told.
struct RowNotices {
    /// What one reader knows.
    struct Reader {
        /// Keys with news, each with the number of its first post that was not read.
        var fresh: [LoadKey: Int] = [:]
        /// Keys that had news when this list was made, the oldest last. It is read to its end before a new one is made, so
        /// that a request with ever more news does not hold up the others.
        var batch: [LoadKey] = []
        /// Keys that are no placeholder, as far as the reader knows.
        var told: Set<LoadKey> = []
    }

    /// The states that are no placeholder, each with the number of its post.
    private var states: [LoadKey: (state: RowState, post: Int)] = [:]
    private(set) var readers: [Int: Reader] = [:]
    private var lastReader = 0
    private var lastPost = 0
    var counters = ImageListCounters()

    /// What the rows with this key show.
    func state(of key: LoadKey) -> RowState { states[key]?.state ?? .placeholder }

    /// Sets a state and returns the one it replaces.
    mutating func post(_ state: RowState, for key: LoadKey) -> RowState? {
        lastPost += 1
        let before = states.removeValue(forKey: key)?.state
        var isPlaceholder = false
        if case .placeholder = state { isPlaceholder = true } else { states[key] = (state, lastPost) }
        for reader in readers.keys {
            if isPlaceholder, readers[reader]?.told.contains(key) == false {
                readers[reader]?.fresh[key] = nil
            } else if readers[reader]?.fresh[key] == nil {
                readers[reader]?.fresh[key] = lastPost
            }
        }
        return before
    }

    /// Adds a reader. Every present state is news for it.
    mutating func addReader() -> Int {
        lastReader += 1
        readers[lastReader] = Reader(fresh: states.mapValues(\.post))
        return lastReader
    }

    mutating func removeReader(_ reader: Int) { readers[reader] = nil }

    /// The next news for a reader, the oldest first; nil if there is none.
    mutating func next(for number: Int) -> RowUpdate? {
        guard var reader = readers.removeValue(forKey: number) else { return nil }
        defer { readers[number] = reader }
        while true {
            if reader.batch.isEmpty {
                reader.batch = reader.fresh.sorted { $0.value > $1.value }.map(\.key)
                reader.fresh.removeAll(keepingCapacity: true)
            }
            guard let key = reader.batch.popLast() else { return nil }
            reader.fresh[key] = nil
            if let state = states[key]?.state {
                reader.told.insert(key)
                return RowUpdate(key: key, state: state)
            }
            // A state that came and went between two readings is no news.
            if reader.told.remove(key) != nil { return RowUpdate(key: key, state: .placeholder) }
        }
    }
}
