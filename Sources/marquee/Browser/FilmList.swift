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
    /// Made with the first filter: most sessions have none.
    private lazy var index = FilmIndex(catalogue.movies)
    private(set) var order = Order.catalogue
    private(set) var filter = ""
    /// The shown films, by number.
    private(set) var rows: [Int]
    /// The selected row; 0 where nothing is shown.
    private(set) var selected = 0
    /// Every film's place in the present order.
    private var places: [Int]

    init(_ catalogue: Catalogue) {
        self.catalogue = catalogue
        rows = Array(catalogue.movies.indices)
        places = rows
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
        case .catalogue: places = Array(catalogue.movies.indices)
        case .score: sort(by: .score)
        case .year: sort(by: .year)
        case .title: sort(by: .title)
        }
        arrange()
    }

    private mutating func sort(by sort: Catalogue.Sort) {
        var numbers: [String: Int] = [:]
        for (number, movie) in catalogue.movies.enumerated() { numbers[movie.id] = number }
        for (place, movie) in catalogue.sorted(by: sort).enumerated() {
            if let number = numbers[movie.id] { places[number] = place }
        }
    }

    private mutating func arrange() {
        let film = rows.indices.contains(selected) ? rows[selected] : nil
        let matches = filter.isEmpty ? Array(catalogue.movies.indices) : index.matches(filter)
        rows = matches.sorted { places[$0] < places[$1] }
        selected = film.flatMap { rows.firstIndex(of: $0) } ?? 0
    }
}
