/// How long failures and memory warnings affect a list.
public struct ScrollPauses: Sendable, Hashable {
    /// A failed image is retried when its row is visible again, but not before this time has passed.
    public var afterFailure: Duration
    /// After a memory warning nothing is prefetched for this time.
    public var afterWarning: Duration

    /// Pauses of these lengths. Default: 30 s each.
    /// - Parameters:
    ///   - afterFailure: how long a failed image is not retried.
    ///   - afterWarning: how long nothing is prefetched after a memory warning.
    public init(afterFailure: Duration = .seconds(30), afterWarning: Duration = .seconds(30)) {
        self.afterFailure = afterFailure
        self.afterWarning = afterWarning
    }
}

/// Decides which images a scrolling list loads, holds and releases. It takes an event and returns actions, which the
/// caller performs in order. A plain struct, not safe for concurrent use: `ImageListModel` owns it.
///
/// Rows with equal keys share one image, so every decision is about a key. The window knows only the wanted keys: those
/// of visible rows and of the page ahead. The cost of an event depends on their number, not on the length of the list.
struct ScrollWindow<Key: Hashable & Sendable> {
    /// How urgent an image is: a person looks at its row, the row is visible, or it is in the page ahead.
    enum Urgency {
        case focused, visible, ahead

        /// Whether its row is on the screen.
        var isSeen: Bool { self != .ahead }
    }

    /// An event of the list.
    enum Event: Sendable {
        /// The visible rows have changed. A person looks at the focus.
        case showed(Range<Int>, focus: Int? = nil)
        /// Scrolling has started, changed or stopped.
        case scrolling(ScrollPhase)
        /// A load has its image, or has failed.
        case loaded(Key)
        case failed(Key, ImageLoadingError)
        /// The list has new rows. A row without an image has no key.
        case replaced(
            count: Int, key: @Sendable (_ row: Int) -> Key?, visible: Range<Int>, focus: Int? = nil)
        /// Memory runs short.
        case memoryWarning
        /// A person wants to retry failed images.
        case retry(Key)
        case retryAll
    }

    /// An action for the caller. Actions that need the request name a row with the key; the others name the key.
    enum Action: Equatable {
        case cancel(Key)
        /// Pin or unpin the image in the memory cache.
        case unpin(Key)
        case pin(Key)
        /// Release the image.
        case release(Key)
        /// Show the image from the memory cache.
        case hold(row: Int)
        case load(row: Int, Urgency)
        case setUrgency(Key, Urgency)
    }

    /// The status of a key: what its rows show.
    enum Status: Equatable {
        case placeholder, loading, loaded
        case failed(ImageLoadingError)
    }

    /// The phase of a wanted image.
    private enum Phase: Equatable {
        /// Not in the memory cache, and the list moves: the load waits.
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
    /// How the list moves. While it does, no load starts.
    private(set) var scrollPhase = ScrollPhase.idle
    /// The time of the last memory warning.
    private var warning: Duration?
    private var wants: [Want] = []
    private var urgencies: [Key: Urgency] = [:]
    /// The visible rows, and those of the page ahead, by their keys, in ascending order.
    private(set) var rows: [Key: [Int]] = [:]
    private var phases: [Key: Phase] = [:]
    private var failures: [Key: Failure] = [:]
    /// Whether to prefetch the page ahead.
    private var looksAhead = true

    init(pauses: ScrollPauses = ScrollPauses()) { self.pauses = pauses }

    /// The keys of the visible rows and of the page ahead, the most urgent first.
    var wantedKeys: [Key] { wants.map(\.key) }

    /// Whether a visible row, or a row in the page ahead, has this key.
    func isWanted(_ key: Key) -> Bool { urgencies[key] != nil }

    /// The status of a key; the placeholder if it is not wanted.
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

    /// Takes an event, and returns the actions for the caller.
    /// - Parameters:
    ///   - now: the time since a fixed moment.
    ///   - inMemory: whether the memory cache has a row's image. Called once for each image that becomes wanted.
    mutating func handle(_ event: Event, at now: Duration, inMemory: (_ row: Int) -> Bool) -> [Action] {
        record(event, at: now)
        looksAhead = warning.map { now - $0 >= pauses.afterWarning } ?? true
        let before = (wants: wants, urgencies: urgencies)
        updateWants()
        let ended = before.wants.flatMap { urgencies[$0.key] == nil ? drop($0.key) : [] }
        clearOldFailures(before: before.urgencies, at: now)
        return ended + actions(inMemory)
    }

    private mutating func record(_ event: Event, at now: Duration) {
        switch event {
        case .showed(let visible, let focus): span.show(visible, focus: focus)
        case .scrolling(let phase): scrollPhase = phase
        case .loaded(let key):
            if case .loading = phases[key] { phases[key] = .held(isPinned: false) }
        case .failed(let key, let reason):
            guard case .loading(let urgency) = phases.removeValue(forKey: key) else { return }
            failures[key] = Failure(reason: reason, time: now, urgency: urgency)
        case .replaced(let count, let key, let visible, let focus):
            self.key = key
            span.replace(count: count, visible: visible, focus: focus)
            // Keeps recent failures for rows that come back.
            failures = failures.filter { now - $0.value.time < pauses.afterFailure }
        case .memoryWarning: warning = now
        case .retry(let key): failures[key] = nil
        case .retryAll: failures = [:]
        }
    }

    /// Lists the wanted images, the most urgent first: one entry for each key, however many rows share it.
    private mutating func updateWants() {
        wants.removeAll(keepingCapacity: true)
        urgencies.removeAll(keepingCapacity: true)
        rows.removeAll(keepingCapacity: true)
        for row in span.visibleNearestFirst { want(row, row == span.focus ? .focused : .visible) }
        if looksAhead { for row in span.aheadNearestFirst { want(row, .ahead) } }
        for (key, shared) in rows where shared.count > 1 { rows[key] = shared.sorted() }
    }

    private mutating func want(_ row: Int, _ urgency: Urgency) {
        guard let key = key(row) else { return }
        rows[key, default: []].append(row)
        guard urgencies[key] == nil else { return }
        urgencies[key] = urgency
        wants.append(Want(key: key, row: row, urgency: urgency))
    }

    /// Cancels or releases an image that is no longer wanted.
    private mutating func drop(_ key: Key) -> [Action] {
        switch phases.removeValue(forKey: key) {
        case .loading: [.cancel(key)]
        case .held(isPinned: true): [.unpin(key), .release(key)]
        case .held(isPinned: false): [.release(key)]
        case .deferred, nil: []
        }
    }

    /// Forgets the failure of an image once the pause is over and the image is wanted again. Forgets a failed prefetch
    /// as soon as its row is visible: nobody has seen that failure.
    private mutating func clearOldFailures(before: [Key: Urgency], at now: Duration) {
        guard !failures.isEmpty else { return }
        for want in wants where before[want.key] != want.urgency {
            guard let failure = failures[want.key], before[want.key]?.isSeen != true else { continue }
            let isOld = now - failure.time >= pauses.afterFailure
            if isOld || want.urgency.isSeen && failure.urgency == .ahead { failures[want.key] = nil }
        }
    }

    /// The actions for the wanted images. Images from the memory cache come before loads.
    private mutating func actions(_ inMemory: (_ row: Int) -> Bool) -> [Action] {
        var shows: [Action] = []
        var loads: [Action] = []
        for want in wants where failures[want.key] == nil {
            var phase = phases[want.key]
            if phase == nil, want.urgency.isSeen || scrollPhase == .idle {
                let isThere = inMemory(want.row)
                if isThere { shows.append(.hold(row: want.row)) }
                phase = isThere ? .held(isPinned: false) : .deferred
            }
            switch phase {
            case .deferred where scrollPhase == .idle:
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

/// The visible rows and the page ahead, as ranges of rows.
struct RowSpan: Equatable {
    /// The last direction of scrolling: towards the end of the list or towards its beginning.
    enum Direction {
        case forward, backward
    }

    /// How many rows the list has.
    private(set) var count = 0
    /// The rows on the screen.
    private(set) var visible = 0..<0
    /// The row that a person looks at; nil if none is known.
    private(set) var focus: Int?
    private(set) var direction = Direction.forward

    /// The page ahead in the direction of scrolling: as many rows as are visible, fewer at the end of the list.
    var ahead: Range<Int> {
        switch direction {
        case .forward: visible.upperBound..<min(visible.upperBound + visible.count, count)
        case .backward: max(visible.lowerBound - visible.count, 0)..<visible.lowerBound
        }
    }

    /// The rows of the page ahead, the nearest first.
    fileprivate var aheadNearestFirst: [Int] {
        direction == .forward ? Array(ahead) : ahead.reversed()
    }

    /// The visible rows, those nearest the focus first, or nearest the middle if the focus is not visible. Of two
    /// equally near rows the upper one comes first.
    fileprivate var visibleNearestFirst: [Int] {
        guard !visible.isEmpty else { return [] }
        // Doubled, since the middle may lie between two rows.
        var middle = visible.lowerBound + visible.upperBound - 1
        if let focus, visible.contains(focus) { middle = 2 * focus }
        var above = middle / 2
        var below = above + 1
        var rows: [Int] = []
        rows.reserveCapacity(visible.count)
        while rows.count < visible.count {
            if above >= visible.lowerBound,
                below >= visible.upperBound || middle - 2 * above <= 2 * below - middle
            {
                rows.append(above)
                above -= 1
            } else {
                rows.append(below)
                below += 1
            }
        }
        return rows
    }

    /// Makes other rows visible. Ignores rows outside the list.
    mutating func show(_ rows: Range<Int>, focus: Int?) {
        let rows = rows.clamped(to: 0..<count)
        // A range that only grows or shrinks at its end is a resized screen, not scrolling.
        if rows.lowerBound != visible.lowerBound {
            direction = rows.lowerBound > visible.lowerBound ? .forward : .backward
        }
        visible = rows
        self.focus = focus
    }

    /// Replaces the list and its visible rows. The direction stays.
    mutating func replace(count: Int, visible: Range<Int>, focus: Int?) {
        self.focus = focus
        self.count = count
        self.visible = visible.clamped(to: 0..<count)
    }
}
