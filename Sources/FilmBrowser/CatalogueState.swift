/// How current and complete the films on the screen are. Each reading of the catalogue goes one way:
///
///     opening -> loading -> complete | outOfDate | incomplete
///     complete | outOfDate | incomplete -> refreshing -> complete | outOfDate | incomplete
///
/// Times are in seconds since 1970.
package enum CatalogueState: Equatable {
    /// No film has arrived yet.
    case opening
    /// This many films have arrived, and more are coming. The list may show fewer.
    case loading(films: Int)
    /// All films, as they were at that time.
    case complete(confirmed: Int)
    /// The films of that time. The server could not tell whether they have changed.
    case outOfDate(confirmed: Int, why: String)
    /// Not all films: the reading failed part of the way.
    case incomplete(why: String)
    /// The server is asked again, and this many films have arrived. The list shows the films of `confirmed`; nil where
    /// it was incomplete.
    case refreshing(confirmed: Int?, films: Int)

    /// Whether the catalogue is being read.
    package var isReading: Bool {
        switch self {
        case .opening, .loading, .refreshing: true
        case .complete, .outOfDate, .incomplete: false
        }
    }

    /// Begins a refresh; false if the catalogue is being read already.
    mutating func refresh() -> Bool {
        switch self {
        case .opening, .loading, .refreshing: return false
        case .complete(let confirmed), .outOfDate(let confirmed, _):
            self = .refreshing(confirmed: confirmed, films: 0)
        case .incomplete: self = .refreshing(confirmed: nil, films: 0)
        }
        return true
    }

    /// Begins to read more films of an endless source; false if the catalogue is being read already.
    mutating func readMore(after films: Int) -> Bool {
        if isReading { return false }
        self = .loading(films: films)
        return true
    }

    /// Takes the number of films that have arrived.
    mutating func count(_ films: Int) {
        if case .refreshing(let confirmed, _) = self {
            self = .refreshing(confirmed: confirmed, films: films)
        } else {
            self = .loading(films: films)
        }
    }

    /// The reading has failed; the list stays.
    mutating func fail(_ why: String) {
        if case .refreshing(let confirmed?, _) = self {
            self = .outOfDate(confirmed: confirmed, why: why)
        } else {
            self = .incomplete(why: why)
        }
    }

    /// The text for the title line; empty if the films are current.
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

    /// The text for the status line: why the films may be out of date, and what to do. Nil if they are current.
    /// - Parameter keys: the keys that it names.
    func explanation(_ keys: BrowserKeys) -> String? {
        switch self {
        case .opening: "Reading the catalogue"
        case .outOfDate(_, let why): "Out of date: \(why)" + keys.text("; {R} asks again")
        case .incomplete(let why): "Incomplete: \(why)" + keys.text("; {R} asks again")
        case .loading, .complete, .refreshing: nil
        }
    }
}

/// News of a catalogue that is being read.
package enum CatalogueNews: Sendable {
    /// The number of films that have arrived.
    case came(films: Int)
    /// The films that have arrived.
    case part(FilmSet)
    /// All films, confirmed at `confirmed`, in seconds since 1970. `outage` is why they may be out of date.
    case whole(FilmSet, confirmed: Int, outage: String?)
    /// The reading failed.
    case failed(any Error)
}

/// A period in words.
package enum Age {
    /// `40 seconds`, `1 minute`, `3 hours`, `2 days`: whole units, rounded down.
    package static func text(_ seconds: Int) -> String {
        let units = [("day", 86_400), ("hour", 3600), ("minute", 60)]
        // If the clock was set back, the period is zero, never negative.
        let seconds = max(0, seconds)
        let (name, length) = units.first { seconds >= $0.1 } ?? ("second", 1)
        let count = seconds / length
        return "\(count) \(name)\(count == 1 ? "" : "s")"
    }
}
