/// How true the films on the screen are. Each reading of the catalogue goes one way:
///
///     opening -> loading -> complete | outOfDate | incomplete
///     complete | outOfDate | incomplete -> refreshing -> complete | outOfDate | incomplete
///
/// Times are in seconds since 1970.
enum CatalogueState: Equatable {
    /// Nothing has come yet.
    case opening
    /// So many films have come, and more are on their way. The list may show fewer.
    case loading(films: Int)
    /// All films, as they were at that time.
    case complete(confirmed: Int)
    /// The films of that time: how they are now could not be learnt.
    case outOfDate(confirmed: Int, why: String)
    /// Not all films: the reading broke off.
    case incomplete(why: String)
    /// The server is asked again, and so many films have come; the list shows those of `confirmed`, nil where it had not all.
    case refreshing(confirmed: Int?, films: Int)

    /// Whether the catalogue is being read.
    var isReading: Bool {
        switch self {
        case .opening, .loading, .refreshing: true
        case .complete, .outOfDate, .incomplete: false
        }
    }

    /// Begins a refresh; false where the catalogue is being read already.
    mutating func refresh() -> Bool {
        switch self {
        case .opening, .loading, .refreshing: return false
        case .complete(let confirmed), .outOfDate(let confirmed, _):
            self = .refreshing(confirmed: confirmed, films: 0)
        case .incomplete: self = .refreshing(confirmed: nil, films: 0)
        }
        return true
    }

    /// So many films have come.
    mutating func count(_ films: Int) {
        if case .refreshing(let confirmed, _) = self {
            self = .refreshing(confirmed: confirmed, films: films)
        } else {
            self = .loading(films: films)
        }
    }

    /// The reading has failed; the list stays as it is.
    mutating func fail(_ why: String) {
        if case .refreshing(let confirmed?, _) = self {
            self = .outOfDate(confirmed: confirmed, why: why)
        } else {
            self = .incomplete(why: why)
        }
    }

    /// What the title line says; empty where all is well.
    /// - Parameter now: the time.
    func title(now: Int) -> String {
        func soFar(_ films: Int) -> String { films > 0 ? " \(films) films so far" : "" }
        return switch self {
        case .opening: "loading…"
        case .loading(let films): "loading…" + soFar(films)
        case .complete: ""
        case .outOfDate(let confirmed, _): "out of date, \(Age.text(now - confirmed)) old"
        case .incomplete: "incomplete"
        case .refreshing(_, let films): "refreshing…" + soFar(films)
        }
    }

    /// What the status line says: why the films are not those of now, and what to do about it. Nil where they are.
    var explanation: String? {
        switch self {
        case .opening: "Reading the catalogue"
        case .outOfDate(_, let why): "Out of date: \(why); R asks again"
        case .incomplete(let why): "Incomplete: \(why); R asks again"
        case .loading, .complete, .refreshing: nil
        }
    }
}

/// What the browser hears of a catalogue that is being read.
enum CatalogueNews: Sendable {
    /// So many films have come so far.
    case came(films: Int)
    /// The films that have come so far.
    case part(FilmSet)
    /// All films, as they were at `confirmed`, in seconds since 1970. An outage is why they are not those of now.
    case whole(FilmSet, confirmed: Int, outage: String?)
    /// The reading failed.
    case failed(any Error)
}
