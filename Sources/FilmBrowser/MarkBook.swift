package import Films

/// The marks of the films in the browser: the person's own, and those that the films' server has.
package struct MarkBook {
    /// A mark that is set with a key, and the value before, for undo.
    package struct Change: Equatable {
        package let movie: Movie
        /// The id at the films' server of what has the mark; nil for an episode without one.
        package let item: String?
        package let key: String
        package let mark: FilmMark
        package let value: Int
        let before: Int

        var undone: Change {
            Change(movie: movie, item: item, key: key, mark: mark, value: before, before: value)
        }
    }

    private struct Entry {
        var value: Int
        /// In seconds since 1970.
        var changed: Int
    }

    private struct Waiting: Hashable {
        let film: String
        let mark: FilmMark
    }

    private var stored: [String: [FilmMark: Entry]] = [:]
    /// The marks that the server does not have yet.
    private var waiting: Set<Waiting> = []
    /// Whether marks are sent to the films' server, whose own marks are then as good; nil if nobody has asked.
    private(set) var isSending: Bool?

    package init() {}

    /// Whether no film has a mark of the person's own.
    var isEmpty: Bool { stored.isEmpty }

    /// A film's marks. Of two values the newer one counts, if marks are sent; else the person's own.
    /// - Parameters:
    ///   - served: the marks that the films' server has; nil for none.
    ///   - confirmed: when the server was asked for them, in seconds since 1970.
    package func marks(of movie: Movie, served: FilmMarks?, confirmed: Int?) -> FilmMarks {
        var marks = served ?? FilmMarks()
        if stored.isEmpty { return marks }
        let keys = FilmMarks.keys(of: movie)
        for key in [keys.usual, keys.exact] {
            for (mark, entry) in stored[key] ?? [:] {
                // Of the same second the person's own counts.
                let isOlder = entry.changed < confirmed ?? 0
                let isWaiting = waiting.contains(Waiting(film: movie.id, mark: mark))
                if isSending == true, let served, served.isKnown(mark), isOlder, !isWaiting { continue }
                marks[mark] = entry.value
            }
        }
        return marks
    }

    /// The episodes of a series that are seen.
    func seenParts(of movie: Movie) -> Set<FilmPart> {
        guard movie.isSeries else { return [] }
        return Set(
            movie.parts.filter { part in
                let own = stored.isEmpty ? nil : stored[FilmMarks.key(of: part, in: movie)]?[.seen]
                return own.map { $0.value > 0 } ?? part.isSeen
            })
    }

    /// What a mark of a film is stored under.
    /// - Parameter isUnique: whether no other film of the catalogue has its title and year.
    func key(of movie: Movie, isUnique: Bool) -> String {
        let keys = FilmMarks.keys(of: movie)
        return isUnique && stored[keys.exact] == nil ? keys.usual : keys.exact
    }

    /// Shows marks before they are stored.
    mutating func set(_ changes: [Change], now: Int) {
        for change in changes {
            stored[change.key, default: [:]][change.mark] = Entry(value: change.value, changed: now)
            if let item = change.item { waiting.insert(Waiting(film: item, mark: change.mark)) }
        }
    }

    /// Takes what is stored.
    package mutating func take(_ news: MarkNews) {
        for mark in news.marks {
            stored[mark.key, default: [:]][mark.mark] = Entry(value: mark.value, changed: mark.changed)
        }
        isSending = news.isSending
        waiting = Set(news.unsent.map { Waiting(film: $0.film, mark: $0.mark) })
    }
}

/// News of the stored marks.
package struct MarkNews: Sendable {
    /// The marks that have changed, each with the time in seconds since 1970.
    package var marks: [(key: String, mark: FilmMark, value: Int, changed: Int)] = []
    /// The marks that the films' server does not have yet.
    package var unsent: [(film: String, mark: FilmMark)] = []
    /// Whether marks are sent to the films' server; nil if nobody has asked.
    package var isSending: Bool?
    /// What went wrong, for people; nil if nothing did.
    package var problem: String?

    package init() {}
}

/// The words of a filter that are about marks: `is:seen`, `is:unseen`, `is:favourite`, `is:to-watch`, `is:rated`,
/// `is:selected`.
package struct MarkWords {
    private enum Condition: String, CaseIterable {
        case seen, unseen, favourite, rated, unrated, selected
        case toWatch = "to-watch"
    }

    private static let prefix = "is:"
    private var conditions: [Condition] = []
    /// The text without these words.
    package let rest: String
    /// What is wrong with a word; nil if nothing is.
    package private(set) var problem: String?

    /// - Parameter isInBrowser: whether films can be selected.
    package init(_ text: String, isInBrowser: Bool = true) {
        let known = Condition.allCases.filter { isInBrowser || $0 != .selected }
        var rest: [Substring] = []
        var isExpected = false
        for word in text.split(separator: " ", omittingEmptySubsequences: false) {
            let isNamed = word.lowercased().hasPrefix(Self.prefix)
            guard isNamed || isExpected && !word.isEmpty else {
                rest.append(word)
                continue
            }
            let name = isNamed ? word.lowercased().dropFirst(Self.prefix.count) : word.lowercased()[...]
            // `is: seen`, as `genre: horror`.
            isExpected = name.isEmpty
            if let condition = known.first(where: { $0.rawValue == name }) {
                conditions.append(condition)
            } else if !known.contains(where: { $0.rawValue.hasPrefix(name) }) {
                problem = "is: needs \(known.map(\.rawValue).joined(separator: ", "))"
            }
        }
        self.rest = rest.joined(separator: " ")
    }

    package var isEmpty: Bool { conditions.isEmpty && problem == nil }

    /// Whether a film with these marks is shown.
    package func match(_ marks: FilmMarks, isSelected: Bool) -> Bool {
        // A word that is not understood must not show, and select, every film.
        problem == nil
            && conditions.allSatisfy { condition in
                switch condition {
                case .seen: marks.isSeen
                case .unseen: !marks.isSeen
                case .favourite: marks.isFavourite
                case .rated: marks.rating != nil
                case .unrated: marks.rating == nil
                case .selected: isSelected
                case .toWatch: marks.isToWatch
                }
            }
    }
}
