import LazyImages
import MovieCatalogue
import TerminalGraphics

/// `marquee show FILM`: all about one film. Its poster is fetched on demand.
enum ShowCommand: Command {
    static let specification = CommandSpecification(
        name: "show", operands: "FILM", operandCount: 1...1,
        summary: "all about one film; fetches its poster on demand",
        examples: [
            ("marquee show metropolis", "by id"),
            ("marquee show 'trip to the moon'", "by a part of the title"),
        ])

    static func run(_ session: Session) async throws -> ExitStatus {
        let open = try await session.catalogue()
        let movie = try session.film(session.arguments.operands[0], in: open.catalogue)
        let (poster, file) = try await fetchPoster(of: movie, open, session)
        if Task.isCancelled { return .nothingDone }
        if session.settings.wantsJSON {
            session.output.json(FilmRecord(movie: movie, poster: poster))
        } else {
            facts(movie, session.output)
            if let file, let inline = InlinePoster(session.settings) {
                let room = CellSize(columns: min(Terminal.width ?? 80, 60), rows: 30)
                if let grid = inline.draw(file, within: room, failure: session.output.failure) {
                    inline.print(grid, to: session.output)
                    session.output.line("")
                }
            }
            if let poster { fact("poster", poster.summary, session.output) }
        }
        guard let error = poster?.error else { return .done }
        session.output.failure(error.message)
        return .someFailed
    }

    private static func fetchPoster(
        of movie: Movie, _ open: OpenCatalogue, _ session: Session
    ) async throws -> (FetchRecord?, LoadedFile?) {
        guard let address = movie.poster else {
            session.output.note("\(movie.title) has no poster in the catalogue; add the address of one there")
            return (nil, nil)
        }
        let opened = session.makeLoader()
        let fetched = await FetchRecord.fetching(address, at: open.place, with: opened.loader, session)
        await opened.close()
        session.reportFaults()
        return fetched
    }

    private static func facts(_ movie: Movie, _ output: Output) {
        let titles = movie.originalTitle.map { "\(movie.title)  (\($0))" } ?? movie.title
        output.line(titles)
        output.line("")
        fact("year", "\(movie.year)", output)
        fact("director", movie.director, output)
        fact("country", movie.country, output)
        fact("length", movie.minutes.map { "\($0) minutes" }, output)
        fact("genres", movie.genres.isEmpty ? nil : movie.genres.joined(separator: ", "), output)
        fact("score", movie.score.map { "\($0.formatted(decimals: 1)) of 10" }, output)
        fact("id", movie.id, output)
        guard let overview = movie.overview else { return }
        output.line("")
        for line in TerminalText.wrapped(
            TerminalText.visible(overview), toWidth: min(80, Terminal.width ?? 80))
        {
            output.line(line)
        }
        output.line("")
    }

    private static func fact(_ name: String, _ value: String?, _ output: Output) {
        guard let value else { return }
        output.line(TerminalText.padded(name, toWidth: 12, alignment: .leading) + value)
    }
}
