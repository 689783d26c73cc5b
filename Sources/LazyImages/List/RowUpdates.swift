public import ImageCodecs
import SystemSupport

/// The state of a row: what it shows.
public enum RowState: Sendable {
    /// The row has no image, waits for the list to rest, or is neither visible nor in the page ahead.
    case placeholder
    /// The image is loading; 0 bytes received at first. `preview` is the last preview, if the model wants previews.
    case loading(progress: TransferProgress, preview: ImagePreview?)
    /// The image.
    case loaded(LoadedImage)
    /// The load failed. `isRetryable`: a retry may succeed.
    case failed(reason: ImageLoadingError, isRetryable: Bool)

    /// The image, once it is loaded.
    public var image: LoadedImage? { if case .loaded(let image) = self { image } else { nil } }
    /// Whether the image is loading.
    public var isLoading: Bool { if case .loading = self { true } else { false } }
    /// Why the load failed.
    public var error: ImageLoadingError? { if case .failed(let error, _) = self { error } else { nil } }
}

/// A new state of all rows with one request.
public struct RowUpdate: Sendable, CustomStringConvertible {
    /// The rows with the request that are visible or in the page ahead now, in ascending order. Empty if they have left:
    /// there is nothing to draw.
    public let rows: [Int]
    /// The new state.
    public let state: RowState
    /// What to draw: the image; while it loads its last preview, or the model's placeholder; after a failure the model's
    /// picture for it. Nil for nothing.
    public let bitmap: Bitmap?
    package let key: LoadKey

    /// The rows and their state, on one line.
    public var description: String { "rows \(rows): \(state)" }
}

/// The pictures of rows without an image.
struct RowPictures: Sendable {
    var placeholder: Bitmap?
    var failure: Bitmap?

    func bitmap(for state: RowState) -> Bitmap? {
        switch state {
        case .placeholder: placeholder
        case .loading(_, let preview): preview?.bitmap ?? placeholder
        case .loaded(let image): image.bitmap
        case .failed: failure
        }
    }
}

/// The updates of a list: see ``ImageListModel/updates``. A new reader first gets all states that are not
/// `.placeholder`. A slow reader gets only the newest state of each request. Several readers each get all updates. The
/// sequence ends with the model, or when the reading task is cancelled.
public struct RowUpdates: AsyncSequence, Sendable {
    let states: RowStates

    /// Adds a reader.
    public func makeAsyncIterator() -> Iterator { Iterator(states) }

    /// One reader.
    public struct Iterator: AsyncIteratorProtocol {
        /// Removes the reader from the states when its iterator is released.
        private final class Subscription: Sendable {
            let states: RowStates
            let reader: Int

            init(_ states: RowStates, _ reader: Int) {
                self.states = states
                self.reader = reader
            }

            deinit { states.removeReader(reader) }
        }

        private let subscription: Subscription
        private var waker: AsyncStream<Void>.Iterator

        init(_ states: RowStates) {
            let (reader, waker) = states.addReader()
            subscription = Subscription(states, reader)
            self.waker = waker.makeAsyncIterator()
        }

        /// Waits for the next update; nil at the end.
        /// - Parameter actor: the caller's actor.
        public mutating func next(
            isolation actor: isolated (any Actor)? = #isolation
        ) async -> RowUpdate? {
            repeat {
                if Task.isCancelled { return nil }
                if let update = subscription.states.next(for: subscription.reader) { return update }
            } while await waker.next(isolation: actor) != nil
            return nil
        }
    }
}

/// The states of a list's requests. `ImageListModel` writes them, readers read them on any thread or actor.
final class RowStates: Sendable {
    private struct State {
        var table: RowStateTable
        /// Wake the readers: streams that keep at most one element.
        var wakers: [Int: AsyncStream<Void>.Continuation] = [:]
        var isFinished = false
    }

    private let state: Lock<State>
    let pictures: RowPictures

    init(pictures: RowPictures = RowPictures()) {
        self.pictures = pictures
        var table = RowStateTable()
        table.pictures = pictures
        state = Lock(State(table: table))
    }

    var counters: ImageListCounters { state.withLock { $0.table.counters } }

    func state(of key: LoadKey) -> RowState { state.withLock { $0.table.state(of: key) } }

    /// Writes all changes at once and wakes the readers.
    /// - Parameter rows: the rows of each key now.
    func publish(
        _ changes: [(key: LoadKey, state: RowState)], rows: [LoadKey: [Int]] = [:],
        counters: ImageListCounters
    ) {
        // The replaced states are released outside the lock: releasing an image takes time.
        let (wakers, replaced) = state.withLock { state in
            state.table.counters = counters
            state.table.rows = rows
            let replaced = changes.map { state.table.publish($0.state, for: $0.key) }
            return (changes.isEmpty ? [] : Array(state.wakers.values), replaced)
        }
        release(replaced)
        for waker in wakers { waker.yield() }
    }

    /// Never inlined: the optimiser would release the states while the lock is still held.
    @inline(never)
    private func release(_ states: consuming [RowState?]) {}

    /// Ends every reader's sequence after its pending updates.
    func finish() {
        let wakers = state.withLock { state in
            state.isFinished = true
            return Array(state.wakers.values)
        }
        for waker in wakers { waker.finish() }
    }

    /// Adds a reader. The stream has an element when there may be updates.
    func addReader() -> (reader: Int, waker: AsyncStream<Void>) {
        let (stream, waker) = AsyncStream.makeStream(of: Void.self, bufferingPolicy: .bufferingNewest(1))
        let (reader, isFinished) = state.withLock { state in
            let reader = state.table.addReader()
            state.wakers[reader] = waker
            return (reader, state.isFinished)
        }
        if isFinished { waker.finish() }
        return (reader, stream)
    }

    fileprivate func removeReader(_ reader: Int) {
        state.withLock { state in
            state.table.removeReader(reader)
            state.wakers[reader] = nil
        }
    }

    func next(for reader: Int) -> RowUpdate? { state.withLock { $0.table.next(for: reader) } }
}

/// The states of a list's requests, and each reader's pending updates. A plain struct, not safe for concurrent use:
/// `RowStates` holds it under its lock.
///
/// A slow reader misses intermediate states and gets the newest one of each request. A reader's memory is bounded,
/// however slow it is: only present states retain images, and a reader has only keys with a state now or at its last
/// update.
struct RowStateTable {
    /// The pending updates of one reader.
    struct Reader {
        /// Keys with a pending update, each with the number of its first unread change.
        var pending: [LoadKey: Int] = [:]
        /// The pending keys when this list was made, the oldest last. It is read to its end before a new one is made,
        /// so that a request with many updates does not delay the others.
        var batch: [LoadKey] = []
        /// Keys whose last update to the reader was not `.placeholder`.
        var reported: Set<LoadKey> = []
    }

    var pictures = RowPictures()
    /// The rows of the wanted keys.
    var rows: [LoadKey: [Int]] = [:]
    /// The states other than `.placeholder`, each with the number of its change.
    private var states: [LoadKey: (state: RowState, number: Int)] = [:]
    private(set) var readers: [Int: Reader] = [:]
    private var lastReader = 0
    private var lastNumber = 0
    var counters = ImageListCounters()

    /// The state of a key.
    func state(of key: LoadKey) -> RowState { states[key]?.state ?? .placeholder }

    /// Sets a state, and returns the replaced one.
    mutating func publish(_ state: RowState, for key: LoadKey) -> RowState? {
        lastNumber += 1
        let before = states.removeValue(forKey: key)?.state
        var isPlaceholder = false
        if case .placeholder = state { isPlaceholder = true } else { states[key] = (state, lastNumber) }
        for reader in readers.keys {
            if isPlaceholder, readers[reader]?.reported.contains(key) == false {
                readers[reader]?.pending[key] = nil
            } else if readers[reader]?.pending[key] == nil {
                readers[reader]?.pending[key] = lastNumber
            }
        }
        return before
    }

    /// Adds a reader. All present states are pending updates for it.
    mutating func addReader() -> Int {
        lastReader += 1
        readers[lastReader] = Reader(pending: states.mapValues(\.number))
        return lastReader
    }

    fileprivate mutating func removeReader(_ reader: Int) { readers[reader] = nil }

    /// The next update for a reader, the oldest first; nil if there is none.
    mutating func next(for number: Int) -> RowUpdate? {
        guard var reader = readers.removeValue(forKey: number) else { return nil }
        defer { readers[number] = reader }
        while true {
            if reader.batch.isEmpty {
                reader.batch = reader.pending.sorted { $0.value > $1.value }.map(\.key)
                reader.pending.removeAll(keepingCapacity: true)
            }
            guard let key = reader.batch.popLast() else { return nil }
            reader.pending[key] = nil
            if let state = states[key]?.state {
                reader.reported.insert(key)
                return update(key, state)
            }
            // A state that came and went between two reads needs no update.
            if reader.reported.remove(key) != nil { return update(key, .placeholder) }
        }
    }

    private func update(_ key: LoadKey, _ state: RowState) -> RowUpdate {
        RowUpdate(
            rows: rows[key, default: []], state: state, bitmap: pictures.bitmap(for: state), key: key
        )
    }
}
