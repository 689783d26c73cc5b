import FoundationEssentials
import SystemSupport

/// Work that several callers wait for: a transfer, or the load of an image. All of them get its one outcome.
///
/// Each caller has a priority of its own, and the work has the highest of them. A caller may leave at any time without
/// harm to the others; when the last one leaves, the work is cancelled.
///
/// Safe for concurrent use. One lock guards the state, and nobody is called while it is held.
final class SharedTask<Value: Sendable>: Sendable {
    typealias Priority = ImageRequest.Priority
    typealias Outcome = Result<Value, ImageLoadingError>
    private typealias Caller = TaskCallers<Value>.Caller

    /// What the owners of the work are told about its callers.
    enum Change {
        /// The highest priority among them may be another.
        case priority
        /// One of them wants previews from now on. So much of the body is there.
        case wantsPreviews(TransferProgress, BodyBuffer)
        /// All of them have left.
        case abandoned
    }

    private struct State {
        var callers = TaskCallers<Value>()
        var outcome: Outcome?
        var isAbandoned = false
        var isForgotten = false
        var task: Task<Void, Never>?
        var owners: [@Sendable (Change) -> Void] = []
        /// What a caller that comes later is told first.
        var queued: Duration?
        var progress: TransferProgress?
        var sent: UploadProgress?
        /// The body that arrives. Not kept for longer than its transfer.
        weak var body: BodyBuffer?
        /// Bytes that have come of all bodies, without the parts that they began with.
        var arrived = 0

        var isOver: Bool { isAbandoned || outcome != nil }
    }

    /// Work that began earlier has a smaller number.
    let number: Int
    private let url: URL
    private let state: Lock<State>
    private let order = ResumeOrder()

    /// - Parameters:
    ///   - url: what the work is about, for errors.
    ///   - outcome: for work that is done already.
    init(number: Int = 0, url: URL, outcome: Outcome? = nil) {
        self.number = number
        self.url = url
        state = Lock(State(outcome: outcome))
    }

    // MARK: Callers

    /// Adds a caller. Nil if the work is over: it was abandoned, or has its outcome.
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

    /// Adds a caller to work that is done already.
    func joinDone(_ priority: Priority) -> Int {
        state.withLock { $0.callers.add(priority) }
    }

    /// The outcome. Cancelling the calling task makes the caller leave.
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

    /// The outcome, as far as it is known: `.cancelled` for a caller that has left.
    func outcome(for caller: Int) -> Outcome? {
        state.withLock { $0.callers.contains(caller) ? $0.outcome : cancelled }
    }

    /// Takes a caller out, who gets `.cancelled`. Does nothing once the work has its outcome.
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
    }

    private var cancelled: Outcome { .failure(.cancelled(url: url.displayText)) }

    /// The highest priority among the callers.
    var priority: Priority { state.withLock { $0.callers.highestPriority } }

    /// The priority of one caller; nil once the caller has left.
    func priority(of caller: Int) -> Priority? {
        state.withLock { $0.callers.priority(of: caller) }
    }

    /// Gives a caller another priority.
    /// - Parameter priority: asked for under the lock, so that of two changes the later one stands.
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

    /// Whether nobody waits any more, because all have left or all have the outcome.
    var isOver: Bool { state.withLock { $0.isOver } }

    /// Does the work in a task of its own, and ends it by `finish`.
    func run(
        _ work: @escaping @Sendable () async throws(ImageLoadingError) -> Value,
        finish: @escaping @Sendable (Outcome) -> Void
    ) {
        setTask(Task { @concurrent in finish(await Outcome.of(work)) })
    }

    /// Notes the task that does the work, so that it can be cancelled: at once, if the work is over.
    func setTask(_ task: Task<Void, Never>) {
        let isOver = state.withLock { state in
            if !state.isOver { state.task = task }
            return state.isOver
        }
        if isOver { task.cancel() }
    }

    /// Has an owner told from now on when the callers change, from whatever thread.
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

    /// Gives this work's priority to other work, in which it is a caller, now and whenever it changes.
    func passPriority<Other>(to other: SharedTask<Other>, caller: Int) {
        addOwner { [weak self] change in
            guard let self, case .priority = change else { return }
            other.setPriority(of: caller) { self.priority }
        }
        other.setPriority(of: caller) { priority }
    }

    /// Ends the work: everybody who waits gets the outcome, first come first. Does nothing if it is over.
    func finish(_ outcome: Outcome) {
        let callers = state.withLock { state -> [Caller] in
            guard !state.isOver else { return [] }
            state.outcome = outcome
            (state.owners, state.task) = ([], nil)
            // They stay: each may ask for the outcome later, and again.
            return state.callers.all
        }
        order.mark()
        for caller in callers {
            for listener in caller.listeners { listener.hear(.ended) }
            for continuation in caller.continuations { continuation.resume(returning: outcome) }
        }
    }

    /// Ends the work before it is done.
    func stop(_ error: (_ url: String) -> ImageLoadingError) {
        let task = state.withLock { $0.task }
        finish(.failure(error(url.displayText)))
        task?.cancel()
    }

    /// Whether what the work brings is kept nowhere, because it was removed from the tiers meanwhile. Its callers get it.
    var isForgotten: Bool { state.withLock { $0.isForgotten } }

    /// Has nothing kept of what the work brings.
    func forget() { state.withLock { $0.isForgotten = true } }

    // MARK: Events

    /// Has a caller told what happens from now on, and at once how far things are.
    func listen(_ listener: TaskListener, for caller: Int) {
        let (isOver, queued, progress, sent, body) = state.withLock { state in
            let listens =
                state.outcome == nil && state.callers.update(caller) { $0.listeners.append(listener) }
            return (!listens, state.queued, state.progress, state.sent, state.body)
        }
        if let queued { listener.hear(.started(queued: queued)) }
        if let progress { listener.hear(.progress(progress, body)) }
        if let sent { listener.hear(.sent(sent)) }
        if isOver { return listener.hear(.ended) }
        if listener.wantsPreviews, let progress, let body { tellOwners(.wantsPreviews(progress, body)) }
    }

    /// Whether anybody who listens wants to see previews.
    var wantsPreviews: Bool { state.withLock { $0.callers.listeners.contains(where: \.wantsPreviews) } }

    /// How many bytes have come so far, and how far the body is.
    var traffic: (arrived: Int, progress: TransferProgress?) {
        state.withLock { ($0.arrived, $0.progress) }
    }

    /// Passes an event on.
    func tell(_ event: TaskEvent) {
        let listeners = state.withLock { state in
            switch event {
            case .started(let queued):
                state.queued = queued
                // The next body begins anew, or with the part that is there.
                state.progress = nil
            case .progress(let progress, let body):
                let earlier = state.progress?.received ?? progress.received
                state.arrived += max(0, progress.received - earlier)
                // A body's first report. A weak reference stored with every piece would cost more than the piece.
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
    /// What a call returns or throws.
    static func of(_ body: () async throws(Failure) -> Success) async -> Self {
        do {
            return .success(try await body())
        } catch {
            return .failure(error)
        }
    }
}
