import LazyImages
import MovieCatalogue
import TerminalGraphics

/// `marquee show FILM`: all about one film. Its poster is fetched on demand. Of an address or a file, the picture.
enum ShowCommand: Command {
    static let specification = CommandSpecification(
        name: "show", operands: "FILM|URL|FILE", operandCount: 1...1,
        summary: "all about one film; fetches its poster on demand",
        examples: [
            ("marquee show metropolis", "by id"),
            ("marquee show 'trip to the moon'", "by a part of the title"),
            ("marquee show ./poster.jpg", "a picture in a file, or at an address"),
        ])

    static func run(_ session: Session) async throws -> ExitStatus {
        let word = session.arguments.operands[0]
        if let target = FetchTarget(word) { return await show(target, session) }
        let open = try await session.catalogue()
        let movie: Movie
        do throws(Failure) {
            movie = try session.film(word, in: open.catalogue)
        } catch {
            throw error.naming(file: word)
        }
        let (poster, file) = await fetchPoster(of: movie, open, session)
        if session.settings.wantsJSON {
            // A film's poster is its address, wherever a film is printed.
            let address = poster?.url ?? movie.poster
            session.output.json(FilmRecord(movie: movie, poster: address, fetch: poster))
        } else {
            if Task.isCancelled { return .nothingDone }
            facts(movie, session.output)
            picture(file, session)
            if let poster { fact("poster", poster.summary, session.output) }
        }
        return end(poster, session, failing: .someFailed)
    }

    /// Shows a picture that is no film's.
    private static func show(_ target: FetchTarget, _ session: Session) async -> ExitStatus {
        let (record, file) = await fetch(target, session)
        if session.settings.wantsJSON {
            session.output.json(record)
        } else if let file {
            picture(file, session)
            fact("file", record.url, session.output)
            fact("picture", record.summary, session.output)
        }
        return end(record, session, failing: .nothingDone)
    }

    private static func end(_ record: FetchRecord?, _ session: Session, failing: ExitStatus) -> ExitStatus {
        guard let record, let error = record.error else { return .done }
        if !record.isCancelled { session.output.failure(error.message) }
        return failing
    }

    private static func picture(_ file: LoadedFile?, _ session: Session) {
        guard let file, let inline = InlinePoster(session.settings) else { return }
        let room = CellSize(columns: min(Terminal.width ?? 80, 60), rows: 30)
        guard let grid = inline.draw(file, within: room, failure: session.output.failure) else { return }
        inline.print(grid, to: session.output)
        session.output.line("")
    }

    private static func fetchPoster(
        of movie: Movie, _ open: OpenCatalogue, _ session: Session
    ) async -> (FetchRecord?, LoadedFile?) {
        guard let address = movie.poster else {
            session.output.note("\(movie.title) has no poster in the catalogue; add the address of one there")
            return (nil, nil)
        }
        return await fetch(FetchTarget(address: address, base: open.base, name: movie.id), session)
    }

    private static func fetch(
        _ target: FetchTarget, _ session: Session
    ) async -> (FetchRecord, LoadedFile?) {
        let opened = session.makeLoader()
        let activity = opened.loader.downloader.activity
        let work = session.output.progress.begin { JobProgress(bytes: activity.traffic) }
        let (record, file) = await FetchRecord.fetching(
            target.address, relativeTo: target.base, with: opened.loader, session)
        session.output.progress.end(work)
        await opened.close()
        session.reportFaults()
        return (record, file)
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
