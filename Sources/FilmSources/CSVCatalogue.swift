import Films
import FoundationEssentials
import LazyImages

/// A list of films in a file in CSV (RFC 4180), such as the exports of Letterboxd and IMDb:
///
///     Date,Name,Year,Letterboxd URI,Rating
///     2024-10-31,"Nosferatu",1922,https://boxd.it/29Xo,4.5
///
///     Const,Your Rating,Date Rated,Title,Original Title,URL,Title Type,IMDb Rating,Runtime (mins),Year,Genres,…
///     tt0013442,9,2024-10-31,Nosferatu,"Nosferatu, eine Symphonie des Grauens",https://www.imdb.com/title/tt0013442/,…
///
/// A list of Letterboxd has a section about itself before its films:
///
///     Letterboxd list export v7
///     Date,Name,Tags,URL,Description
///     2024-10-31,Silent horror,,https://boxd.it/abc,
///
///     Position,Name,Year,URL,Description
///     1,Nosferatu,1922,https://boxd.it/29Xo,
///
/// Columns are found by their names, in any order; unknown ones are ignored. A wrong row is left out. The exports have no
/// posters: an import with `--join` takes them from another source.
package struct CSVCatalogue: FilmProvider {
    package let name: String

    /// - Parameter path: the file.
    package init(_ path: String) { name = path }

    /// How the exports begin: first a list of Letterboxd.
    private static let starts = ["Letterboxd list", "Date,Name,Year", "Const,Your Rating", "Position,Const"]

    /// Whether a file is such a list: its name says so, or it begins as an export does.
    package static func isOne(_ path: String, beginning: ArraySlice<UInt8>) -> Bool {
        let text = beginning.trimmingPrefix(Document.byteOrderMark)
        return path.lowercased().hasSuffix(".csv") || starts.contains { text.starts(with: $0.utf8) }
    }

    package var abilities: FilmAbilities {
        FilmAbilities().with {
            $0.file = name
            $0.serving = .refused("\(name): import it, and serve that: marquee import \(name) LIBRARY.db")
        }
    }

    package func readPages(
        _ selection: FilmSelection, _ access: any FilmAccess, _ take: CataloguePage.Taker
    ) async throws {
        let bytes = try await access.contents(ofFile: name, limit: selection.fileBytes)
        _ = try await take(try page(of: bytes))
    }

    /// The films of a list.
    func page(of bytes: [UInt8]) throws(CatalogueError) -> CataloguePage {
        var rows = try Self.rows(of: bytes)[...]
        if rows.first?.fields?[0].hasPrefix(Self.starts[0]) == true {
            rows = rows.drop { $0.fields?[0] != "Position" }
        }
        let header = rows.popFirst()
        let columns = Self.columns(header?.fields ?? [])
        guard columns.contains("title") else {
            let expected = "columns between commas, one of them called title or name"
            throw CatalogueError.wrongShape(expected: expected, line: header?.line)
        }
        let isDiary = columns.contains("watcheddate")
        var ids: Set<String> = []
        return CataloguePage(Array(rows), base: BaseURL(URL(filePath: name))) {
            row, position throws(CatalogueError) in
            var film = try film(row, columns, position: position)
            let (title, year, own) = (film.movie.title, film.movie.year, film.movie.id)
            let id = FilmID.make(title: title, year: year)
            // A diary has a film once for each time that it was seen. A page takes only the first with an id.
            let isFree = ids.insert(id).inserted || isDiary
            film.movie.id = isFree ? id : FilmID.make(title: title, year: year, from: own)
            return film
        }
    }

    // MARK: Columns

    /// What other programs call the columns, in lower case, with letters and digits only.
    private static let names = [
        "name": "title", "originaltitle": "originalTitle", "directors": "director", "genre": "genres",
        "runtimemins": "minutes", "imdbrating": "score", "url": "page", "letterboxduri": "page",
        "const": "imdb", "imdbid": "imdb", "tmdbid": "tmdb", "yourrating": "rating10",
    ]

    /// The columns by the names of the members of a film, `imdb` and `tmdb` for ids in databases, and `rating5` or
    /// `rating10` for the person's own rating.
    private static func columns(_ header: [String]) -> [String] {
        let names = header.map { $0.lowercased().filter { $0.isLetter || $0.isNumber } }
        // The scale of a rating that is not Letterboxd's is not known.
        let isLetterboxd = names.contains("letterboxduri")
        return names.map { $0 == "rating" && isLetterboxd ? "rating5" : Self.names[$0] ?? $0 }
    }

    private func film(_ row: Row, _ columns: [String], position: Int) throws(CatalogueError) -> SourceFilm {
        guard let fields = row.fields, fields.dropFirst(columns.count).allSatisfy(\.isEmpty) else {
            let expected = "at most \(columns.count) values in UTF-8, quoted if they have commas or quotes"
            throw .wrongShape(expected: expected, line: row.line)
        }
        let texts = Dictionary(zip(columns, fields).filter { !$1.isEmpty }) { first, _ in first }
        var values = MovieFields.Values()
        for member in FilmMember.allCases where member.definition.rule != .library {
            guard let text = texts[member.name] else { continue }
            switch member.kind {
            case .texts: values.set(member, text.split(separator: ",").map { String($0) })
            case .whole, .number: values[member] = Double(text).map { .number($0) } ?? .other
            case .required, .text, .paragraphs, .address: values.set(member, text)
            }
        }
        values.set(.id, texts["imdb"] ?? texts["page"] ?? "line \(row.line)")
        let ids = texts.filter { ["imdb", "tmdb"].contains($0.key) }
        return try SourceFilm(values, ids: ids, marks: marks(texts), position: position, line: row.line)
    }

    /// The person's marks. Two lists of Letterboxd say only by their names that their films are seen, or to watch.
    private func marks(_ texts: [String: String]) -> FilmMarks {
        var marks = FilmMarks()
        let rating = Double(texts["rating5"] ?? "").map { $0 * 2 } ?? Double(texts["rating10"] ?? "")
        if let rating, 1...10 ~= rating { marks[.rating] = Int(rating.rounded()) }
        let list = URL(filePath: name).lastPathComponent.lowercased()
        if list.hasPrefix("watchlist") { marks[.toWatch] = 1 }
        if list.hasPrefix("watched") || texts["watcheddate"] != nil || marks.rating != nil {
            marks[.seen] = 1
        }
        return marks
    }

    // MARK: Rows

    /// A row that begins on a line, from 1, with at least one field, without white space around them; nil if it is malformed.
    private typealias Row = (line: Int, fields: [String]?)

    private static let (newline, comma, quote) = (UInt8(ascii: "\n"), UInt8(ascii: ","), UInt8(ascii: "\""))

    /// The rows of a document (RFC 4180 section 2) that are not empty. Lines may end with LF alone.
    private static func rows(of bytes: [UInt8]) throws(CatalogueError) -> [Row] {
        guard bytes.count(where: { $0 == comma || $0 == newline }) <= Document.maximumValues else {
            throw .tooLarge(limit: Document.maximumValues, unit: "commas and lines")
        }
        var rows: [Row] = []
        var line = 1
        var rest = bytes.trimmingPrefix(Document.byteOrderMark)
        while !rest.isEmpty {
            var row = part(of: rest, before: newline)
            let fields = row.count { $0 == quote }.isMultiple(of: 2) ? fields(of: row) : nil
            if fields != [""] { rows.append((line, fields)) }
            // A quote that is not closed takes all rows that follow: only its own line is left out.
            if fields == nil { row = rest.prefix { $0 != newline } }
            rest = rest.dropFirst(row.count + 1)
            line += 1 + row.count { $0 == newline }
        }
        return rows
    }

    private static func fields(of row: ArraySlice<UInt8>) -> [String]? {
        var fields: [String] = []
        var rest = row
        repeat {
            let part = part(of: rest, before: comma)
            guard var text = String(validating: part, as: UTF8.self)?.trimmed else { return nil }
            if text.contains("\"") {
                guard text.hasPrefix("\""), text.dropFirst().hasSuffix("\"") else { return nil }
                text = String(text.dropFirst().dropLast().replacing("\"\"", with: "\""))
            }
            fields.append(text)
            rest = rest[part.endIndex...]
        } while rest.popFirst() != nil
        return fields
    }

    /// The bytes before the first separator that is not in quotes.
    private static func part(of bytes: ArraySlice<UInt8>, before separator: UInt8) -> ArraySlice<UInt8> {
        var isQuoted = false
        return bytes.prefix { byte in
            if byte == quote { isQuoted.toggle() }
            return isQuoted || byte != separator
        }
    }
}
