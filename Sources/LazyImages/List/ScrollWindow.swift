/// How long a scrolling list leaves alone what went wrong.
public struct ScrollPauses: Sendable, Hashable {
    /// A failed image is tried again when its row comes back on the screen, but not before this time has passed.
    public var afterFailure: Duration
    /// After a memory warning nothing is prefetched for this time.
    public var afterWarning: Duration

    /// Pauses of these lengths. Default: 30 seconds each.
    /// - Parameters:
    ///   - afterFailure: how long a failed image is left alone.
    ///   - afterWarning: how long nothing is prefetched after a memory warning.
    public init(afterFailure: Duration = .seconds(30), afterWarning: Duration = .seconds(30)) {
        self.afterFailure = afterFailure
        self.afterWarning = afterWarning
    }
}

/// Decides what a scrolling list loads, holds and gives up: it takes one event and returns a few actions, which the caller
/// performs in order. A plain struct, not safe for concurrent use: `ImageListModel` owns it.
///
/// Rows with equal keys share one image, so every decision is about a key. The window knows only the keys that are wanted,
/// those of visible rows and of the page ahead. Their number decides what an event costs, not the length of the list.
struct ScrollWindow<Key: Hashable & Sendable> {
    /// Why an image is wanted: a person looks at its row, the row is visible, or it is in the page ahead.
    enum Urgency {
        case focused, visible, ahead

        /// Whether its row is on the screen.
        var isSeen: Bool { self != .ahead }
    }

    /// What happened.
    enum Event: Sendable {
        /// These rows are visible now, and a person looks at the focus.
        case showed(Range<Int>, focus: Int? = nil)
        /// The two flags of scrolling.
        case scrolling(isDragging: Bool, isDecelerating: Bool)
        /// A load has its image, or has failed.
        case loaded(Key)
        case failed(Key, ImageLoadingError)
        /// The list has other rows; nil is the key of a row without an image.
        case replaced(
            count: Int, key: @Sendable (_ row: Int) -> Key?, visible: Range<Int>, focus: Int? = nil)
        /// Memory runs short.
        case memoryWarning
        /// A person wants failed images to be tried again.
        case retry(Key)
        case retryAll
    }

    /// What the caller must do. An action that needs the request names a row with the key, the others name the key.
    enum Action: Equatable {
        case cancel(Key)
        /// The memory cache need no longer keep the image, or must keep it.
        case unpin(Key)
        case pin(Key)
        /// Forget the image.
        case letGo(Key)
        /// Take the image from the memory cache and show it.
        case hold(row: Int)
        case load(row: Int, Urgency)
        case setUrgency(Key, Urgency)
    }

    /// What the rows with one key show.
    enum Status: Equatable {
        case placeholder, loading, loaded
        case failed(ImageLoadingError)
    }

    /// How far a wanted image is.
    private enum Phase: Equatable {
        /// It is not in the memory cache, and the list moves: the load waits.
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
    /// When the last memory warning came.
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

    /// The keys of the visible rows and of the page ahead, the most urgent first.
    var wantedKeys: [Key] { wants.map(\.key) }

    /// Whether a visible row, or one in the page ahead, has this key.
    func isWanted(_ key: Key) -> Bool { urgencies[key] != nil }

    /// What the rows with this key show: the placeholder, if the key is not wanted.
    func status(of key: Key) -> Status {
        guard isWanted(key) else { return .placeholder }
        switch phases[key] {
        case .loading: return .loading
        case .held: return .loaded
        case .deferred, nil: return failures[key].map { .failed($0.reason) } ?? .placeholder
        }
    }

    /// How many rows are visible, and how many images are in each state.
    var counters: ImageListCounters {
        var counters = ImageListCounters(visible: span.visible.count)
        for want in wants {
            switch phases[want.key] {
            case .deferred: counters.deferred += 1
            case .loading(.ahead): counters.prefetching += 1
            case .loading: counters.running += 1
            case .held: break
            case nil: if want.urgency.isSeen, failures[want.key] != nil { counters.failed += 1 }
            }
        }
        return counters
    }

    /// Takes an event and returns what the caller must do.
    /// - Parameters:
    ///   - now: the time since any fixed moment.
    ///   - inMemory: whether the memory cache has a row's image. Called once for each image that becomes wanted.
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
        case .showed(let visible, let focus): span.show(visible, focus: focus)
        case .scrolling(let isDragging, let isDecelerating):
            self.isDragging = isDragging
            self.isDecelerating = isDecelerating
        case .loaded(let key):
            if case .loading = phases[key] { phases[key] = .held(isPinned: false) }
        case .failed(let key, let reason):
            guard case .loading(let urgency) = phases.removeValue(forKey: key) else { return }
            failures[key] = Failure(reason: reason, time: now, urgency: urgency)
        case .replaced(let count, let key, let visible, let focus):
            self.key = key
            span.replace(count: count, visible: visible, focus: focus)
            // Failures are kept for rows that come back. Those of earlier lists end here, once they are old.
            failures = failures.filter { now - $0.value.time < pauses.afterFailure }
        case .memoryWarning: warning = now
        case .retry(let key): failures[key] = nil
        case .retryAll: failures = [:]
        }
    }

    /// Lists the wanted images, the most urgent first: one entry for each key, however many rows share it.
    private mutating func findWants() {
        wants.removeAll(keepingCapacity: true)
        urgencies.removeAll(keepingCapacity: true)
        for row in span.visibleNearestFirst { want(row, row == span.focus ? .focused : .visible) }
        if looksAhead { for row in span.aheadNearestFirst { want(row, .ahead) } }
    }

    private mutating func want(_ row: Int, _ urgency: Urgency) {
        guard let key = key(row), urgencies[key] == nil else { return }
        urgencies[key] = urgency
        wants.append(Want(key: key, row: row, urgency: urgency))
    }

    /// Ends everything about an image that is no longer wanted.
    private mutating func giveUp(_ key: Key) -> [Action] {
        switch phases.removeValue(forKey: key) {
        case .loading: [.cancel(key)]
        case .held(isPinned: true): [.unpin(key), .letGo(key)]
        case .held(isPinned: false): [.letGo(key)]
        case .deferred, nil: []
        }
    }

    /// Forgets the failure of an image that becomes wanted after the pause. Forgets a failed prefetch as soon as its row is
    /// visible: no person has seen it fail.
    private mutating func forgive(before: [Key: Urgency], at now: Duration) {
        guard !failures.isEmpty else { return }
        for want in wants where before[want.key] != want.urgency {
            guard let failure = failures[want.key], before[want.key]?.isSeen != true else { continue }
            let isOld = now - failure.time >= pauses.afterFailure
            if isOld || want.urgency.isSeen && failure.urgency == .ahead { failures[want.key] = nil }
        }
    }

    /// The actions for the wanted images. Images from the memory cache come before loads.
    private mutating func pursueWants(_ inMemory: (_ row: Int) -> Bool) -> [Action] {
        var shows: [Action] = []
        var loads: [Action] = []
        for want in wants where failures[want.key] == nil {
            var phase = phases[want.key]
            if phase == nil, want.urgency.isSeen || !isScrolling {
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
            case .held(let isPinned) where isPinned != want.urgency.isSeen:
                shows.append(isPinned ? .unpin(want.key) : .pin(want.key))
                phase = .held(isPinned: !isPinned)
            default: break
            }
            phases[want.key] = phase
        }
        return shows + loads
    }
}
