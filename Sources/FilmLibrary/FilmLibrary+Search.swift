import MovieCatalogue

extension FilmLibrary {
    /// Returns one page of films.
    /// - Throws: `.invalidCursor` for the cursor of another sort order.
    package func films(_ query: FilmQuery) throws(FilmLibraryError) -> FilmPage {
        let limit = max(1, min(query.limit, Int.max - 1))
        let isBackward = query.before != nil
        let cursor = try (query.before ?? query.after).map { text throws(FilmLibraryError) in
            try FilmCursor(text, of: query.sort)
        }
        return try read { database throws(FilmLibraryError) in
            let search = FilmSearch(query.search)
            let (sql, values) = try search.statement(
                database, query.sort, cursor, isBackward: isBackward, limit: limit + 1)
            var films: [StoredFilm] = []
            // The cursors of the first and the last film read.
            var first: String?
            var last: String?
            var hasMore = false
            try database.rows(sql, values) { row throws(FilmLibraryError) in
                guard films.count < limit else {
                    hasMore = true
                    return false
                }
                films.append(try database.film(row))
                if films.count == 1 { first = Self.cursor(row, query.sort) }
                if films.count == limit { last = Self.cursor(row, query.sort) }
                return true
            }
            if !hasMore { last = nil }
            if isBackward { return FilmPage(films: films.reversed(), next: first, previous: last) }
            return FilmPage(films: films, next: last, previous: query.after == nil ? nil : first)
        }
    }

    private static func cursor(_ row: Row, _ sort: FilmQuery.Sort) -> String {
        let keys = sort.columns.indices.map { index -> SQLValue in
            let column = Int32(index) + Int32(FilmSearch.keyColumn)
            switch sort.columns[index] {
            case "number", "year_key": return .integer(row.integer(column))
            case "score_key": return .real(row.real(column))
            default: return .text(row.text(column))
            }
        }
        return FilmCursor(keys).text(of: sort)
    }
}

/// Builds the SQL of a search.
struct FilmSearch {
    /// The first column after those of `filmColumns`.
    static let keyColumn = 11
    /// Up to this many matches are collected first and sorted then. More matches are so frequent that a scan in sort
    /// order soon fills a page.
    private static let matchLimit = 4000
    /// The trigram index finds no shorter words.
    private static let indexedLength = 3

    private let words: [String]

    init(_ text: String) { words = FoldedText.fold(text).split(separator: " ").map(String.init) }

    /// The statement for a page, and its parameters.
    func statement(
        _ database: Database, _ sort: FilmQuery.Sort, _ cursor: FilmCursor?, isBackward: Bool = false,
        limit: Int
    ) throws(FilmLibraryError) -> (String, [SQLValue]) {
        let keys = sort.columns.map { "f.\($0)" }.joined(separator: ", ")
        let order = sort.columns.map { "f.\($0)" + (isBackward ? " DESC" : "") }.joined(separator: ", ")
        var conditions: [String] = []
        var values: [SQLValue] = []
        let source: String
        if words.isEmpty {
            source = "films f" + (sort.index.map { " INDEXED BY \($0)" } ?? "")
        } else {
            (source, conditions, values) = try find(database, sort)
        }
        if let cursor {
            conditions.append(
                "(\(keys)) \(isBackward ? "<" : ">") (\(cursor.keys.map { _ in "?" }.joined(separator: ", ")))"
            )
            values += cursor.keys
        }
        let condition = conditions.isEmpty ? "" : "WHERE " + conditions.joined(separator: " AND ")
        values.append(.integer(limit))
        return (
            """
            SELECT \(Database.filmColumns), \(keys) FROM \(source) LEFT JOIN posters p ON p.number = f.number
            \(condition) ORDER BY \(order) LIMIT ?
            """, values
        )
    }

    /// The tables and conditions that find the films with all words.
    private func find(
        _ database: Database, _ sort: FilmQuery.Sort
    ) throws(FilmLibraryError) -> (source: String, conditions: [String], values: [SQLValue]) {
        let long = words.filter { $0.unicodeScalars.count >= Self.indexedLength }
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
        let index = sort.index.map { " INDEXED BY \($0)" } ?? ""
        return ("films f\(index) CROSS JOIN search s ON s.number = f.number", contains, all)
    }

    /// The number of rows, counted up to `matchLimit` + 1.
    private func count(
        _ sql: String, _ values: [SQLValue], _ database: Database
    ) throws(FilmLibraryError) -> Int {
        var count = 0
        try database.rows("SELECT count(*) FROM (\(sql) LIMIT \(Self.matchLimit + 1))", values) {
            row throws(FilmLibraryError) in
            count = row.integer(0)
            return false
        }
        return count
    }
}
