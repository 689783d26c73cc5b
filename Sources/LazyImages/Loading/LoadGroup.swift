public import Dispatch
import SystemSupport

/// A group of loads for programs without `async`. Each load calls back on the caller's queue, in the order in which the
/// loads finish.
///
///     let group = LoadGroup(on: queue)
///     for request in requests { loader.enqueue(request, group: group) { result in show(result) } }
///     group.wait()                                // or group.whenDone { ... }, or await group.done()
///
/// Safe for concurrent use from any thread or actor. Releasing a group does not cancel its loads; ``cancelAll()`` does.
public final class LoadGroup: Sendable {
    /// The callback of a load, with the image or the error.
    typealias Completion = @Sendable (Result<LoadedImage, ImageLoadingError>) -> Void

    private struct Waiting {
        let request: ImageRequest
        let loader: ImageLoader
        let completion: Completion
    }

    private struct Running {
        let completion: Completion
        /// Nil while it is being made.
        var task: ImageTask?
        /// The bytes received for this load.
        var received = 0
    }

    private struct State {
        /// By number, from 1, in the order of `enqueue`.
        var waiting: [Int: Waiting] = [:]
        var running: [Int: Running] = [:]
        var last = 0
        /// The number of the load that was started last.
        var started = 0
        /// Whether a thread is starting loads. A load that finishes at once must not begin the next one recursively:
        /// ten thousand would overflow the stack.
        var isStarting = false
        /// All loads up to this number were cancelled.
        var cancelled = 0
        /// The bytes received for all loads except failed ones.
        var received = 0
        /// The readers of `received`.
        var readers = Broadcast<Int>()

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
    ///   - queue: the queue of the callbacks. Default: the main queue.
    ///   - concurrency: the most loads at once; the others wait in order. Default: any number. The loader's limits for
    ///     transfers hold in any case.
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
        startWaiting()
    }

    /// Begins waiting loads, as many as may run at once.
    private func startWaiting() {
        while let (number, next) = next() {
            // Listens to the progress from the beginning: the load may end before this thread goes on.
            let task = next.loader.imageTask(
                with: next.request,
                listener: LoadListener { [self] event in
                    guard case .progress(let progress, _) = event else { return }
                    notify { $0.setReceived(progress.received, of: number) }
                })
            let isCancelled = state.withLock { state in
                state.running[number]?.task = task
                return number <= state.cancelled
            }
            if isCancelled { task.cancel() }
            task.listen(LoadListener { [self] event in if event == nil { end(number) } })
            state.withLock { $0.isStarting = false }
        }
    }

    /// The next load that may begin; nil if there is none, or another thread is starting one.
    private func next() -> (Int, Waiting)? {
        state.withLock { state in
            guard !state.isStarting else { return nil }
            while state.started < state.last, state.running.count < concurrency {
                state.started += 1
                // Nil for a cancelled load.
                guard let next = state.waiting.removeValue(forKey: state.started) else { continue }
                state.isStarting = true
                state.running[state.started] = Running(completion: next.completion)
                return (state.started, next)
            }
            return nil
        }
    }

    /// A load has finished or was cancelled.
    private func end(_ number: Int) {
        let ended: Running? = state.withLock { $0.running[number] }
        guard let ended, let outcome = ended.task?.outcome else { return }
        callBack(outcome, ended.completion)
        notify { state in
            if case .failure = outcome { state.setReceived(0, of: number) }
            state.running[number] = nil
        }
        startWaiting()
    }

    private func callBack(
        _ outcome: Result<LoadedImage, ImageLoadingError>, _ completion: @escaping Completion
    ) {
        queue.async { [callbacks] in
            completion(outcome)
            callbacks.leave()
        }
    }

    /// Cancels all loads that have not finished; they call back with `.cancelled`. A shared load continues for its
    /// other callers.
    public func cancelAll() {
        let (waiting, running) = state.withLock { state in
            defer { (state.waiting, state.cancelled) = ([:], state.last) }
            return (state.waiting.sorted { $0.key < $1.key }, state.running.sorted { $0.key < $1.key })
        }
        for (_, load) in running { load.task?.cancel() }
        for (_, load) in waiting {
            callBack(.failure(.cancelled(url: load.request.url.displayText)), load.completion)
        }
    }

    // MARK: How far it is

    /// The bytes received from the network for all loads. A slow reader gets only the newest value. The bytes of a
    /// failed load are subtracted. Each use makes a new sequence, which ends with its task or with the group.
    public var progress: AsyncStream<Int> {
        AsyncStream(bufferingPolicy: .bufferingNewest(1)) { reader in
            let number = state.withLock { state in
                reader.yield(state.received)
                return state.readers.add(reader)
            }
            reader.onTermination = { [weak self] _ in self?.state.withLock { $0.readers.remove(number) } }
        }
    }

    deinit { state.withLock { $0.readers }.finish() }

    private func notify(_ change: (inout State) -> Void) {
        state.withLock { state in
            change(&state)
            state.readers.yield(state.received)
        }
    }

    /// Blocks the thread until all loads so far have called back. Do not call it on the queue of the callbacks or
    /// inside a task: see ``done()``.
    public func wait() { callbacks.wait() }

    /// Calls `body` on the group's queue when all loads so far have called back.
    /// - Parameter body: runs once.
    public func whenDone(_ body: @escaping @Sendable () -> Void) {
        callbacks.notify(queue: queue) { body() }
    }

    /// Returns when all loads so far have called back.
    public func done() async {
        await withCheckedContinuation { ended in callbacks.notify(queue: queue) { ended.resume() } }
    }
}

extension ImageLoader {
    /// Loads an image and calls back on the group's queue. Returns at once.
    /// - Parameters:
    ///   - request: the image to load.
    ///   - group: limits how many loads run at once, and has the queue. Default: no limit, on the main queue.
    ///   - completion: receives the image or the error.
    public func enqueue(
        _ request: ImageRequest, group: LoadGroup = LoadGroup(),
        completion: @escaping @Sendable (Result<LoadedImage, ImageLoadingError>) -> Void
    ) {
        group.enqueue(request, self, completion)
    }

    /// Loads an image and blocks the thread until it is loaded: for scripts, and for programs with their own threads.
    ///
    /// Do not call it inside a task, whose thread other tasks need: a debug build traps. Use
    /// ``image(for:)-(ImageRequest)`` there.
    /// - Parameter request: the image to load.
    /// - Throws: the reason why there is no image.
    public func waitForImage(_ request: ImageRequest) throws(ImageLoadingError) -> LoadedImage {
        assert(
            unsafe withUnsafeCurrentTask { unsafe $0 == nil },
            "waitForImage blocks a thread that tasks need: use image(for:) here")
        let task = imageTask(with: request)
        let ended = DispatchSemaphore(value: 0)
        task.listen(LoadListener { event in if event == nil { ended.signal() } })
        ended.wait()
        guard let outcome = task.outcome else { preconditionFailure("a load has ended without an outcome") }
        return try outcome.get()
    }
}
