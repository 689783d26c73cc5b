public import ImageCodecs
import SystemSupport

/// The images of a scrolling list: loads those of the visible rows, then those of the page ahead, and releases all
/// others.
///
///     let model = ImageListModel(loader: ImageLoader(), rows: films.map(\.poster), placeholder: grey)
///     await model.setVisible(0..<10)
///     for await update in model.updates {
///         for row in update.rows { draw(row, update.bitmap) }
///     }
///
/// Rows are identified by their requests. Rows with equal requests share one load and one state. When the rows are
/// replaced, a request that both lists have keeps its state.
///
/// While the list is dragged or decelerates no load starts, but images from the memory cache are shown at once. When
/// the list rests, all visible rows load, those nearest the focus first. `ScrollWindow` decides; this actor performs.
///
/// ``state(of:)``, ``counters`` and ``updates`` can be read from any thread without waiting. The model keeps the images
/// of visible rows and of the page ahead, and no others. When it is released, its loads are cancelled.
public actor ImageListModel {
    private struct Load {
        let request: ImageRequest
        let task: ImageTask
        var progress = TransferProgress(received: 0, expected: nil)
        var preview: ImagePreview?
    }

    private struct Held {
        let request: ImageRequest
        let image: LoadedImage
    }

    private struct Posted: Equatable {
        var status = ScrollWindow<LoadKey>.Status.placeholder
        var rows: [Int] = []
    }

    /// Every change of a state. The state of a request that is neither visible nor in the page ahead is `.placeholder`.
    public nonisolated let updates: RowUpdates

    private let loader: any ImageLoading
    private let board: RowBoard
    private let elapsed: @Sendable () -> Duration
    private var window: ScrollWindow<LoadKey>
    private var requests = ListRows([])
    private var loads: [LoadKey: Load] = [:]
    private var held: [LoadKey: Held] = [:]
    private var pinned: Set<LoadKey> = []
    private var started = 0
    /// Failed images for which a person wants a retry. Their next load uses the network, even if the failure is
    /// remembered.
    private var retried: Set<LoadKey> = []
    /// The last posted status of each wanted key, and its rows; none for a placeholder.
    private var posted: [LoadKey: Posted] = [:]
    private let wantsPreviews: Bool
    /// What callers that cannot wait have said, in order.
    private nonisolated let said = Lock((phase: ScrollPhase.idle, visible: 0..<0))
    private nonisolated let commands: AsyncStream<Command>.Continuation
    private let pressureReader = PressureReader()

    /// A list without visible rows.
    /// - Parameters:
    ///   - loader: loads the images.
    ///   - rows: the request of each row; nil for a row without an image. A visible row loads with its request's
    ///     priority, but at least `.high`; a row in the page ahead with at most `.low`.
    ///   - wantsPreviews: whether rows show previews while their images load. Default: false.
    ///   - placeholder: the picture of rows that have no image yet. Default: nil, none.
    ///   - failurePicture: the picture of rows whose load failed. Default: nil, none.
    ///   - pauses: how long failures and memory warnings have an effect. Default: 30 s each.
    ///   - clock: measures the pauses.
    ///   - pressure: the memory pressure; every rise is a memory warning. Default: the system's; nil for none.
    public init(
        loader: any ImageLoading, rows: [ImageRequest?] = [], wantsPreviews: Bool = false,
        placeholder: Bitmap? = nil, failurePicture: Bitmap? = nil, pauses: ScrollPauses = ScrollPauses(),
        clock: some Clock<Duration> = ContinuousClock(), pressure: MemoryPressure? = .system
    ) {
        self.loader = loader
        self.wantsPreviews = wantsPreviews
        board = RowBoard(pictures: RowPictures(placeholder: placeholder, failure: failurePicture))
        updates = RowUpdates(board: board)
        let start = clock.now
        elapsed = { start.duration(to: clock.now) }
        window = ScrollWindow(pauses: pauses)
        requests = ListRows(rows)
        // No row is visible, so there are no actions yet.
        _ = window.handle(requests.replacing(visible: 0..<0), at: .zero) { _ in false }
        let (stream, commands) = AsyncStream.makeStream(of: Command.self)
        self.commands = commands
        Task { [weak self] in for await command in stream { await self?.follow(command) } }
        pressureReader.read(pressure) { [weak self] level in
            if level != .normal { await self?.didReceiveMemoryWarning() }
        }
    }

    deinit {
        for load in loads.values { load.task.cancel() }
        for key in pinned { if let request = held[key]?.request { loader.setPinned(false, for: request) } }
        board.finish()
        commands.finish()
    }

    // MARK: What the rows show

    /// The present state of the rows with this request; its priority does not matter.
    /// - Parameter request: the request of the rows.
    public nonisolated func state(of request: ImageRequest) -> RowState { board.state(of: LoadKey(request)) }

    /// What to draw in the rows with this request now: see ``RowUpdate/bitmap``.
    /// - Parameter request: the request of the rows; its priority does not matter.
    public nonisolated func bitmap(for request: ImageRequest) -> Bitmap? {
        board.pictures.bitmap(for: state(of: request))
    }

    /// Calls a closure with each update, for a program whose main loop is not Swift's: the closure passes the update on.
    /// - Parameter body: called on no particular thread, with one update after the other.
    /// - Returns: the observation, which ends when it is cancelled or released, or with the model.
    public nonisolated func observe(_ body: @escaping @Sendable (RowUpdate) -> Void) -> RowObservation {
        RowObservation(updates, body)
    }

    /// How many images are in each state now.
    public nonisolated var counters: ImageListCounters { board.counters }

    // MARK: What the person does

    /// How the list moves, for callers that cannot wait. Setting it returns at once. The model follows this and
    /// ``visibleRows`` in the order in which they were set; no order holds between them and the methods below.
    public nonisolated var scrollPhase: ScrollPhase {
        get { said.withLock { $0.phase } }
        set {
            said.withLock { said in
                said.phase = newValue
                // Under the lock, so that the order of the commands is that of the values.
                commands.yield(.scrolled(newValue))
            }
        }
    }

    /// The visible rows, for callers that cannot wait: see ``setVisible(_:focus:)`` and ``scrollPhase``.
    public nonisolated var visibleRows: Range<Int> {
        get { said.withLock { $0.visible } }
        set {
            said.withLock { said in
                said.visible = newValue
                commands.yield(.showed(newValue))
            }
        }
    }

    private enum Command {
        case scrolled(ScrollPhase)
        case showed(Range<Int>)
    }

    private func follow(_ command: Command) {
        switch command {
        case .scrolled(let phase):
            handle(.scrolling(isDragging: phase == .dragging, isDecelerating: phase == .decelerating))
        case .showed(let rows): handle(.showed(rows))
        }
    }

    /// Whether the list is being dragged, or keys are held down.
    public var isDragging: Bool { window.isDragging }

    /// Whether the list still moves after it was dragged.
    public var isDecelerating: Bool { window.isDecelerating }

    /// Makes these rows visible. Ignores rows outside the list.
    /// - Parameters:
    ///   - rows: the visible rows, counted from 0.
    ///   - focus: the row that a person looks at. It loads first, then the rows around it. Default, and for a row that
    ///     is not visible: the middle.
    public func setVisible(_ rows: Range<Int>, focus: Int? = nil) { handle(.showed(rows, focus: focus)) }

    /// The list is dragged: no load starts. Ends a deceleration.
    public func willBeginDragging() { handle(.scrolling(isDragging: true, isDecelerating: false)) }

    /// The person lets go of the list. It rests, or decelerates until ``didEndDecelerating()``.
    /// - Parameter willDecelerate: whether the list still moves.
    public func didEndDragging(willDecelerate: Bool) {
        handle(.scrolling(isDragging: false, isDecelerating: willDecelerate))
    }

    /// The list has come to rest.
    public func didEndDecelerating() {
        handle(.scrolling(isDragging: window.isDragging, isDecelerating: false))
    }

    /// Replaces the rows. A request that both lists have keeps its load and its image.
    /// - Parameters:
    ///   - rows: the request of each row; nil for a row without an image.
    ///   - visible: the visible rows. Default: the same as before, within the new list.
    ///   - focus: the row that a person looks at: see ``setVisible(_:focus:)``.
    public func setRows(_ rows: [ImageRequest?], visible: Range<Int>? = nil, focus: Int? = nil) {
        setRows(ListRows(rows), visible: visible, focus: focus)
    }

    /// As above, for a list that makes its requests on demand.
    /// - Parameters:
    ///   - rows: the new rows.
    ///   - visible: the visible rows. Default: the same as before, within the new list.
    ///   - focus: the row that a person looks at: see ``setVisible(_:focus:)``.
    public func setRows(_ rows: ListRows, visible: Range<Int>? = nil, focus: Int? = nil) {
        requests = rows
        handle(rows.replacing(visible: visible ?? window.span.visible, focus: focus))
    }

    /// Retries a failed request: at once if a row with it is visible and the list rests. The load uses the network,
    /// even if the failure is remembered or the host's circuit breaker is open.
    /// - Parameter request: the request of the rows; its priority does not matter.
    public func retry(_ request: ImageRequest) {
        let key = LoadKey(request)
        if case .failed = window.status(of: key) { retried.insert(key) }
        handle(.retry(key))
    }

    /// Retries all failed requests: those of visible rows at once, the others when their rows are visible again. The
    /// loads use the network, as in ``retry(_:)``.
    public func retryFailed() {
        retried.formUnion(failedKeys)
        handle(.retryAll)
    }

    /// Call it when memory runs short. Cancels loads and releases images of rows that are not visible, and prefetches
    /// nothing for a while.
    public func didReceiveMemoryWarning() { handle(.memoryWarning) }

    // MARK: Performing

    /// Passes an event to the window, performs its actions, and posts every status that has changed.
    private func handle(_ event: ScrollWindow<LoadKey>.Event) {
        let before = window.wantedKeys
        var found: [LoadKey: Held] = [:]
        let actions = window.handle(event, at: elapsed()) { row in
            guard let request = requests[row], let image = cachedImage(for: request) else { return false }
            found[LoadKey(request)] = Held(request: request, image: image)
            return true
        }
        for action in actions { perform(action, found) }
        var changed = before.filter { !window.isWanted($0) && posted.removeValue(forKey: $0) != nil }
        for key in window.wantedKeys {
            let now = Posted(status: window.status(of: key), rows: window.rows[key, default: []])
            let last = posted[key] ?? Posted()
            guard now.status != last.status || now.status != .placeholder && now.rows != last.rows else {
                continue
            }
            posted[key] = now
            changed.append(key)
        }
        post(changed)
    }

    /// The wanted keys whose loads failed.
    private var failedKeys: [LoadKey] {
        window.wantedKeys.filter { if case .failed = window.status(of: $0) { true } else { false } }
    }

    /// The image from the memory cache, unless the request must load: to verify its checksum, or with `.reload`.
    private func cachedImage(for request: ImageRequest) -> LoadedImage? {
        request.allowsMemory ? loader.cachedImage(for: request) : nil
    }

    private func perform(_ action: ScrollWindow<LoadKey>.Action, _ found: [LoadKey: Held]) {
        switch action {
        case .cancel(let key): loads.removeValue(forKey: key)?.task.cancel()
        case .release(let key): held[key] = nil
        case .pin(let key): setPinned(true, key)
        case .unpin(let key): setPinned(false, key)
        case .setUrgency(let key, let urgency):
            if let load = loads[key] { load.task.priority = load.request.priority(urgency) }
        case .hold(let row):
            if let key = requests[row].map(LoadKey.init) { held[key] = found[key] }
        case .load(let row, let urgency):
            if let request = requests[row] { begin(request, urgency) }
        }
    }

    private func setPinned(_ isPinned: Bool, _ key: LoadKey) {
        guard let request = held[key]?.request else { return }
        if isPinned { pinned.insert(key) } else { pinned.remove(key) }
        loader.setPinned(isPinned, for: request)
    }

    private func begin(_ request: ImageRequest, _ urgency: ScrollWindow<LoadKey>.Urgency) {
        let key = LoadKey(request)
        var urgent = request
        urgent.priority = request.priority(urgency)
        if retried.remove(key) != nil, request.cachePolicy != .cacheOnly {
            urgent.cachePolicy = .reload
            urgent.overridesCircuitBreaker = true
        }
        let task = loader.task(for: urgent)
        loads[key] = Load(request: request, task: task)
        started += 1
        follow(task, key)
    }

    /// Receives a load's progress, previews and outcome. The tasks do not retain the model: releasing it cancels its
    /// loads.
    private func follow(_ task: ImageTask, _ key: LoadKey) {
        let progress = task.progress
        Task { [weak self] in
            for await value in progress { await self?.change(key, task) { $0.progress = value } }
        }
        if wantsPreviews {
            let previews = task.previews
            Task { [weak self] in
                for await preview in previews { await self?.change(key, task) { $0.preview = preview } }
            }
        }
        Task { [weak self] in
            let outcome = await Result.of { () async throws(ImageLoadingError) in try await task.value }
            await self?.end(key, task, outcome)
        }
    }

    /// Takes a load's outcome, unless the load was cancelled: another one may be running for the same key.
    private func end(_ key: LoadKey, _ task: ImageTask, _ outcome: Result<LoadedImage, ImageLoadingError>) {
        guard let load = loads[key], load.task === task else { return }
        loads[key] = nil
        switch outcome {
        case .success(let image):
            held[key] = Held(request: load.request, image: image)
            handle(.loaded(key))
        case .failure(let error): handle(.failed(key, error))
        }
    }

    /// Takes a load's progress or preview, unless the load has ended: a late preview must not replace the image.
    private func change(_ key: LoadKey, _ task: ImageTask, _ apply: @Sendable (inout Load) -> Void) {
        guard var load = loads[key], load.task === task else { return }
        apply(&load)
        loads[key] = load
        post([key])
    }

    /// Posts the present states of these keys.
    private func post(_ keys: [LoadKey]) {
        var counters = window.counters
        counters.started = started
        board.post(keys.map { ($0, state(of: $0)) }, rows: window.rows, counters: counters)
    }

    private func state(of key: LoadKey) -> RowState {
        switch window.status(of: key) {
        case .placeholder: .placeholder
        case .loading:
            loads[key].map { .loading(progress: $0.progress, preview: $0.preview) } ?? .placeholder
        case .loaded: held[key].map { .loaded($0.image) } ?? .placeholder
        case .failed(let reason): .failed(reason: reason, isRetryable: reason.isRetryable)
        }
    }
}

/// How a list moves. While it does, no load starts.
public enum ScrollPhase: Sendable, Hashable {
    /// The list rests.
    case idle
    /// A person drags the list, or holds a key down.
    case dragging
    /// The list still moves after it was dragged.
    case decelerating
}

/// An observation of a list: see ``ImageListModel/observe(_:)``. Ends when it is released.
public final class RowObservation: Sendable {
    private let task: Task<Void, Never>

    init(_ updates: RowUpdates, _ body: @escaping @Sendable (RowUpdate) -> Void) {
        task = Task { for await update in updates { body(update) } }
    }

    deinit { task.cancel() }

    /// Ends the observation. A call of the closure may still be running.
    public func cancel() { task.cancel() }
}

extension ImageRequest {
    /// The priority of its load. A visible row always comes before one that is not.
    fileprivate func priority(_ urgency: ScrollWindow<LoadKey>.Urgency) -> Priority {
        switch urgency {
        case .focused: .veryHigh
        case .visible: max(priority, .high)
        case .ahead: min(priority, .low)
        }
    }
}
