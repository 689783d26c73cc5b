import MovieCatalogue

/// The films in the browser: which are shown, in what order, and which one is selected. Numbers of films are those of the
/// catalogue; rows count what is shown, from 0.
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

    let catalogue: Catalogue
    /// Made before the first key of a filter, which would wait for it.
    private let index: FilmIndex
    private(set) var order = Order.catalogue
    private(set) var filter = ""
    /// The shown films, by number.
    private(set) var rows: [Int]
    /// The selected row; 0 where nothing is shown.
    private(set) var selected = 0
    /// All films in the present order, by number.
    private var sorted: [Int]

    init(_ catalogue: Catalogue) {
        self.catalogue = catalogue
        index = FilmIndex(catalogue.movies)
        rows = Array(catalogue.movies.indices)
        sorted = rows
    }

    /// The film in a row.
    func movie(inRow row: Int) -> Movie { catalogue.movies[rows[row]] }

    var selectedMovie: Movie? { rows.indices.contains(selected) ? movie(inRow: selected) : nil }

    /// Selects a row, the nearest there is.
    mutating func select(_ row: Int) { selected = max(0, min(row, rows.count - 1)) }

    /// Shows only the films that match; the selection stays on its film as long as that is shown.
    mutating func setFilter(_ text: String) {
        filter = text
        arrange()
    }

    mutating func setOrder(_ order: Order) {
        self.order = order
        switch order {
        case .catalogue: sorted = Array(catalogue.movies.indices)
        case .score: sorted = catalogue.numbers(by: .score)
        case .year: sorted = catalogue.numbers(by: .year)
        case .title: sorted = catalogue.numbers(by: .title)
        }
        arrange()
    }

    private mutating func arrange() {
        let film = rows.indices.contains(selected) ? rows[selected] : nil
        if filter.isEmpty {
            rows = sorted
        } else {
            var isShown = [Bool](repeating: false, count: sorted.count)
            for film in index.matches(filter) { isShown[film] = true }
            rows = sorted.filter { isShown[$0] }
        }
        selected = film.flatMap { rows.firstIndex(of: $0) } ?? 0
    }
}
