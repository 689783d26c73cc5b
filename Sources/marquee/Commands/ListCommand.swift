import FilmBrowser
import FilmSources
import Films
import LazyImages
import TerminalGraphics

/// `marquee list`: the films, and whether each poster is cached. Needs the network only for a catalogue on it.
enum ListCommand: Command {
    static let specification = CommandSpecification(
        name: "list", summary: "list the films, and whether each poster is cached",
        examples: [
            ("marquee list --top 10", "the ten best"),
            ("marquee list --top 10 --sort year", "the ten oldest"),
            ("marquee list --sort year", "ordered by year"),
            ("marquee list --director murnau --year 1920..1929", "one director's films of ten years"),
            ("marquee list --search 'metropolis' --limit 5", "the first five that match"),
            ("marquee list --search is:to-watch", "what you have marked in the browser"),
            ("marquee list --json | jq -r '.[].title'", "for programs"),
        ],
        options: [
            Option(name: "top", value: "N", help: "only the N best, or the first N in the order of --sort"),
            Option(
                name: "sort", value: "ORDER",
                help: "score, year or title (default: the catalogue's own order; with --top, score)",
                choices: Catalogue.Sort.allCases.map(\.rawValue)),
            Option(
                name: "search", value: "TEXT",
                help: "only films with these words, as the key / in the browser finds them; "
                    + "title:, director:, genre: and year: name a field; is:seen, is:to-watch, ... find your marks",
                isText: true),
            Option(
                name: "director", value: "NAME",
                help: "only films by this director; a part of the name will do",
                isText: true),
            Option(
                name: "genre", value: "NAME", help: "only films of this genre; a part of the name will do",
                isText: true),
            Option(name: "year", value: "YEARS", help: "only films of 1927, 1920..1929, 1920.. or ..1929"),
            Option(name: "limit", value: "N", help: "only the first N of the films that are left"),
            Option(name: "posters", help: "show the posters too, on a terminal or with --color always"),
            Option(name: "plain", help: "one film on each line, with tabs between columns"),
        ])

    static func run(_ session: Session) async throws -> ExitStatus {
        let arguments = session.arguments
        let top = try arguments.number("top", in: 1...Int.max)
        let limit = try arguments.number("limit", in: 1...Int.max)
        let order: Catalogue.Sort? = try arguments.choice("sort")
        let markWords = MarkWords(arguments.value("search") ?? "", isInBrowser: false)
        let words = try words(arguments, markWords)
        if arguments.has("plain"), session.settings.wantsJSON {
            throw UsageError("--plain and --json exclude each other")
        }
        let marks = try storedMarks(markWords, session)
        let (open, chosen) = try await chosen(
            words, (markWords, marks), top: top, order: order, session)
        let movies = Array(chosen.prefix(limit ?? .max))
        session.reportOutage(of: open)
        if movies.isEmpty { session.output.notice(lack(arguments)) }
        if session.settings.wantsJSON {
            session.output.jsonArray(count: movies.count) { index in
                var row = row(for: movies[index], open: open, session)
                row.marks = marks.marks(of: row.movie, in: open)
                return row
            }
        } else if arguments.has("plain") {
            session.paged {
                for movie in movies {
                    session.output.line(fields: plain(row(for: movie, open: open, session)))
                }
            }
        } else if arguments.has("posters"), let inline = await InlinePoster.make(session.settings) {
            let status = await PosterList.print(movies, open, inline, session)
            return open.outage == nil ? status : .someFailed
        } else {
            let rows = movies.map { row(for: $0, open: open, session) }
            session.paged {
                if Output.isTerminal, let width = Terminal.columns {
                    FilmTable(rows, width: width).print(session)
                } else {
                    table(rows, session.output)
                }
            }
            if let attribution = session.provider.abilities.attribution { session.output.notice(attribution) }
            if Output.isTerminal, let welcome = session.welcome { session.output.notice(welcome) }
        }
        return open.outage == nil ? .done : .someFailed
    }

    /// What the films must have.
    private static func words(_ arguments: Arguments, _ marks: MarkWords) throws(UsageError) -> FilterWords {
        if let problem = marks.problem { throw UsageError("--search: \(problem)") }
        var words = FilterWords(marks.rest)
        if let problem = words.problem { throw UsageError("--search: \(problem.member): \(problem.detail)") }
        for (name, field) in conditions {
            if let value = arguments.value(name) { words.require(value, in: field) }
        }
        if let problem = words.problem { throw UsageError("--\(problem.member) \(problem.detail)") }
        return words
    }

    /// The person's marks, if they are listed or wanted.
    private static func storedMarks(_ words: MarkWords, _ session: Session) throws(Failure) -> MarkBook {
        guard !words.isEmpty || session.settings.wantsJSON else { return MarkBook() }
        do throws(FilmLibraryError) {
            return try MarkBook(storedFor: session.provider)
        } catch {
            let failure = Failure("your marks cannot be read: \(error)")
            guard words.isEmpty else { throw failure }
            session.output.notice(failure.description)
            return MarkBook()
        }
    }

    /// The options that name a field.
    private static let conditions: [(option: String, field: FilmMember)] = [
        ("director", .director), ("genre", .genres), ("year", .year),
    ]

    /// `no film has the genre "horror" and the year "1950"; marquee list shows all films`
    private static func lack(_ arguments: Arguments) -> String {
        let wanted =
            [arguments.value("search").map { "\"\($0)\"" }]
            + conditions.map { name, _ in arguments.value(name).map { "the \(name) \"\($0)\"" } }
        if wanted.allSatisfy({ $0 == nil }) { return "the catalogue has no films" }
        return "no film has " + wanted.compactMap(\.self).joined(separator: " and ")
            + "; marquee list shows all films"
    }

    /// The listed films: those that match, and without another order the best. A library reads no more than `top`,
    /// unless it is searched.
    private static func chosen(
        _ words: FilterWords, _ marks: (words: MarkWords, book: MarkBook), top: Int?, order: Catalogue.Sort?,
        _ session: Session
    ) async throws -> (OpenCatalogue, [Movie]) {
        func ordered(_ catalogue: Catalogue) -> [Movie] {
            if let top { return Array(catalogue.sorted(by: order ?? .score).prefix(top)) }
            return order.map { catalogue.sorted(by: $0) } ?? catalogue.movies
        }
        guard words.isEmpty, marks.words.isEmpty else {
            let open = try await session.catalogue(orCached: true)
            let all = open.catalogue.movies.filter {
                marks.words.isEmpty
                    || marks.words.match(marks.book.marks(of: $0, in: open), isSelected: false)
            }
            let hits = FilmIndex(all).hits(words)
            if hits.areSimilar {
                session.output.notice("no film has exactly these words; these have similar titles")
            }
            // Without an order, similar titles stay in theirs: the nearest first.
            let numbers = hits.groups.flatMap(\.self)
            let found = (hits.areSimilar ? numbers : numbers.sorted()).map { all[$0] }
            return (open, ordered(Catalogue(name: open.catalogue.name, movies: found)))
        }
        var selection = FilmSelection()
        selection.first = top.map { ($0, order ?? .score) }
        let open = try await session.catalogue(selection, orCached: true)
        return (open, ordered(open.catalogue))
    }

    private static func row(for movie: Movie, open: OpenCatalogue, _ session: Session) -> FilmRecord {
        // Ignored: a poster with an invalid address is not cached, and `show` says why.
        let request = movie.poster.flatMap { try? session.request(for: $0, relativeTo: open.base) }
        return FilmRecord(
            movie: movie, base: open.base, poster: request?.url.displayText,
            isCached: request.map { session.hasCached($0) } ?? false)
    }

    private static func plain(_ row: FilmRecord) -> [String] {
        let movie = row.movie
        return [
            movie.id, movie.title, movie.year.map(String.init) ?? "", movie.director ?? "",
            movie.rankingScore?.formatted(decimals: 1) ?? "", row.isCached == true ? "cached" : "-",
        ]
    }

    /// One line for each film, for a program or a file. Only `COLUMNS` cuts it.
    private static func table(_ rows: [FilmRecord], _ output: Output) {
        let titleWidth = FilmTable.titleWidth(rows)
        let width = Terminal.columns ?? .max
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
                TerminalText.visible(movie.maker ?? ""),
            ]
            output.line(TerminalText.truncated(columns.joined(separator: "  "), toWidth: width))
        }
    }
}
