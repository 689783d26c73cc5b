package import Films
import FoundationEssentials
package import LazyImages

/// The films in the browser: which are shown, in what order, and which is selected. A film's number is its index in the
/// catalogue. A row is its index among the shown films. Both begin at 0.
package struct FilmList {
    /// The orders `s` goes through.
    enum Order: String, CaseIterable {
        case catalogue = "catalogue order"
        case score = "best first"
        case year = "by year"
        case title = "by title"
        case own = "by your rating"
        case unseen = "unseen first"

        /// Whether the order is by the person's marks.
        var isByMarks: Bool { self == .own || self == .unseen }
    }

    package private(set) var films = FilmSet()
    private(set) var order = Order.catalogue
    private(set) var filter = ""
    /// The words of the filter.
    private(set) var words = FilterWords("")
    /// The shown films, by number.
    package private(set) var rows: [Int] = []
    /// The selected row; 0 where nothing is shown.
    package private(set) var selected = 0
    /// How many rows match the filter best. These rows come first.
    private var bestMatches = 0
    /// Whether no film has the filter's words, and the shown films have similar titles.
    private(set) var areSimilar = false
    /// All films in the present order, by number.
    private var sorted: [Int] = []
    /// The marks of the films. Order and filter stay as they are until they change.
    var marks = MarkBook()
    /// The words of the filter about marks.
    private var markWords = MarkWords("")
    /// The films with what only their own pages have, by the films as their list has them.
    private var wholes: [Movie: Movie] = [:]
    /// The ids of the films that are selected together; empty where only `selected` counts.
    private(set) var selection: Set<String> = []

    package var catalogue: Catalogue { films.catalogue }

    /// The film in a row.
    func movie(inRow row: Int) -> Movie { catalogue.movies[rows[row]] }

    /// How a refresh changed the film in a row; nil if it did not.
    func change(inRow row: Int) -> FilmSet.Change? { films.changes[rows[row]] }

    /// The oldest other films by the selected film's director, at most `limit`, and how many there are in all.
    func sameDirector(first limit: Int) -> (films: [Movie], count: Int) {
        guard let director = selectedMovie?.director, let numbers = films.byDirector[director] else {
            return ([], 0)
        }
        let others = numbers.prefix(limit + 1).filter { $0 != rows[selected] }.prefix(limit)
        return (others.map { catalogue.movies[$0] }, numbers.count - 1)
    }

    package var selectedMovie: Movie? { rows.indices.contains(selected) ? movie(inRow: selected) : nil }

    /// Selects the nearest existing row.
    mutating func select(_ row: Int) { selected = max(0, min(row, rows.count - 1)) }

    /// Shows only the films that match. The selection stays on its film while that is shown, unless another film
    /// matches better.
    mutating func setFilter(_ text: String) {
        filter = text
        markWords = MarkWords(text)
        words = FilterWords(markWords.rest)
        arrange()
        if selected >= bestMatches { selected = 0 }
    }

    /// What is wrong with the filter; nil if nothing is.
    var problem: String? { markWords.problem ?? words.problem.map { "\($0.member): \($0.detail)" } }

    /// The order after the present one. Without marks no order is by them.
    var nextOrder: Order {
        let all = Order.allCases.filter { !$0.isByMarks || hasMarks }
        return all[((all.firstIndex(of: order) ?? 0) + 1) % all.count]
    }

    /// Changes the order. The selection stays on its film.
    mutating func setOrder(_ order: Order) {
        self.order = order
        sort()
        arrange()
    }

    /// Replaces the films, and keeps the order and the filter. The selection stays on its film. If that is gone, it
    /// goes to the nearest one left: the next, else the one before.
    /// - Returns: whether the selected film is still shown.
    mutating func replace(by films: FilmSet) -> Bool {
        let before = rows.map { catalogue.movies[$0].id }
        let old = selected
        self.films = films
        for (movie, whole) in wholes { self.films.complete(movie, with: whole) }
        if !selection.isEmpty { selection.formIntersection(catalogue.movies.map(\.id)) }
        sort()
        show()
        selected = 0
        if before.isEmpty { return true }
        let row = Dictionary(rows.enumerated().map { (catalogue.movies[$1].id, $0) }) { first, _ in first }
        let nearest = before[old...] + before[..<old].reversed()
        selected = nearest.lazy.compactMap { row[$0] }.first ?? 0
        return nearest.first.map { row[$0] != nil } ?? true
    }

    /// Whether a film has what only its own page has.
    package func isWhole(_ movie: Movie) -> Bool { wholes.values.contains(movie) }

    /// Puts a film with what only its own page has in its place, now and in later lists that have the same film. Order
    /// and filter stay as they are until they change.
    package mutating func complete(_ movie: Movie, with whole: Movie) {
        wholes[movie] = whole
        films.complete(movie, with: whole)
    }

    private mutating func sort() {
        switch order {
        case .catalogue: sorted = Array(catalogue.movies.indices)
        case .score: sorted = catalogue.numbers(by: .score)
        case .year: sorted = catalogue.numbers(by: .year)
        case .title: sorted = catalogue.numbers(by: .title)
        case .own: sort { $0.rating ?? 0 }
        case .unseen: sort { $0.isSeen ? 0 : 1 }
        }
    }

    /// The films with the highest rank first; of one rank the best first.
    private mutating func sort(by rank: (FilmMarks) -> Int) {
        let ranks = catalogue.movies.map { rank(marks(of: $0)) }
        sorted = catalogue.numbers(by: .score).enumerated()
            .sorted { (ranks[$1.element], $0.offset) < (ranks[$0.element], $1.offset) }.map(\.element)
    }

    /// Whether there is any mark, of the person's own or of the films' server.
    private var hasMarks: Bool { !marks.isEmpty || !films.served.isEmpty }

    private mutating func arrange() {
        let film = rows.indices.contains(selected) ? rows[selected] : nil
        show()
        selected = film.flatMap { rows.firstIndex(of: $0) } ?? 0
    }

    private mutating func show() {
        defer {
            if !markWords.isEmpty {
                let shown = rows.map { number in
                    let movie = catalogue.movies[number]
                    return markWords.match(marks(of: movie), isSelected: selection.contains(movie.id))
                }
                bestMatches = shown.prefix(bestMatches).count { $0 }
                rows = zip(rows, shown).filter(\.1).map(\.0)
            }
        }
        if words.isEmpty {
            (rows, bestMatches, areSimilar) = (sorted, sorted.count, false)
            return
        }
        let hits = films.index.hits(words)
        areSimilar = hits.areSimilar
        var group = [Int?](repeating: nil, count: sorted.count)
        for (number, films) in hits.groups.enumerated() { for film in films { group[film] = number } }
        var shown = hits.groups.map { _ in [Int]() }
        for film in sorted { if let number = group[film] { shown[number].append(film) } }
        rows = shown.flatMap(\.self)
        bestMatches = shown.first?.count ?? 0
    }
}

/// Marks, and the films that are selected together.
extension FilmList {
    func marks(of movie: Movie) -> FilmMarks {
        marks.marks(of: movie, served: films.served[movie.id], confirmed: films.confirmed)
    }

    /// The films that a command is for: those selected together, as far as they are shown, in their order; else the one
    /// that is selected.
    package var targets: [Movie] {
        if selection.isEmpty { return selectedMovie.map { [$0] } ?? [] }
        return rows.map { catalogue.movies[$0] }.filter { selection.contains($0.id) }
    }

    func isSelected(_ movie: Movie) -> Bool { selection.contains(movie.id) }

    /// Adds the selected film to those selected together, or takes it out.
    mutating func toggleSelection() {
        guard let movie = selectedMovie else { return }
        if selection.remove(movie.id) == nil { selection.insert(movie.id) }
    }

    /// Selects all films that are shown; none, if all of them are selected.
    mutating func selectAll() {
        let shown = Set(rows.map { catalogue.movies[$0].id })
        selection = selection.isSuperset(of: shown) ? [] : shown
    }

    mutating func endSelection() { selection = [] }

    /// The change that marks a film as seen, or an episode of it.
    func seen(_ movie: Movie, _ part: FilmPart?) -> [MarkBook.Change] {
        guard let part else { return changes(.seen, to: 1, of: [movie]) }
        return [
            MarkBook.Change(
                movie: movie, item: part.id, key: FilmMarks.key(of: part, in: movie), mark: .seen, value: 1,
                before: 0)
        ]
    }

    /// The changes that set a mark of films to a value. A mark that all of them have is removed, except a rating.
    func changes(_ mark: FilmMark, to value: Int, of movies: [Movie]) -> [MarkBook.Change] {
        let before = movies.map { marks(of: $0)[mark] }
        let isSet = mark != .rating && before.allSatisfy { $0 > 0 }
        let isUnique = films.uniqueness(of: movies)
        return zip(movies, before).compactMap { movie, before in
            let value = isSet ? 0 : value
            let key = marks.key(of: movie, isUnique: isUnique(movie))
            return value == before
                ? nil
                : MarkBook.Change(
                    movie: movie, item: movie.id, key: key, mark: mark, value: value, before: before)
        }
    }
}

/// The films of a catalogue, ready to browse. Making it takes long for many films, so the browser's thread does not do
/// it.
package struct FilmSet: Sendable {
    /// How a refresh changed a film.
    enum Change: Sendable { case new, changed }

    package private(set) var catalogue: Catalogue
    /// The base URL of the posters.
    package let base: BaseURL
    /// The index for the filter. It is made early, or the filter's first key would wait for it.
    private(set) var index: FilmIndex
    /// The numbers of each director's films, the oldest first.
    fileprivate private(set) var byDirector: [String: [Int]]
    /// How the refresh changed films, by the film's number.
    private(set) var changes: [Int: Change] = [:]
    /// The number of films that the refresh removed.
    private(set) var removed = 0
    /// The marks that the films' server has, by the film's id.
    let served: [String: FilmMarks]
    /// The ids that databases of films have for a film, by the film's own.
    package let ids: [String: [String: String]]
    /// When the server was asked for the films, in seconds since 1970; nil if that is unknown.
    let confirmed: Int?
    /// Whether the server has more films than were read.
    let hasMore: Bool

    /// No films.
    init() { self.init(Catalogue(name: nil, movies: []), base: BaseURL(URL(filePath: "/"))) }

    /// Replaces a film by itself with more members.
    mutating func complete(_ movie: Movie, with whole: Movie) {
        guard let number = catalogue.movies.firstIndex(of: movie) else { return }
        if let director = movie.director { byDirector[director]?.removeAll { $0 == number } }
        catalogue = catalogue.replacing(whole)
        index = FilmIndex(catalogue.movies)
        guard let director = whole.director else { return }
        let movies = catalogue.movies
        byDirector[director] = ((byDirector[director] ?? []) + [number]).sorted {
            Self.isOlder($0, $1, movies)
        }
    }

    /// The order of a director's films: by year, then as in the catalogue.
    private static func isOlder(_ one: Int, _ other: Int, _ movies: [Movie]) -> Bool {
        (movies[one].year ?? .max, one) < (movies[other].year ?? .max, other)
    }

    /// - Parameter shown: the films that a refresh replaces; nil for the first reading.
    package init(
        _ catalogue: Catalogue, base: BaseURL, served: [String: FilmMarks] = [:],
        ids: [String: [String: String]] = [:], confirmed: Int? = nil, hasMore: Bool = false,
        replacing shown: Catalogue? = nil
    ) {
        (self.catalogue, self.base, self.served, self.ids) = (catalogue, base, served, ids)
        (self.confirmed, self.hasMore) = (confirmed, hasMore)
        index = FilmIndex(catalogue.movies)
        let movies = catalogue.movies
        byDirector = movies.indices.sorted { Self.isOlder($0, $1, movies) }
            .reduce(into: [:]) { films, number in
                if let director = movies[number].director { films[director, default: []].append(number) }
            }
        guard let shown else { return }
        var old = Dictionary(shown.movies.map { ($0.id, $0) }) { first, _ in first }
        for (number, movie) in catalogue.movies.enumerated() {
            guard let before = old.removeValue(forKey: movie.id) else {
                changes[number] = .new
                continue
            }
            if before != movie { changes[number] = .changed }
        }
        removed = old.count
    }

    /// Tells of each of these films whether no other film has its title and year. Of one film only those of its year are
    /// looked at: a key takes microseconds.
    fileprivate func uniqueness(of movies: [Movie]) -> (Movie) -> Bool {
        let years = Set(movies.map(\.year))
        var counts: [String: Int] = [:]
        for movie in catalogue.movies where years.contains(movie.year) {
            counts[FilmMarks.keys(of: movie).usual, default: 0] += 1
        }
        return { counts[FilmMarks.keys(of: $0).usual, default: 0] < 2 }
    }

    /// The same set without changes, for a refresh of an incomplete list: which films are new is unknown.
    var unmarked: FilmSet {
        var films = self
        films.changes = [:]
        films.removed = 0
        return films
    }

    /// Whether a refresh has brought anything.
    var hasChanged: Bool { !changes.isEmpty || removed > 0 }

    /// `Refreshed: 2 new (+), 1 changed (~), 1 gone`.
    var summary: String {
        let counts = [
            (changes.values.count { $0 == .new }, "new (+)"),
            (changes.values.count { $0 == .changed }, "changed (~)"), (removed, "gone"),
        ]
        let parts = counts.filter { $0.0 > 0 }.map { "\($0.0) \($0.1)" }
        return "Refreshed: " + (parts.isEmpty ? "nothing has changed" : parts.joined(separator: ", "))
    }
}
