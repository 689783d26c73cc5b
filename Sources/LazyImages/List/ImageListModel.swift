public import ImageCodecs
import SystemSupport

/// The images of a scrolling list: loads those of the visible rows, then those of the page ahead, and releases all
/// others.
///
///     let model = ImageListModel(loader: ImageLoader(), rows: films.map(\.poster), placeholder: grey)
///     model.setVisible(0..<10)
///     for await update in model.updates {
///         for row in update.rows { draw(row, update.bitmap) }
///     }
///
/// Rows are identified by their requests. Rows with equal requests share one load and one state. When the rows are
/// replaced, a request that both lists have keeps its state.
///
/// While the list is dragged or decelerates no load starts, but images from the memory cache are shown at once. When
/// the list rests, all visible rows load, those nearest the focus first. `ScrollWindow` decides; the model performs.
///
/// Safe for concurrent use from any thread or actor. No method waits: each has its effect when it returns, and calls from
/// one thread have their effects in order. A loader's methods, and the closure of ``ListRows``, are called during such a
/// call, and may not call the model themselves.
///
/// The model keeps the images of visible rows and of the page ahead, and no others. When it is released, its loads are
/// cancelled.
public final class ImageListModel: Sendable {
    private struct Load {
        let request: ImageRequest
        let task: ImageTask
        var progress = TransferProgress(received: 0, expected: nil)
        var preview: ImagePreview?
    }

    private struct Entry {
        let request: ImageRequest
        let image: LoadedImage
    }

    /// What readers know of a key; none for a placeholder.
    private struct Published: Equatable {
        var status = ScrollWindow<LoadKey>.Status.placeholder
        var rows: [Int] = []
    }

    private struct State {
        var window: ScrollWindow<LoadKey>
        var requests: ListRows
        var loads: [LoadKey: Load] = [:]
        var images: [LoadKey: Entry] = [:]
        /// The pins of visible images.
        var pins: [LoadKey: MemoryPin] = [:]
        var started = 0
        /// Failed images for which a person wants a retry. Their next load uses the network, even if the failure is
        /// remembered.
        var retried: Set<LoadKey> = []
        var published: [LoadKey: Published] = [:]
    }

    /// Every change of a state. The state of a request that is neither visible nor in the page ahead is `.placeholder`.
    public let updates: RowUpdates

    private let loader: any ImageLoading
    private let states: RowStates
    private let elapsed: @Sendable () -> Duration
    private let state: Lock<State>
    private let wantsPreviews: Bool
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
        states = RowStates(pictures: RowPictures(placeholder: placeholder, failure: failurePicture))
        updates = RowUpdates(states: states)
        let start = clock.now
        elapsed = { start.duration(to: clock.now) }
        let rows = ListRows(rows)
        var window = ScrollWindow<LoadKey>(pauses: pauses)
        // No row is visible, so there are no actions yet.
        _ = window.handle(rows.replacing(visible: 0..<0), at: .zero) { _ in false }
        state = Lock(State(window: window, requests: rows))
        pressureReader.read(pressure) { [weak self] level in
            if level != .normal { self?.didReceiveMemoryWarning() }
        }
    }

    deinit {
        for load in state.withLock({ Array($0.loads.values) }) { load.task.cancel() }
        states.finish()
    }

    // MARK: What the rows show

    /// The present state of the rows with this request; its priority does not matter.
    /// - Parameter request: the request of the rows.
    public func state(of request: ImageRequest) -> RowState { states.state(of: LoadKey(request)) }

    /// What to draw in the rows with this request now: see ``RowUpdate/bitmap``.
    /// - Parameter request: the request of the rows; its priority does not matter.
    public func bitmap(for request: ImageRequest) -> Bitmap? {
        states.pictures.bitmap(for: state(of: request))
    }

    /// Calls a closure with each update, for a program whose main loop is not Swift's.
    /// - Parameters:
    ///   - executor: calls the closure, on a thread of its own choice. Default: nil, on no particular thread.
    ///   - body: called with one update after the other.
    /// - Returns: the observation, which ends when it is cancelled or released, or with the model.
    public func observe(
        on executor: (any TaskExecutor)? = nil, _ body: @escaping @Sendable (RowUpdate) -> Void
    ) -> RowObservation {
        RowObservation(updates, executor, body)
    }

    /// How many images are in each state now.
    public var counters: ImageListCounters { states.counters }

    // MARK: What the person does

    /// How the list moves: set it when a drag begins, when the person lets go, and when the list has come to rest. While
    /// it is not `.idle`, no load starts. Default: `.idle`.
    public var scrollPhase: ScrollPhase {
        get { state.withLock { $0.window.scrollPhase } }
        set { handle(.scrolling(newValue)) }
    }

    /// The visible rows, within the list: see ``setVisible(_:focus:)``.
    public var visibleRows: Range<Int> { state.withLock { $0.window.span.visible } }

    /// Makes these rows visible. Ignores rows outside the list.
    /// - Parameters:
    ///   - rows: the visible rows, counted from 0.
    ///   - focus: the row that a person looks at. It loads first, then the rows around it. Default, and for a row that
    ///     is not visible: the middle.
    public func setVisible(_ rows: Range<Int>, focus: Int? = nil) { handle(.showed(rows, focus: focus)) }

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
        state.withLock { state in
            state.requests = rows
            handle(rows.replacing(visible: visible ?? state.window.span.visible, focus: focus), &state)
        }
    }

    /// Retries a failed request: at once if a row with it is visible and the list rests. The load uses the network,
    /// even if the failure is remembered or the host's circuit breaker is open.
    /// - Parameter request: the request of the rows; its priority does not matter.
    public func retry(_ request: ImageRequest) {
        let key = LoadKey(request)
        state.withLock { state in
            if case .failed = state.window.status(of: key) { state.retried.insert(key) }
            handle(.retry(key), &state)
        }
    }

    /// Retries all failed requests: those of visible rows at once, the others when their rows are visible again. The
    /// loads use the network, as in ``retry(_:)``.
    public func retryFailed() {
        state.withLock { state in
            for key in state.window.wantedKeys {
                if case .failed = state.window.status(of: key) { state.retried.insert(key) }
            }
            handle(.retryAll, &state)
        }
    }

    /// Call it when memory runs short. Cancels loads and releases images of rows that are not visible, and prefetches
    /// nothing for a while.
    package func didReceiveMemoryWarning() { handle(.memoryWarning) }

    // MARK: Performing

    private func handle(_ event: ScrollWindow<LoadKey>.Event) { state.withLock { handle(event, &$0) } }

    /// Passes an event to the window, performs its actions, and publishes every status that has changed.
    private func handle(_ event: ScrollWindow<LoadKey>.Event, _ state: inout State) {
        let before = state.window.wantedKeys
        let requests = state.requests
        var found: [LoadKey: Entry] = [:]
        let actions = state.window.handle(event, at: elapsed()) { row in
            guard let request = requests[row], let image = cachedImage(for: request) else { return false }
            found[LoadKey(request)] = Entry(request: request, image: image)
            return true
        }
        for action in actions { perform(action, found, &state) }
        var changed = before.filter {
            !state.window.isWanted($0) && state.published.removeValue(forKey: $0) != nil
        }
        for key in state.window.wantedKeys {
            let now = Published(
                status: state.window.status(of: key), rows: state.window.rows[key, default: []])
            let last = state.published[key] ?? Published()
            guard now.status != last.status || now.status != .placeholder && now.rows != last.rows else {
                continue
            }
            state.published[key] = now
            changed.append(key)
        }
        publish(changed, state)
    }

    /// The image from the memory cache, unless the request must load: to verify its checksum, or with `.reload`.
    private func cachedImage(for request: ImageRequest) -> LoadedImage? {
        request.allowsMemory ? loader.cachedImage(for: request) : nil
    }

    private func perform(
        _ action: ScrollWindow<LoadKey>.Action, _ found: [LoadKey: Entry], _ state: inout State
    ) {
        switch action {
        case .cancel(let key): state.loads.removeValue(forKey: key)?.task.cancel()
        case .release(let key): state.images[key] = nil
        case .pin(let key): state.pins[key] = (state.images[key]?.request).flatMap { loader.pin($0) }
        case .unpin(let key): state.pins[key] = nil
        case .setUrgency(let key, let urgency):
            if let load = state.loads[key] { load.task.priority = load.request.priority(urgency) }
        case .hold(let row):
            if let key = state.requests[row].map(LoadKey.init) { state.images[key] = found[key] }
        case .load(let row, let urgency):
            if let request = state.requests[row] { load(request, urgency, &state) }
        }
    }

    private func load(
        _ request: ImageRequest, _ urgency: ScrollWindow<LoadKey>.Urgency, _ state: inout State
    ) {
        let key = LoadKey(request)
        var urgent = request
        urgent.priority = request.priority(urgency)
        if state.retried.remove(key) != nil { urgent.retry() }
        let task = loader.imageTask(with: urgent)
        state.loads[key] = Load(request: request, task: task)
        state.started += 1
        follow(task, key)
    }

    /// Receives a load's progress, previews and outcome. The tasks do not retain the model: releasing it cancels its
    /// loads.
    private func follow(_ task: ImageTask, _ key: LoadKey) {
        let progress = task.progress
        Task { [weak self] in
            for await value in progress { self?.change(key, task) { $0.progress = value } }
        }
        if wantsPreviews {
            let previews = task.previews
            Task { [weak self] in
                for await preview in previews { self?.change(key, task) { $0.preview = preview } }
            }
        }
        Task { [weak self] in
            let outcome = await Result.of { () async throws(ImageLoadingError) in try await task.value }
            self?.end(key, task, outcome)
        }
    }

    /// Takes a load's outcome, unless the load was cancelled: another one may be running for the same key.
    private func end(_ key: LoadKey, _ task: ImageTask, _ outcome: Result<LoadedImage, ImageLoadingError>) {
        state.withLock { state in
            guard let load = state.loads[key], load.task === task else { return }
            state.loads[key] = nil
            switch outcome {
            case .success(let image):
                state.images[key] = Entry(request: load.request, image: image)
                handle(.loaded(key), &state)
            case .failure(let error): handle(.failed(key, error), &state)
            }
        }
    }

    /// Takes a load's progress or preview, unless the load has ended: a late preview must not replace the image.
    private func change(_ key: LoadKey, _ task: ImageTask, _ apply: (inout Load) -> Void) {
        state.withLock { state in
            guard var load = state.loads[key], load.task === task else { return }
            apply(&load)
            state.loads[key] = load
            publish([key], state)
        }
    }

    /// Publishes the present states of these keys.
    private func publish(_ keys: [LoadKey], _ state: State) {
        var counters = state.window.counters
        counters.started = state.started
        states.publish(
            keys.map { ($0, rowState(of: $0, state)) }, rows: state.window.rows, counters: counters)
    }

    private func rowState(of key: LoadKey, _ state: State) -> RowState {
        switch state.window.status(of: key) {
        case .placeholder: .placeholder
        case .loading:
            state.loads[key].map { .loading(progress: $0.progress, preview: $0.preview) } ?? .placeholder
        case .loaded: state.images[key].map { .loaded($0.image) } ?? .placeholder
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

/// An observer of a list: see ``ImageListModel/observe(on:_:)``. Ends when it is released.
public final class RowObservation: Sendable {
    private let task: Task<Void, Never>

    init(
        _ updates: RowUpdates, _ executor: (any TaskExecutor)?,
        _ body: @escaping @Sendable (RowUpdate) -> Void
    ) {
        task = Task(executorPreference: executor) { for await update in updates { body(update) } }
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

/// The state of a list as counts of images. Rows that share an image count once, except in ``visible``.
public struct ImageListCounters: Sendable, Hashable {
    /// Visible rows, with or without an image.
    public var visible = 0
    /// Loads in progress for visible rows.
    public var running = 0
    /// Images of visible rows that wait for the list to rest.
    public var deferred = 0
    /// Loads in progress for the page ahead.
    public var prefetching = 0
    /// Images of visible rows whose loads failed.
    public var failed = 0
    /// Loads begun since the list was made.
    public var started = 0
}
