public import Dispatch
import SystemSupport

/// Loads that belong together, for programs without `async`: each calls back on a queue of the caller's, in the order in
/// which they end.
///
///     let group = LoadGroup(on: queue)
///     for request in requests { loader.enqueue(request, group: group) { result in show(result) } }
///     group.wait()                                // or group.whenDone { ... }, or await group.done()
///
/// Safe for concurrent use from any thread or actor. A group that is let go of goes on; ``cancelAll()`` ends it.
public final class LoadGroup: Sendable {
    /// What a load calls back with: the image, or whatever stands between the URL and it.
    public typealias Completion = @Sendable (Result<LoadedImage, ImageLoadingError>) -> Void

    private struct Waiting {
        let request: ImageRequest
        let loader: ImageLoader
        let completion: Completion
    }

    private struct Running {
        let task: ImageTask
        let completion: Completion
        /// The bytes that have come for it.
        var received = 0
    }

    private struct State {
        /// By their numbers, which are given in the order in which they are enqueued, from 1.
        var waiting: [Int: Waiting] = [:]
        var running: [Int: Running] = [:]
        var last = 0
        /// The number that was begun last.
        var begun = 0
        /// Whether a thread is beginning loads. One that ends at once must not begin the next inside of itself: ten
        /// thousand would not fit on the stack.
        var isBeginning = false
        /// All up to this number were cancelled.
        var cancelled = 0
        /// The bytes that have come for all but those that failed.
        var received = 0
        var lastReader = 0
        var readers: [Int: AsyncStream<Int>.Continuation] = [:]

        mutating func setReceived(_ bytes: Int, of number: Int) {
            guard let load = running[number] else { return }
            received += bytes - load.received
            running[number]?.received = bytes
        }
    }

    private let queue: DispatchQueue
    private let concurrency: Int
    private let callbacks = DispatchGroup()
    private let state = Lock(State())

    /// A group without loads.
    /// - Parameters:
    ///   - queue: where each load calls back. Default: the main queue.
    ///   - concurrency: how many loads there are at once; the others wait in their order. Default: any number; the
    ///     loader's own limits for transfers hold in any case.
    public init(on queue: DispatchQueue = .main, concurrency: Int = .max) {
        self.queue = queue
        self.concurrency = max(1, concurrency)
    }

    // MARK: Loads

    func enqueue(_ request: ImageRequest, _ loader: ImageLoader, _ completion: @escaping Completion) {
        callbacks.enter()
        state.withLock { state in
            state.last += 1
            state.waiting[state.last] = Waiting(request: request, loader: loader, completion: completion)
        }
        beginWaiting()
    }

    /// Begins what waits, as many as there may be at once.
    private func beginWaiting() {
        while let (number, next) = next() {
            let task = next.loader.task(for: next.request)
            let isCancelled = state.withLock { state in
                state.running[number] = Running(task: task, completion: next.completion)
                return number <= state.cancelled
            }
            if isCancelled { task.cancel() }
            task.listen(
                TaskListener { [self] event in
                    switch event {
                    case .progress(let progress, _):
                        tell { $0.setReceived(progress.received, of: number) }
                    case .ended: end(number)
                    case .started, .sent, .preview, .file: break
                    }
                })
            state.withLock { $0.isBeginning = false }
        }
    }

    /// The next one that may begin; nil while there is none, or another thread begins one.
    private func next() -> (Int, Waiting)? {
        state.withLock { state in
            guard !state.isBeginning else { return nil }
            while state.begun < state.last, state.running.count < concurrency {
                state.begun += 1
                // One that was cancelled is gone.
                guard let next = state.waiting.removeValue(forKey: state.begun) else { continue }
                state.isBeginning = true
                return (state.begun, next)
            }
            return nil
        }
    }

    /// A load has its outcome, or was cancelled.
    private func end(_ number: Int) {
        let ended: Running? = state.withLock { $0.running[number] }
        guard let ended, let outcome = ended.task.outcome else { return }
        callBack(outcome, ended.completion)
        tell { state in
            if case .failure = outcome { state.setReceived(0, of: number) }
            state.running[number] = nil
        }
        beginWaiting()
    }

    private func callBack(
        _ outcome: Result<LoadedImage, ImageLoadingError>, _ completion: @escaping Completion
    ) {
        queue.async { [callbacks] in
            completion(outcome)
            callbacks.leave()
        }
    }

    /// Ends the loads that have not ended, with `.cancelled`. Those that others wait for too go on for them.
    public func cancelAll() {
        let (waiting, running) = state.withLock { state in
            defer { (state.waiting, state.cancelled) = ([:], state.last) }
            return (state.waiting.sorted { $0.key < $1.key }, state.running.sorted { $0.key < $1.key })
        }
        for (_, load) in running { load.task.cancel() }
        for (_, load) in waiting {
            callBack(.failure(.cancelled(url: load.request.url.displayText)), load.completion)
        }
    }

    // MARK: How far it is

    /// The bytes that have come from the network for all loads so far: the newest value that was not read. Those of a load
    /// that fails are taken back. Each use is a sequence of its own; it ends with its task, or
    /// with the group.
    public var progress: AsyncStream<Int> {
        AsyncStream(bufferingPolicy: .bufferingNewest(1)) { reader in
            let number = state.withLock { state in
                state.lastReader += 1
                state.readers[state.lastReader] = reader
                reader.yield(state.received)
                return state.lastReader
            }
            reader.onTermination = { [weak self] _ in
                self?.state.withLock { $0.readers[number] = nil }
            }
        }
    }

    deinit { for reader in state.withLock({ $0.readers.values }) { reader.finish() } }

    private func tell(_ change: (inout State) -> Void) {
        let (readers, received) = state.withLock { state in
            change(&state)
            return (Array(state.readers.values), state.readers.isEmpty ? 0 : state.received)
        }
        for reader in readers { reader.yield(received) }
    }

    /// Blocks the thread until every load that was enqueued so far has called back. Not on the queue of the callbacks, and
    /// not inside a task: see ``done()``.
    public func wait() { callbacks.wait() }

    /// Calls `body` on the group's queue when every load that was enqueued so far has called back.
    /// - Parameter body: runs once.
    public func whenDone(_ body: @escaping @Sendable () -> Void) {
        callbacks.notify(queue: queue) { body() }
    }

    /// Returns when every load that was enqueued so far has called back.
    public func done() async {
        await withCheckedContinuation { ended in callbacks.notify(queue: queue) { ended.resume() } }
    }
}

extension ImageLoader {
    /// Loads an image and calls back on the group's queue. Returns at once.
    /// - Parameters:
    ///   - request: what to load.
    ///   - group: bounds the load, and has the queue.
    ///   - completion: gets the image or the error.
    public func enqueue(
        _ request: ImageRequest, group: LoadGroup, completion: @escaping LoadGroup.Completion
    ) {
        group.enqueue(request, self, completion)
    }

    /// Blocks the thread until the image is there: for scripts, and for programs with threads of their own.
    ///
    /// Not inside a task, whose thread others need: a debug build traps there. ``image(for:)`` waits without a thread.
    /// - Parameter request: what to load.
    /// - Throws: whatever stands between the URL and its image.
    public func waitForImage(_ request: ImageRequest) throws(ImageLoadingError) -> LoadedImage {
        assert(
            unsafe withUnsafeCurrentTask { unsafe $0 == nil },
            "waitForImage blocks a thread that tasks need: use image(for:) here")
        let task = task(for: request)
        let ended = DispatchSemaphore(value: 0)
        task.listen(TaskListener { event in if case .ended = event { ended.signal() } })
        ended.wait()
        guard let outcome = task.outcome else { preconditionFailure("a load has ended without an outcome") }
        return try outcome.get()
    }
}
