/// The images of a scrolling list: loads what is on the screen, then the page ahead, and gives up what is neither.
///
///     let model = ImageListModel(loader: ImageLoader(), rows: films.map(\.poster))
///     await model.setVisible(0..<10)
///     for await update in model.updates { draw(update.row, update.state) }
///
/// While the list is dragged or decelerates nothing starts, though what memory has is shown at once. When it rests, all
/// visible rows load, those nearest the middle first. `ScrollWindow` decides; this actor performs.
///
/// An actor of its own. `state(of:)`, `counters` and `updates` can be read from anywhere without waiting. The model keeps
/// the images of visible rows and of the page ahead, and no others; letting go of it cancels what it loads.
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

    /// News of every row that shows something, as it comes to show it, and of one that does so no more. A row that is
    /// neither visible nor in the page ahead shows its placeholder.
    public nonisolated let updates: RowUpdates

    private let loader: any ImageLoading
    private let board: RowBoard
    private let elapsed: @Sendable () -> Duration
    private var window: ScrollWindow<LoadKey>
    private var requests = ListRows([])
    private var list = 0
    private var loads: [LoadKey: Load] = [:]
    private var held: [LoadKey: Held] = [:]
    private var pinned: Set<LoadKey> = []
    private var started = 0
    /// Failed images that a person wants tried again. Their next load asks the network, whatever is remembered of the
    /// failure.
    private var insisted: Set<LoadKey> = []
    private let wantsPreviews: Bool
    private let relief = PressureReader()

    /// A list of which nothing is visible yet.
    /// - Parameters:
    ///   - loader: brings the images.
    ///   - rows: what each row shows; nil for a row without an image. A request's priority is what its row has at least
    ///     while it is visible (`.high` by default), and at most while it is in the page ahead (`.low`).
    ///   - wantsPreviews: whether rows show what their images look like while they load, as far as the loader can
    ///     tell. Default: no.
    ///   - pauses: how long failures and memory warnings are heeded. Default: 30 seconds each.
    ///   - clock: what the pauses are measured by.
    ///   - pressure: how short memory is: every rise is a memory warning. Default: the system's; nil for a list that does
    ///     not care.
    public init(
        loader: any ImageLoading, rows: [ImageRequest?] = [], wantsPreviews: Bool = false,
        pauses: ScrollPauses = ScrollPauses(), clock: some Clock<Duration> = ContinuousClock(),
        pressure: MemoryPressure? = .system
    ) {
        self.loader = loader
        self.wantsPreviews = wantsPreviews
        board = RowBoard()
        updates = RowUpdates(board: board)
        let start = clock.now
        elapsed = { start.duration(to: clock.now) }
        window = ScrollWindow(pauses: pauses)
        requests = ListRows(rows)
        // An empty range is visible: there is nothing to do yet.
        _ = window.handle(requests.replacing(visible: 0..<0), at: .zero) { _ in false }
        relief.read(pressure) { [weak self] level in
            if level != .normal { await self?.didReceiveMemoryWarning() }
        }
    }

    deinit {
        for load in loads.values { load.task.cancel() }
        for key in pinned { if let request = held[key]?.request { loader.setPinned(false, for: request) } }
        board.finish()
    }

    // MARK: What the rows show

    /// What a row shows now.
    public nonisolated func state(of row: Int) -> RowState { board.state(of: row) }

    /// What the list is busy with now.
    public nonisolated var counters: ImageListCounters { board.counters }

    // MARK: What the person does

    /// Whether the list is being dragged, or keys are held down.
    public var isDragging: Bool { window.isDragging }

    /// Whether the list goes on by itself after it was dragged.
    public var isDecelerating: Bool { window.isDecelerating }

    /// These rows are on the screen now; what lies outside the list is cut off.
    public func setVisible(_ rows: Range<Int>) { handle(.showed(rows)) }

    /// The list is dragged: nothing new starts. Ends a deceleration.
    public func willBeginDragging() { handle(.scrolling(isDragging: true, isDecelerating: false)) }

    /// The list is let go of; it rests, or goes on by itself until `didEndDecelerating`.
    public func didEndDragging(willDecelerate: Bool) {
        handle(.scrolling(isDragging: false, isDecelerating: willDecelerate))
    }

    /// The list has come to rest.
    public func didEndDecelerating() {
        handle(.scrolling(isDragging: window.isDragging, isDecelerating: false))
    }

    /// Takes up another list. What both have in common goes on.
    /// - Parameters:
    ///   - rows: what each row shows; nil for a row without an image.
    ///   - visible: the rows on the screen. Default: those that were, as far as there are so many.
    /// - Returns: the number by which updates name this list.
    @discardableResult
    public func setRows(_ rows: [ImageRequest?], visible: Range<Int>? = nil) -> Int {
        setRows(ListRows(rows), visible: visible)
    }

    /// As above, for a list whose requests are made as its rows are looked at.
    @discardableResult
    public func setRows(_ rows: ListRows, visible: Range<Int>? = nil) -> Int {
        requests = rows
        list += 1
        handle(rows.replacing(visible: visible ?? window.span.visible), touching: nil)
        return list
    }

    /// Tries a failed row again: at once if it is visible and the list rests. The network is asked, even where it is
    /// remembered that there is no such image, or where the host is left alone for a while because it failed.
    public func retry(_ row: Int) {
        let failed = failedKeys()
        if let key = requests[row].map(LoadKey.init), failed.contains(key) { insisted.insert(key) }
        handle(.retry(row: row), touching: failed)
    }

    /// Tries every failed row again, the visible ones at once and the others when they come back on the screen. The
    /// network is asked, as in `retry`.
    public func retryFailed() {
        let failed = failedKeys()
        insisted.formUnion(failed)
        handle(.retryAll, touching: failed)
    }

    /// Memory runs short: stops loads of rows that are not visible, lets go of their images, and prefetches nothing for a
    /// while.
    public func didReceiveMemoryWarning() { handle(.memoryWarning) }

    // MARK: Performing

    /// Has the window decide what follows from an event, performs it, and posts the rows that it changes.
    /// - Parameter touching: keys whose rows may show something else by the event alone; nil for all.
    private func handle(_ event: ScrollWindow<LoadKey>.Event, touching: Set<LoadKey>? = []) {
        let before = (wanted: window.wantedRows, visible: window.span.visible)
        var found: [LoadKey: Held] = [:]
        let actions = window.handle(event, at: elapsed()) { row in
            guard let request = requests[row], let image = cachedImage(for: request) else { return false }
            found[LoadKey(request)] = Held(request: request, image: image)
            return true
        }
        var touched = touching
        for action in actions {
            if let key = perform(action, found) { touched?.insert(key) }
        }
        post(since: before.wanted, visible: before.visible, touched: touched)
    }

    /// The keys of wanted rows that show a failure.
    private func failedKeys() -> Set<LoadKey> {
        Set(
            window.wantedRows.compactMap { row in
                guard case .failed = window.status(ofRow: row) else { return nil }
                return requests[row].map(LoadKey.init)
            })
    }

    /// What memory has, unless it is the load that must answer: it checks the bytes, or asks the network.
    private func cachedImage(for request: ImageRequest) -> LoadedImage? {
        guard request.cachePolicy != .reload, request.checksum == nil else { return nil }
        return loader.cachedImage(for: request)
    }

    /// Performs one action. Returns the key whose rows may show something else now.
    private func perform(_ action: ScrollWindow<LoadKey>.Action, _ found: [LoadKey: Held]) -> LoadKey? {
        switch action {
        case .cancel(let key): loads.removeValue(forKey: key)?.task.cancel()
        case .letGo(let key): held[key] = nil
        case .pin(let key): setPinned(true, key)
        case .unpin(let key): setPinned(false, key)
        case .setUrgency(let key, let urgency): setUrgency(urgency, of: key)
        case .hold(let row):
            guard let key = requests[row].map(LoadKey.init) else { return nil }
            held[key] = found[key]
            return key
        case .load(let row, let urgency):
            guard let request = requests[row] else { return nil }
            return begin(request, urgency)
        }
        return nil
    }

    private func setPinned(_ isPinned: Bool, _ key: LoadKey) {
        guard let request = held[key]?.request else { return }
        if isPinned { pinned.insert(key) } else { pinned.remove(key) }
        loader.setPinned(isPinned, for: request)
    }

    private func begin(_ request: ImageRequest, _ urgency: ScrollWindow<LoadKey>.Urgency) -> LoadKey {
        let key = LoadKey(request)
        var urgent = request
        urgent.priority = request.priority(urgency)
        if insisted.remove(key) != nil, request.cachePolicy != .cacheOnly {
            urgent.cachePolicy = .reload
            urgent.insists = true
        }
        let task = loader.task(for: urgent)
        loads[key] = Load(request: request, task: task)
        started += 1
        follow(task, key)
        return key
    }

    /// Takes up what a load brings: its progress, its previews and its outcome. The tasks do not hold the model, so that
    /// letting go of it ends its loads.
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

    private func setUrgency(_ urgency: ScrollWindow<LoadKey>.Urgency, of key: LoadKey) {
        guard let load = loads[key] else { return }
        load.task.priority = load.request.priority(urgency)
    }

    /// Takes a load's outcome, unless it was cancelled meanwhile: then another may be under way for the same key.
    private func end(_ key: LoadKey, _ task: ImageTask, _ outcome: Result<LoadedImage, ImageLoadingError>) {
        guard let load = loads[key], load.task === task else { return }
        loads[key] = nil
        switch outcome {
        case .success(let image):
            held[key] = Held(request: load.request, image: image)
            handle(.loaded(key), touching: [key])
        case .failure(let error): handle(.failed(key, error), touching: [key])
        }
    }

    /// Takes what is new of a load, unless it has ended: a preview that comes late must not take the place of the image.
    private func change(_ key: LoadKey, _ task: ImageTask, _ apply: @Sendable (inout Load) -> Void) {
        guard var load = loads[key], load.task === task else { return }
        apply(&load)
        loads[key] = load
        post(since: window.wantedRows, visible: window.span.visible, touched: [key])
    }

    /// Posts the rows that left, the rows that came, and those of `touched` keys; with nil, all of them.
    private func post(since before: Range<Int>, visible: Range<Int>, touched: Set<LoadKey>?) {
        var changes: [(row: Int, state: RowState)] = []
        let wanted = window.wantedRows
        for row in before where !wanted.contains(row) { changes.append((row, .placeholder)) }
        for row in wanted {
            let key = requests[row].map(LoadKey.init)
            let status = window.status(ofRow: row)
            // A failure may have been forgotten, or shows again, as its row came on the screen.
            let cameOnScreen = window.span.visible.contains(row) && !visible.contains(row)
            let mayDiffer = cameOnScreen && status != .loading && status != .loaded
            let isTouched = touched.map { key.map($0.contains) ?? false } ?? true
            if !before.contains(row) || isTouched || mayDiffer { changes.append((row, state(status, key))) }
        }
        var counters = window.counters
        counters.started = started
        board.post(changes, list: list, counters: counters)
    }

    private func state(_ status: ScrollWindow<LoadKey>.Status, _ key: LoadKey?) -> RowState {
        guard let key else { return .placeholder }
        return switch status {
        case .placeholder: .placeholder
        case .loading:
            loads[key].map { .loading(progress: $0.progress, preview: $0.preview) } ?? .placeholder
        case .loaded: held[key].map { .loaded($0.image) } ?? .placeholder
        case .failed(let reason): .failed(reason: reason, isRetryable: reason.isRetryable)
        }
    }
}
