import Films
import HTTPSemantics

/// A request for a page of a library's films.
package struct FilmQuery: Sendable, Hashable {
    /// The sort orders. Equal films are sorted by title, then by id.
    package enum Sort: String, CaseIterable, Sendable {
        /// The order in which the films were added.
        case catalogue
        /// Highest first: by rating if there are votes, otherwise by score. Films without either come last.
        case score
        /// Oldest first; films without a year come last.
        case year
        /// By title without its leading article, ignoring case and accents.
        case title

        /// The sort columns, in the order of the index.
        var columns: [String] {
            switch self {
            case .catalogue: ["number"]
            case .score: ["score_key", "title_key", "id"]
            case .year: ["year_key", "title_key", "id"]
            case .title: ["title_key", "id"]
            }
        }

        /// The films in this order, in SQL: through its index, or in the table's own order.
        var films: String { self == .catalogue ? "films f" : "films f INDEXED BY films_by_\(rawValue)" }
    }

    /// A page of films in the requested order.
    package struct Page: Sendable, Hashable {
        package let films: [StoredFilm]
        /// The cursor of the next page; nil on the last one.
        package let next: String?
        /// The cursor of the previous page; nil on the first one.
        package let previous: String?
    }

    package var sort: Sort
    /// `FilterWords`, those of no field in title, original title, director, genres or year.
    package var search: String
    /// The `next` of the previous page; nil for the first page.
    package var after: String?
    /// The `previous` of the next page, to page backwards. Overrides `after`.
    package var before: String?
    /// The most films in a page.
    package var limit: Int
    /// The most bytes of the stored texts of a page's films. The page ends before they would be more, but has at least
    /// one film; `next` goes on. Default: nil, any number.
    package var byteLimit: Int?

    package init(sort: Sort = .catalogue, search: String = "", after: String? = nil, limit: Int) {
        self.sort = sort
        self.search = search
        self.after = after
        self.limit = limit
    }

    /// The cursor of the first film whose title begins with a text, or follows it, in the order by title. The text has
    /// no article and is in lower case.
    package static func start(ofTitles text: String) -> String {
        FilmCursor([.text(text), .text("")]).text(of: .title)
    }
}

/// The position of a film in a sort order. It holds the film's keys, so it stays valid after the film is removed. As
/// text it is base64url of `["score", -8.5, "nosferatu", "nosferatu-1922"]`.
struct FilmCursor {
    let keys: [SQLValue]

    init(_ keys: [SQLValue]) { self.keys = keys }

    init(_ text: String, of sort: FilmQuery.Sort) throws(FilmLibraryError) {
        // Ignored: every failure means an invalid cursor.
        guard let bytes = Base64URL.decode(text), let keys = try? JSONText(parsing: bytes).elements,
            keys.first?.string == sort.rawValue, keys.count == sort.columns.count + 1
        else { throw .invalidCursor }
        self.keys = try keys.dropFirst().map { key throws(FilmLibraryError) in
            if let number = key.number { return .real(number) }
            guard let text = key.string else { throw .invalidCursor }
            return .text(text)
        }
    }

    func text(of sort: FilmQuery.Sort) -> String {
        let keys = keys.map { key in
            switch key {
            case .integer(let number): JSONText(number)
            case .real(let number): JSONText(number)
            case .text(let text): JSONText(text)
            case .null, .blob: JSONText("")
            }
        }
        return Base64URL.encode(JSONText(elements: [JSONText(sort.rawValue)] + keys).text.utf8)
    }
}

extension FilmLibrary {
    /// Returns one page of films.
    /// - Throws: `.invalidCursor` for the cursor of another sort order.
    package func films(_ query: FilmQuery) throws(FilmLibraryError) -> FilmQuery.Page {
        try films(query, ifAtMost: nil) ?? FilmQuery.Page(films: [], next: nil, previous: nil)
    }

    /// Returns one page of films, if their stored texts have at most `bytes` bytes together; otherwise nil. Never reads
    /// more than that, so that a thread that must not wait can ask.
    /// - Parameter bytes: nil for any number. Then the page ends at the query's `byteLimit`, if it has one.
    /// - Throws: `.invalidCursor` for the cursor of another sort order.
    package func films(_ query: FilmQuery, ifAtMost bytes: Int?) throws(FilmLibraryError) -> FilmQuery.Page? {
        let limit = max(1, min(query.limit, Int.max - 1))
        let (isBackward, isWhole) = (query.before != nil, bytes != nil)
        let cursor = try (query.before ?? query.after).map { text throws(FilmLibraryError) in
            try FilmCursor(text, of: query.sort)
        }
        return try read { database throws(FilmLibraryError) in
            let search = FilmSearch(query.search)
            let (sql, values) = try search.statement(
                database, query.sort, cursor, isBackward: isBackward, limit: limit + 1)
            let rows = try FilmRows(database)
            var room = bytes ?? query.byteLimit
            var films: [StoredFilm] = []
            var numbers: [Int] = []
            var hasMore = false
            var isTooLarge = false
            // This statement reads no documents. So a search sorts none, and each is read when its size is known.
            try database.rows(sql, values) { row throws(FilmLibraryError) in
                let number = row.integer(0)
                // Of a word that belongs to a field the statement knows only that the film has it.
                let asked = search.filter.hasFields ? try rows.film(number) : nil
                if let asked, !search.fits(asked) { return true }
                guard films.count < limit else {
                    hasMore = true
                    return false
                }
                if let left = room {
                    let size = try rows.size(of: number)
                    if size > left, isWhole || !films.isEmpty {
                        (hasMore, isTooLarge) = (true, isWhole)
                        return false
                    }
                    room = left - size
                }
                guard let film = try asked == nil ? rows.film(number) : asked else {
                    throw .corrupt(path: path, reason: "an index names a film that is not there")
                }
                films.append(film)
                numbers.append(number)
                return true
            }
            if isTooLarge { return nil }
            let start = try Self.cursor(database, numbers.first, query.sort)
            let end = try Self.cursor(database, hasMore ? numbers.last : nil, query.sort)
            if isBackward { return FilmQuery.Page(films: films.reversed(), next: start, previous: end) }
            return FilmQuery.Page(films: films, next: end, previous: query.after == nil ? nil : start)
        }
    }

    /// The cursor at a film; nil for none.
    private static func cursor(
        _ database: Database, _ number: Int?, _ sort: FilmQuery.Sort
    ) throws(FilmLibraryError) -> String? {
        guard let number else { return nil }
        let columns = sort.columns
        return try database.first(
            "SELECT \(columns.joined(separator: ", ")) FROM films WHERE number = ?", [.integer(number)]
        ) { row throws(FilmLibraryError) in
            let keys = columns.indices.map { index -> SQLValue in
                switch columns[index] {
                case "number", "year_key": .integer(row.integer(Int32(index)))
                case "score_key": .real(row.real(Int32(index)))
                default: .text(row.text(Int32(index)))
                }
            }
            return FilmCursor(keys).text(of: sort)
        }
    }
}

/// Builds the SQL of a search.
struct FilmSearch {
    /// Up to this many matches are collected first and sorted then. More matches are so frequent that a scan in sort
    /// order soon fills a page.
    private static let matchLimit = 4000
    /// The trigram index finds no shorter words.
    private static let indexedLength = 3

    let filter: FilterWords
    /// The words of all fields: `search` has no fields.
    private let words: [String]

    init(_ text: String) {
        filter = FilterWords(text)
        words = filter.all
    }

    /// Whether the fields of a film have their words.
    func fits(_ film: StoredFilm) -> Bool {
        // Ignored: films are checked on their way into the library.
        (try? film.movie()).map(filter.fieldsFit) ?? false
    }

    /// The statement for the numbers of a page's films, and its parameters.
    func statement(
        _ database: Database, _ sort: FilmQuery.Sort, _ cursor: FilmCursor?, isBackward: Bool,
        limit: Int
    ) throws(FilmLibraryError) -> (String, [SQLValue]) {
        let keys = sort.columns.map { "f.\($0)" }.joined(separator: ", ")
        let order = sort.columns.map { "f.\($0)" + (isBackward ? " DESC" : "") }.joined(separator: ", ")
        var conditions: [String] = []
        var values: [SQLValue] = []
        let source: String
        if words.isEmpty {
            source = sort.films
        } else {
            (source, conditions, values) = try find(database, sort)
        }
        for years in filter.years {
            conditions.append("f.year_key BETWEEN ? AND ?")
            values += [.integer(years.lowerBound), .integer(years.upperBound)]
        }
        if let cursor {
            conditions.append(
                "(\(keys)) \(isBackward ? "<" : ">") (\(cursor.keys.map { _ in "?" }.joined(separator: ", ")))"
            )
            values += cursor.keys
        }
        let condition = conditions.isEmpty ? "" : "WHERE " + conditions.joined(separator: " AND ")
        // A negative limit is none.
        values.append(.integer(filter.hasFields ? -1 : limit))
        return ("SELECT f.number FROM \(source) \(condition) ORDER BY \(order) LIMIT ?", values)
    }

    /// The tables and conditions that find the films with all words.
    private func find(
        _ database: Database, _ sort: FilmQuery.Sort
    ) throws(FilmLibraryError) -> (source: String, conditions: [String], values: [SQLValue]) {
        // The index reads a query as far as its first NUL.
        let long = words.filter { $0.unicodeScalars.count >= Self.indexedLength && !$0.utf8.contains(0) }
        let contains = Array(repeating: "instr(s.text, ?) > 0", count: words.count)
        let all = words.map(SQLValue.text)
        if !long.isEmpty, try database.revision().isIndexed, database.hasTrigrams {
            let match = SQLValue.text(
                long.map { "\"\($0.replacing("\"", with: "\"\""))\"" }.joined(separator: " AND "))
            let found = try count(
                "SELECT 1 FROM words WHERE words MATCH ?", [match], database)
            if found <= Self.matchLimit {
                return (
                    """
                    words w CROSS JOIN search s ON s.number = w.rowid CROSS JOIN films f ON f.number = w.rowid
                    """, ["words MATCH ?"] + contains, [match] + all
                )
            }
        } else if try count(
            "SELECT 1 FROM search s WHERE " + contains.joined(separator: " AND "), all, database)
            <= Self.matchLimit
        {
            return ("search s CROSS JOIN films f ON f.number = s.number", contains, all)
        }
        return ("\(sort.films) CROSS JOIN search s ON s.number = f.number", contains, all)
    }

    /// The number of rows, counted up to `matchLimit` + 1.
    private func count(
        _ sql: String, _ values: [SQLValue], _ database: Database
    ) throws(FilmLibraryError) -> Int {
        try database.number("SELECT count(*) FROM (\(sql) LIMIT \(Self.matchLimit + 1))", values)
    }
}
