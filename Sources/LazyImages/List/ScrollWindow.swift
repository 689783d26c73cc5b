/// Decides what the rows of a scrolling list load, hold and give up: one event in, a few actions out, for the caller to
/// perform in their order. A plain struct, not safe for concurrent use: `ImageListModel` owns it.
///
/// Rows with equal keys share one image, so everything is decided per key. Only keys of visible rows and of the page
/// ahead are known at all, and an event costs as much as these are many, however long the list is.
struct ScrollWindow<Key: Hashable & Sendable> {
    /// What an image is wanted for: to be seen, or in case the list goes on as it goes.
    enum Urgency {
        case visible, ahead
    }

    /// What happened.
    enum Event: Sendable {
        /// These rows are on the screen now.
        case showed(Range<Int>)
        /// The two flags of scrolling.
        case scrolling(isDragging: Bool, isDecelerating: Bool)
        /// A load that was asked for has its image, or has failed.
        case loaded(Key)
        case failed(Key, ImageLoadingError)
        /// The list is another one; nil is the key of a row without an image.
        case replaced(count: Int, key: @Sendable (_ row: Int) -> Key?, visible: Range<Int>)
        /// Memory runs short.
        case memoryWarning
        /// Somebody asks for failed rows to be tried again.
        case retry(row: Int)
        case retryAll
    }

    /// What is to be done. What begins something names the row it is for, what ends or changes something the key.
    enum Action: Equatable {
        case cancel(Key)
        /// Memory need no longer, or must, keep the image.
        case unpin(Key)
        case pin(Key)
        /// Forget the image.
        case letGo(Key)
        /// Take the image that memory has, and show it.
        case hold(row: Int)
        case load(row: Int, Urgency)
        case setUrgency(Key, Urgency)
    }

    /// How a row stands.
    enum Status: Equatable {
        case placeholder, loading, loaded
        case failed(ImageLoadingError)
    }

    /// What is known of an image that is wanted.
    private enum Phase: Equatable {
        /// Memory was asked and has it not; scrolling keeps it from being loaded.
        case deferred
        case loading(Urgency)
        case held(isPinned: Bool)
    }

    private struct Failure {
        let reason: ImageLoadingError
        let time: Duration
        let urgency: Urgency
    }

    private struct Want {
        let key: Key
        /// The first row that wants it.
        let row: Int
        let urgency: Urgency
    }

    private let pauses: ScrollPauses
    private var key: @Sendable (_ row: Int) -> Key? = { _ in nil }
    private(set) var span = RowSpan()
    private(set) var isDragging = false
    private(set) var isDecelerating = false
    /// When memory last ran short.
    private var warning: Duration?
    private var wants: [Want] = []
    private var urgencies: [Key: Urgency] = [:]
    private var phases: [Key: Phase] = [:]
    private var failures: [Key: Failure] = [:]
    /// Whether a page ahead is wanted at all.
    private var looksAhead = true

    init(pauses: ScrollPauses = ScrollPauses()) { self.pauses = pauses }

    /// While the list moves nothing new starts.
    var isScrolling: Bool { isDragging || isDecelerating }

    /// All rows whose images are wanted: the visible ones and the page ahead.
    var wantedRows: Range<Int> {
        guard looksAhead else { return span.visible }
        let ahead = span.ahead
        return min(span.visible.lowerBound, ahead.lowerBound)..<max(span.visible.upperBound, ahead.upperBound)
    }

    /// How a row stands. One that is neither visible nor in the page ahead shows its placeholder.
    func status(ofRow row: Int) -> Status {
        guard wantedRows.contains(row), let key = key(row) else { return .placeholder }
        switch phases[key] {
        case .loading: return .loading
        case .held: return .loaded
        case .deferred, nil: return failures[key].map { .failed($0.reason) } ?? .placeholder
        }
    }

    /// How many rows are visible and in what state their images are.
    var counters: ImageListCounters {
        var counters = ImageListCounters(visible: span.visible.count)
        for want in wants {
            switch phases[want.key] {
            case .deferred: counters.deferred += 1
            case .loading(.visible): counters.running += 1
            case .loading(.ahead): counters.prefetching += 1
            case .held: break
            case nil: if want.urgency == .visible, failures[want.key] != nil { counters.failed += 1 }
            }
        }
        return counters
    }

    /// Takes note of what happened and says what follows.
    /// - Parameters:
    ///   - now: the time since any fixed moment.
    ///   - inMemory: whether memory has a row's image. Asked once for each image that comes to be wanted.
    mutating func handle(_ event: Event, at now: Duration, inMemory: (_ row: Int) -> Bool) -> [Action] {
        note(event, at: now)
        looksAhead = warning.map { now - $0 >= pauses.afterWarning } ?? true
        let before = (wants: wants, urgencies: urgencies)
        findWants()
        let ended = before.wants.flatMap { urgencies[$0.key] == nil ? giveUp($0.key) : [] }
        forgive(before: before.urgencies, at: now)
        return ended + pursueWants(inMemory)
    }

    private mutating func note(_ event: Event, at now: Duration) {
        switch event {
        case .showed(let visible): span.show(visible)
        case .scrolling(let isDragging, let isDecelerating):
            self.isDragging = isDragging
            self.isDecelerating = isDecelerating
        case .loaded(let key):
            if case .loading = phases[key] { phases[key] = .held(isPinned: false) }
        case .failed(let key, let reason):
            guard case .loading(let urgency) = phases.removeValue(forKey: key) else { return }
            failures[key] = Failure(reason: reason, time: now, urgency: urgency)
        case .replaced(let count, let key, let visible):
            self.key = key
            span.replace(count: count, visible: visible)
            // Failures are kept for rows that come back; this is where the old ones of lists long gone end.
            failures = failures.filter { now - $0.value.time < pauses.afterFailure }
        case .memoryWarning: warning = now
        case .retry(let row):
            if (0..<span.count).contains(row), let key = key(row) { failures[key] = nil }
        case .retryAll: failures = [:]
        }
    }

    /// Lists what is wanted, the most urgent first: one entry a key, however many rows share it.
    private mutating func findWants() {
        wants.removeAll(keepingCapacity: true)
        urgencies.removeAll(keepingCapacity: true)
        for row in span.visibleMiddleFirst { want(row, .visible) }
        if looksAhead { for row in span.aheadNearestFirst { want(row, .ahead) } }
    }

    private mutating func want(_ row: Int, _ urgency: Urgency) {
        guard let key = key(row), urgencies[key] == nil else { return }
        urgencies[key] = urgency
        wants.append(Want(key: key, row: row, urgency: urgency))
    }

    /// What ends for an image that nobody wants any more.
    private mutating func giveUp(_ key: Key) -> [Action] {
        switch phases.removeValue(forKey: key) {
        case .loading: [.cancel(key)]
        case .held(isPinned: true): [.unpin(key), .letGo(key)]
        case .held(isPinned: false): [.letGo(key)]
        case .deferred, nil: []
        }
    }

    /// Forgets failures of images that come to be wanted after a pause; and those of a prefetch at once when the row is
    /// visible, for nobody has seen that one fail.
    private mutating func forgive(before: [Key: Urgency], at now: Duration) {
        guard !failures.isEmpty else { return }
        for want in wants where before[want.key] != want.urgency {
            guard let failure = failures[want.key], before[want.key] != .visible else { continue }
            let isOld = now - failure.time >= pauses.afterFailure
            if isOld || want.urgency == .visible && failure.urgency == .ahead { failures[want.key] = nil }
        }
    }

    /// What is to be done for the images that are wanted. What memory has comes before everything that takes time.
    private mutating func pursueWants(_ inMemory: (_ row: Int) -> Bool) -> [Action] {
        var shows: [Action] = []
        var loads: [Action] = []
        for want in wants where failures[want.key] == nil {
            var phase = phases[want.key]
            if phase == nil, want.urgency == .visible || !isScrolling {
                let isThere = inMemory(want.row)
                if isThere { shows.append(.hold(row: want.row)) }
                phase = isThere ? .held(isPinned: false) : .deferred
            }
            switch phase {
            case .deferred where !isScrolling:
                loads.append(.load(row: want.row, want.urgency))
                phase = .loading(want.urgency)
            case .loading(let urgency) where urgency != want.urgency:
                loads.append(.setUrgency(want.key, want.urgency))
                phase = .loading(want.urgency)
            case .held(let isPinned) where isPinned != (want.urgency == .visible):
                shows.append(isPinned ? .unpin(want.key) : .pin(want.key))
                phase = .held(isPinned: !isPinned)
            default: break
            }
            phases[want.key] = phase
        }
        return shows + loads
    }
}
