import LazyImages
import MovieCatalogue
import TerminalGraphics

/// `marquee list`: the films, and whether each poster is cached. Asks no network but for a catalogue that is there.
enum ListCommand: Command {
    static let specification = CommandSpecification(
        name: "list", summary: "the films, and whether each poster is cached",
        examples: [
            ("marquee list --top 10", "the ten best"),
            ("marquee list --top 10 --sort year", "the ten oldest"),
            ("marquee list --sort year", "in the order of their years"),
            ("marquee list --json | jq -r '.[].title'", "for programs"),
        ],
        options: [
            Option(name: "top", value: "N", help: "only the N best, or the first N of --sort"),
            Option(
                name: "sort", value: "ORDER",
                help: "score, year or title (default: the catalogue's own order; with --top, score)"),
            Option(name: "posters", help: "with their posters, where there is a terminal or --color always"),
            Option(name: "plain", help: "a film a line, columns separated by tabs"),
        ])

    static func run(_ session: Session) async throws -> ExitStatus {
        let arguments = session.arguments
        let top = try arguments.number("top", in: 1...Int.max)
        let order = try order(arguments)
        if arguments.has("plain"), session.settings.wantsJSON {
            throw UsageError("--plain and --json exclude each other")
        }
        let (open, movies) = try await chosen(top: top, order: order, session)
        if let outage = open.outage {
            let age = open.confirmed.map { Age.text(WallClock.system.seconds - $0) + " old" }
            session.output.failure(
                "\(outage.advised); these are the cached films, \(age ?? "of unknown age")")
        }
        if session.settings.wantsJSON {
            session.output.jsonArray(count: movies.count) { row(for: movies[$0], open: open, session) }
        } else if arguments.has("plain") {
            for row in rows(for: movies, open, session) { session.output.line(fields: plain(row)) }
        } else if arguments.has("posters"), let inline = await InlinePoster.make(session.settings) {
            let status = try await PosterList.print(movies, open, inline, session)
            return open.outage == nil ? status : .someFailed
        } else {
            table(rows(for: movies, open, session), session.output)
        }
        return open.outage == nil ? .done : .someFailed
    }

    /// The films that are listed: without another order, so many of them are the best. A library gives those and no more.
    private static func chosen(
        top: Int?, order: Catalogue.Sort?, _ session: Session
    ) async throws -> (OpenCatalogue, [Movie]) {
        if let top, case .library(let path) = session.source {
            let open = try await LibrarySource.first(top, by: order ?? .score, path, session.output)
            return (open, open.catalogue.movies)
        }
        let open = try await session.catalogue(
            top: order ?? .score == .score ? top : nil, orCached: true)
        if let top { return (open, open.catalogue.first(top, by: order ?? .score)) }
        return (open, order.map { open.catalogue.sorted(by: $0) } ?? open.catalogue.movies)
    }

    private static func order(_ arguments: Arguments) throws(UsageError) -> Catalogue.Sort? {
        guard let text = arguments.value("sort") else { return nil }
        guard let order = Catalogue.Sort(rawValue: text) else {
            let names = Catalogue.Sort.allCases.map(\.rawValue).joined(separator: ", ")
            throw UsageError("--sort wants one of \(names), not \"\(text)\"")
        }
        return order
    }

    private static func rows(
        for movies: [Movie], _ open: OpenCatalogue, _ session: Session
    ) -> [FilmRecord] {
        movies.map { row(for: $0, open: open, session) }
    }

    private static func row(for movie: Movie, open: OpenCatalogue, _ session: Session) -> FilmRecord {
        // A poster whose address is none is not cached; `show` says why.
        let request = movie.poster.flatMap { try? session.request(for: $0, relativeTo: open.base) }
        return FilmRecord(
            movie: movie, poster: request?.url.displayText,
            isCached: request.map { session.hasCached($0) } ?? false)
    }

    private static func plain(_ row: FilmRecord) -> [String] {
        let movie = row.movie
        return [
            movie.id, movie.title, movie.year.map(String.init) ?? "", movie.director ?? "",
            movie.standing?.formatted(decimals: 1) ?? "", row.isCached == true ? "cached" : "-",
        ]
    }

    private static func table(_ rows: [FilmRecord], _ output: Output) {
        let width = Terminal.width
        let widths = columnWidths(rows, in: width)
        for row in rows {
            let movie = row.movie
            let score = movie.standing.map { $0.formatted(decimals: 1) } ?? ""
            let title = TerminalText.visible(movie.title)
            // A program, or a file, gets all of a title, whatever that does to the columns.
            let isLong = width == nil && TerminalText.width(title) > widths.title
            let columns = [
                row.isCached == true ? "●" : "○",
                TerminalText.padded(score, toWidth: 4, alignment: .trailing),
                TerminalText.padded(movie.year.map(String.init) ?? "", toWidth: 4, alignment: .trailing),
                isLong ? title : TerminalText.padded(title, toWidth: widths.title),
                TerminalText.truncated(TerminalText.visible(movie.director ?? ""), toWidth: widths.director),
            ]
            let line = columns.joined(separator: "  ")
            output.line(width.map { TerminalText.truncated(line, toWidth: $0) } ?? line)
        }
        // For a person's eyes; what is piped holds films and nothing else.
        if Output.isTerminal { output.line(summary(rows)) }
    }

    /// Room for titles and directors: what they need where there is no terminal or a wide one, else what it has, and
    /// three fifths of that for the titles.
    static func columnWidths(_ rows: [FilmRecord], in width: Int?) -> (title: Int, director: Int) {
        let title = min(44, rows.map { TerminalText.width(TerminalText.visible($0.movie.title)) }.max() ?? 0)
        guard let width else { return (title, .max) }
        let room = max(0, width - columnsBeforeTitle - 2)
        let director =
            rows.map { TerminalText.width(TerminalText.visible($0.movie.director ?? "")) }.max() ?? 0
        if title + director <= room { return (title, director) }
        let narrowTitle = min(title, max(room * 3 / 5, room - director))
        return (narrowTitle, room - narrowTitle)
    }

    /// `●  8.6  1902  `
    private static let columnsBeforeTitle = 15

    private static func summary(_ rows: [FilmRecord]) -> String {
        let films = rows.count == 1 ? "1 film" : "\(rows.count) films"
        let posters = rows.filter { $0.movie.poster != nil }
        let cached = posters.count { $0.isCached == true }
        if posters.isEmpty { return films }
        return cached == posters.count
            ? "\(films), every poster cached (●)"
            : "\(films), \(cached) of \(posters.count) posters cached (●); marquee prewarm fetches the rest"
    }
}
