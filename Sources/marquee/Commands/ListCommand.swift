import LazyImages
import MovieCatalogue
import TerminalGraphics

/// `marquee list`: the films, and whether each poster is cached. Needs the network only for a catalogue on it.
enum ListCommand: Command {
    static let specification = CommandSpecification(
        name: "list", summary: "list the films, and whether each poster is cached",
        examples: [
            ("marquee list --top 10", "the ten best"),
            ("marquee list --top 10 --sort year", "the ten oldest"),
            ("marquee list --sort year", "ordered by year"),
            ("marquee list --json | jq -r '.[].title'", "for programs"),
        ],
        options: [
            Option(name: "top", value: "N", help: "only the N best, or the first N in the order of --sort"),
            Option(
                name: "sort", value: "ORDER",
                help: "score, year or title (default: the catalogue's own order; with --top, score)",
                choices: Catalogue.Sort.allCases.map(\.rawValue)),
            Option(name: "posters", help: "show the posters too, on a terminal or with --color always"),
            Option(name: "plain", help: "one film on each line, with tabs between columns"),
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
                "\(outage.advised); showing the cached films, \(age ?? "of unknown age")")
        }
        if session.settings.wantsJSON {
            session.output.jsonArray(count: movies.count) { row(for: movies[$0], open: open, session) }
        } else if arguments.has("plain") {
            let rows = rows(for: movies, open, session)
            session.paged { for row in rows { session.output.line(fields: plain(row)) } }
        } else if arguments.has("posters"), let inline = await InlinePoster.make(session.settings) {
            let status = try await PosterList.print(movies, open, inline, session)
            return open.outage == nil ? status : .someFailed
        } else {
            let rows = rows(for: movies, open, session)
            session.paged {
                if let width = Terminal.width {
                    FilmTable(rows, width: width).print(session)
                } else {
                    table(rows, session.output)
                }
            }
            if Output.isTerminal, let welcome = session.welcome { session.output.note(welcome) }
        }
        return open.outage == nil ? .done : .someFailed
    }

    /// The listed films: without another order, the best. A library reads no more than these.
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
            throw UsageError("--sort needs one of \(names), not \"\(text)\"")
        }
        return order
    }

    private static func rows(
        for movies: [Movie], _ open: OpenCatalogue, _ session: Session
    ) -> [FilmRecord] {
        movies.map { row(for: $0, open: open, session) }
    }

    private static func row(for movie: Movie, open: OpenCatalogue, _ session: Session) -> FilmRecord {
        // Losing the error is right: a poster with an invalid address is not cached, and `show` says why.
        let request = movie.poster.flatMap { try? session.request(for: $0, relativeTo: open.base) }
        return FilmRecord(
            movie: movie, poster: request?.url.displayText,
            isCached: request.map { session.hasCached($0) } ?? false)
    }

    private static func plain(_ row: FilmRecord) -> [String] {
        let movie = row.movie
        return [
            movie.id, movie.title, movie.year.map(String.init) ?? "", movie.director ?? "",
            movie.rankingScore?.formatted(decimals: 1) ?? "", row.isCached == true ? "cached" : "-",
        ]
    }

    /// One line for each film, uncut, for a program or a file.
    private static func table(_ rows: [FilmRecord], _ output: Output) {
        let titleWidth = FilmTable.titleWidth(rows)
        for row in rows {
            let movie = row.movie
            let title = TerminalText.visible(movie.title)
            // Prints the whole title, even if that moves the columns.
            let isLong = TerminalText.width(title) > titleWidth
            let columns = [
                row.isCached == true ? "●" : "○",
                TerminalText.padded(
                    movie.rankingScore?.formatted(decimals: 1) ?? "", toWidth: 4, alignment: .trailing),
                TerminalText.padded(movie.year.map(String.init) ?? "", toWidth: 4, alignment: .trailing),
                isLong ? title : TerminalText.padded(title, toWidth: titleWidth),
                TerminalText.visible(movie.director ?? ""),
            ]
            output.line(columns.joined(separator: "  "))
        }
    }
}
