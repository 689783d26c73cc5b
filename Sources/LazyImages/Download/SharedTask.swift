import FoundationEssentials
import SystemSupport

/// Work that several callers wait for: a transfer, or the load of an image. All callers get the same outcome.
///
/// Each caller has a priority, and the work has the highest of them. A caller may leave at any time. When the last one
/// leaves, the work is cancelled.
///
/// Safe for concurrent use. One lock guards the state; no listener or owner is called under it.
final class SharedTask<Value: Sendable>: Sendable {
    typealias Priority = ImageRequest.Priority
    typealias Outcome = Result<Value, ImageLoadingError>
    private typealias Caller = TaskCallers<Value>.Caller

    /// A change of the callers, which the owners of the work hear.
    enum Change {
        /// The highest priority may have changed.
        case priority
        /// A caller wants previews from now on. The values are the progress and the body so far.
        case wantsPreviews(TransferProgress, BodyBuffer)
        /// The last caller that wanted previews has stopped reading them, or has left.
        case wantsNoPreviews
        /// All callers have left.
        case abandoned
    }

    private struct State {
        var callers = TaskCallers<Value>()
        var outcome: Outcome?
        var isAbandoned = false
        var isForgotten = false
        var task: Task<Void, Never>?
        var owners: [@Sendable (Change) -> Void] = []
        /// How many events there were.
        var events = 0
        /// The last events, for a listener that is added later.
        var queued: Duration?
        var progress: TransferProgress?
        var sent: UploadProgress?
        /// The arriving body. Weak: it must not outlive its transfer.
        weak var body: BodyBuffer?
        /// Bytes received of all bodies, without resumed partial bodies.
        var arrived = 0

        var isOver: Bool { isAbandoned || outcome != nil }

        var wantsPreviews: Bool { callers.listeners.contains(where: \.wantsPreviews) }
    }

    /// Work that began earlier has a smaller number.
    let number: Int
    private let url: URL
    private let state: Lock<State>
    private let order = ResumeOrder()

    /// - Parameters:
    ///   - url: the URL for errors.
    ///   - outcome: the outcome of work that is already done. Default: nil.
    init(number: Int = 0, url: URL, outcome: Outcome? = nil) {
        self.number = number
        self.url = url
        state = Lock(State(outcome: outcome))
    }

    // MARK: Callers

    /// Adds a caller. Nil if the work is over: abandoned, or finished.
    func join(_ priority: Priority, listener: TaskListener? = nil) -> Int? {
        let joined = state.withLock { state -> (caller: Int, isMoreUrgent: Bool)? in
            guard !state.isOver else { return nil }
            let isMoreUrgent = !state.callers.isEmpty && priority > state.callers.highestPriority
            return (state.callers.add(priority), isMoreUrgent)
        }
        guard let joined else { return nil }
        if let listener { listen(listener, for: joined.caller) }
        if joined.isMoreUrgent { tellOwners(.priority) }
        return joined.caller
    }

    /// Adds a caller to finished work.
    func joinDone(_ priority: Priority) -> Int {
        state.withLock { $0.callers.add(priority) }
    }

    /// Waits for the outcome. Cancelling the calling task makes the caller leave.
    /// - Throws: `.cancelled` for a caller that has left.
    func value(for caller: Int) async throws(ImageLoadingError) -> Value {
        let outcome = await withTaskCancellationHandler {
            await withCheckedContinuation { (continuation: CheckedContinuation<Outcome, Never>) in
                let known: Outcome?? = state.withLock { state in
                    guard state.callers.contains(caller) else { return .some(nil) }
                    if let outcome = state.outcome { return outcome }
                    _ = state.callers.update(caller) { $0.continuations.append(continuation) }
                    return nil
                }
                if let known { continuation.resume(returning: known ?? cancelled) }
            }
        } onCancel: {
            leave(caller)
        }
        order.mark()
        return try outcome.get()
    }

    /// The outcome, or nil before the work is finished; `.cancelled` for a caller that has left.
    func outcome(for caller: Int) -> Outcome? {
        state.withLock { $0.callers.contains(caller) ? $0.outcome : cancelled }
    }

    /// Removes a caller, which gets `.cancelled`. Does nothing once the work is finished.
    func leave(_ caller: Int) {
        let left = state.withLock { state -> (caller: Caller, task: Task<Void, Never>?, isLast: Bool)? in
            guard state.outcome == nil, let left = state.callers.remove(caller) else { return nil }
            state.isAbandoned = state.callers.isEmpty
            return (left, state.isAbandoned ? state.task : nil, state.isAbandoned)
        }
        guard let left else { return }
        for listener in left.caller.listeners { listener.hear(.ended) }
        for continuation in left.caller.continuations { continuation.resume(returning: cancelled) }
        left.task?.cancel()
        tellOwners(left.isLast ? .abandoned : .priority)
        if !left.isLast, left.caller.listeners.contains(where: \.wantsPreviews), !wantsPreviews {
            tellOwners(.wantsNoPreviews)
        }
    }

    private var cancelled: Outcome { .failure(.cancelled(url: url.displayText)) }

    /// The highest priority of the callers.
    var priority: Priority { state.withLock { $0.callers.highestPriority } }

    /// The priority of one caller; nil if it has left.
    func priority(of caller: Int) -> Priority? {
        state.withLock { $0.callers.priority(of: caller) }
    }

    /// Changes a caller's priority.
    /// - Parameter priority: called under the lock, so that the later of two changes wins.
    func setPriority(of caller: Int, _ priority: () -> Priority) {
        let hasChanged = state.withLock { state in
            let before = state.callers.highestPriority
            state.callers.setPriority(priority(), of: caller)
            return state.callers.highestPriority != before && !state.isOver
        }
        if hasChanged { tellOwners(.priority) }
    }

    /// How many callers wait.
    var callerCount: Int { state.withLock { $0.outcome == nil ? $0.callers.count : 0 } }

    // MARK: The work

    /// Whether the work is abandoned or finished.
    var isOver: Bool { state.withLock { $0.isOver } }

    /// Runs the work in a new task, which then calls `finish`.
    func run(
        _ work: @escaping @Sendable () async throws(ImageLoadingError) -> Value,
        finish: @escaping @Sendable (Outcome) -> Void
    ) {
        setTask(Task { @concurrent in finish(await Outcome.of(work)) })
    }

    /// Sets the task that does the work, to be cancelled with it. Cancels it at once if the work is over.
    func setTask(_ task: Task<Void, Never>) {
        let isOver = state.withLock { state in
            if !state.isOver { state.task = task }
            return state.isOver
        }
        if isOver { task.cancel() }
    }

    /// Adds an owner, which hears every change of the callers, on any thread.
    func addOwner(_ owner: @escaping @Sendable (Change) -> Void) {
        state.withLock { if !$0.isOver { $0.owners.append(owner) } }
    }

    private func tellOwners(_ change: Change) {
        let owners = state.withLock { state in
            defer { if case .abandoned = change { state.owners = [] } }
            return state.owners
        }
        for owner in owners { owner(change) }
    }

    /// Sets the priority of `caller` in other work to this work's priority, now and at every change.
    func passPriority<Other>(to other: SharedTask<Other>, caller: Int) {
        addOwner { [weak self] change in
            guard let self, case .priority = change else { return }
            other.setPriority(of: caller) { self.priority }
        }
        other.setPriority(of: caller) { priority }
    }

    /// Finishes the work: all callers get the outcome, in the order in which they joined. Does nothing if it is over.
    func finish(_ outcome: Outcome) {
        let callers = state.withLock { state -> [Caller] in
            guard !state.isOver else { return [] }
            state.outcome = outcome
            (state.owners, state.task) = ([], nil)
            // The callers stay: each may ask for the outcome later. Their listeners do not: a listener may retain the
            // body that it heard of, and the body retains this task.
            return state.callers.takeWaiting()
        }
        order.mark()
        for caller in callers {
            for listener in caller.listeners { listener.hear(.ended) }
            for continuation in caller.continuations { continuation.resume(returning: outcome) }
        }
    }

    /// Finishes the work with an error, and cancels its task.
    func stop(_ error: (_ url: String) -> ImageLoadingError) {
        let task = state.withLock { $0.task }
        finish(.failure(error(url.displayText)))
        task?.cancel()
    }

    /// Whether the result must not be stored, because the image was removed from the tiers meanwhile. The callers get
    /// it all the same.
    var isForgotten: Bool { state.withLock { $0.isForgotten } }

    /// Forbids to store the result.
    func forget() { state.withLock { $0.isForgotten = true } }

    // MARK: Events

    /// Adds a listener for a caller. It hears the last events at once, and all later ones. It is added only once it has
    /// heard all events so far: otherwise it could hear an old one after a new one.
    func listen(_ listener: TaskListener, for caller: Int) {
        var heard = 0
        while true {
            let (events, isOver, queued, progress, sent, body) = state.withLock { state in
                let isOver = state.outcome != nil || !state.callers.contains(caller)
                if state.events == heard, !isOver {
                    _ = state.callers.update(caller) { $0.listeners.append(listener) }
                }
                return (state.events, isOver, state.queued, state.progress, state.sent, state.body)
            }
            if events == heard {
                if isOver { return listener.hear(.ended) }
                if listener.wantsPreviews, let progress, let body {
                    tellOwners(.wantsPreviews(progress, body))
                }
                return
            }
            heard = events
            if let queued { listener.hear(.started(queued: queued)) }
            if let progress { listener.hear(.progress(progress, body)) }
            if let sent { listener.hear(.sent(sent)) }
        }
    }

    /// Removes a listener of a caller. It may still hear an event that happens meanwhile.
    private func remove(_ listener: TaskListener, of caller: Int) {
        let wantsNoPreviews = state.withLock { state in
            _ = state.callers.update(caller) { $0.listeners.removeAll { $0 === listener } }
            return listener.wantsPreviews && !state.wantsPreviews && !state.isOver
        }
        if wantsNoPreviews { tellOwners(.wantsNoPreviews) }
    }

    /// A stream of events for one reader of a caller. It ends with the work. When its reader stops, its listener is
    /// removed.
    func stream<Element: Sendable>(
        for caller: Int, _ policy: AsyncStream<Element>.Continuation.BufferingPolicy,
        wantsPreviews: Bool = false, of element: @escaping @Sendable (TaskEvent) -> Element?
    ) -> AsyncStream<Element> {
        AsyncStream(bufferingPolicy: policy) { reader in
            let listener = TaskListener(wantsPreviews: wantsPreviews) { event in
                if case .ended = event { return reader.finish() }
                if let element = element(event) { reader.yield(element) }
            }
            reader.onTermination = { [weak self] _ in self?.remove(listener, of: caller) }
            listen(listener, for: caller)
        }
    }

    /// Whether any listener wants previews.
    var wantsPreviews: Bool { state.withLock { $0.wantsPreviews } }

    /// The bytes received so far, and the progress of the present body.
    var traffic: (arrived: Int, progress: TransferProgress?) {
        state.withLock { ($0.arrived, $0.progress) }
    }

    /// Passes an event to all listeners.
    func tell(_ event: TaskEvent) {
        let listeners = state.withLock { state in
            state.events += 1
            switch event {
            case .started(let queued):
                state.queued = queued
                // The next body starts at zero, or with a resumed partial body.
                state.progress = nil
            case .progress(let progress, let body):
                let earlier = state.progress?.received ?? progress.received
                state.arrived += max(0, progress.received - earlier)
                // Only at a body's first report: storing a weak reference is expensive.
                if let body, progress.received <= earlier { state.body = body }
                state.progress = progress
            case .sent(let sent): state.sent = sent
            case .preview, .file, .ended: break
            }
            return state.isOver ? [] : state.callers.listeners
        }
        for listener in listeners { listener.hear(event) }
    }
}

extension Result {
    var isSuccess: Bool { if case .success = self { true } else { false } }

    /// The value or the error of a call.
    static func of(_ body: () async throws(Failure) -> Success) async -> Self {
        do {
            return .success(try await body())
        } catch {
            return .failure(error)
        }
    }
}
