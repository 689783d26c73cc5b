import MovieCatalogue

/// The films in the browser: which are shown, in what order, and which is selected. A film's number is its index in the
/// catalogue. A row is its index among the shown films. Both begin at 0.
struct FilmList {
    /// The orders `s` goes through.
    enum Order: CaseIterable {
        case catalogue, score, year, title

        var name: String {
            switch self {
            case .catalogue: "catalogue order"
            case .score: "best first"
            case .year: "by year"
            case .title: "by title"
            }
        }

        var next: Order {
            let all = Order.allCases
            return all[((all.firstIndex(of: self) ?? 0) + 1) % all.count]
        }
    }

    private(set) var films = FilmSet()
    private(set) var order = Order.catalogue
    private(set) var filter = ""
    /// The words of the filter.
    private(set) var words = FilterWords("")
    /// The shown films, by number.
    private(set) var rows: [Int] = []
    /// The selected row; 0 where nothing is shown.
    private(set) var selected = 0
    /// How many rows match the filter best. These rows come first.
    private var bestMatches = 0
    /// Whether no film has the filter's words, and the shown films have similar titles.
    private(set) var areSimilar = false
    /// All films in the present order, by number.
    private var sorted: [Int] = []

    var catalogue: Catalogue { films.catalogue }

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

    var selectedMovie: Movie? { rows.indices.contains(selected) ? movie(inRow: selected) : nil }

    /// Selects the nearest existing row.
    mutating func select(_ row: Int) { selected = max(0, min(row, rows.count - 1)) }

    /// Shows only the films that match. The selection stays on its film while that is shown, unless another film
    /// matches better.
    mutating func setFilter(_ text: String) {
        filter = text
        words = FilterWords(text)
        arrange()
        if selected >= bestMatches { selected = 0 }
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
        sort()
        show()
        selected = 0
        if before.isEmpty { return true }
        let row = Dictionary(rows.enumerated().map { (catalogue.movies[$1].id, $0) }) { first, _ in first }
        let nearest = before[old...] + before[..<old].reversed()
        selected = nearest.lazy.compactMap { row[$0] }.first ?? 0
        return nearest.first.map { row[$0] != nil } ?? true
    }

    private mutating func sort() {
        switch order {
        case .catalogue: sorted = Array(catalogue.movies.indices)
        case .score: sorted = catalogue.numbers(by: .score)
        case .year: sorted = catalogue.numbers(by: .year)
        case .title: sorted = catalogue.numbers(by: .title)
        }
    }

    private mutating func arrange() {
        let film = rows.indices.contains(selected) ? rows[selected] : nil
        show()
        selected = film.flatMap { rows.firstIndex(of: $0) } ?? 0
    }

    private mutating func show() {
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
