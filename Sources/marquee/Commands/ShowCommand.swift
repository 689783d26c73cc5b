import LazyImages
import MovieCatalogue
import TerminalGraphics

/// `marquee show FILM`: all about one film, with its poster; of an address or a file, the picture.
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
        let (movie, base): (Movie, BaseURL)
        do {
            (movie, base) = try await session.find(word)
        } catch let error as Failure {
            throw error.naming(file: word)
        }
        let (poster, picture) = await loadPoster(of: movie, base, session)
        if session.settings.wantsJSON {
            // A film's poster is its address, wherever a film is printed.
            let address = poster?.url ?? movie.poster
            session.output.json(FilmRecord(movie: movie, poster: address, fetch: poster))
        } else {
            if Task.isCancelled { return .nothingDone }
            facts(movie, session.output)
            if poster?.error == nil { print(picture, session) }
            if let poster { fact("poster", poster.summary, session.output) }
        }
        return end(poster, session, failing: .someFailed)
    }

    /// Shows a picture that is no film's.
    private static func show(_ target: FetchTarget, _ session: Session) async -> ExitStatus {
        let (record, picture) = await load(target, session)
        if session.settings.wantsJSON {
            session.output.json(record)
        } else if record.error == nil {
            print(picture, session)
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

    private static func loadPoster(
        of movie: Movie, _ base: BaseURL, _ session: Session
    ) async -> (FetchRecord?, Result<InlinePicture, ImageLoadingError>?) {
        guard let address = movie.poster else {
            session.output.note("\(movie.title) has no poster in the catalogue; add the address of one there")
            return (nil, nil)
        }
        return await load(FetchTarget(address: address, base: base, name: movie.id), session)
    }

    /// Loads the file that a target names, and its picture if one is to be printed.
    private static func load(
        _ target: FetchTarget, _ session: Session
    ) async -> (FetchRecord, Result<InlinePicture, ImageLoadingError>?) {
        let opened = session.makeLoader(keepsFiles: false)
        let activity = opened.loader.downloader.activity
        let work = session.output.progress.begin { JobProgress(bytes: activity.traffic) }
        let (record, picture) = await load(target, opened, session)
        session.output.progress.end(work)
        await opened.close()
        session.reportFaults()
        return (record, picture)
    }

    private static func load(
        _ target: FetchTarget, _ opened: OpenLoader, _ session: Session
    ) async -> (FetchRecord, Result<InlinePicture, ImageLoadingError>?) {
        var request: ImageRequest
        do throws(ImageLoadingError) {
            request = try session.request(for: target.address, relativeTo: target.base)
        } catch {
            return (FetchRecord(error, of: target.address), nil)
        }
        guard !session.settings.wantsJSON, var inline = await InlinePoster.make(session.settings) else {
            return (await FetchRecord.fetching(request, with: opened.loader, session).record, nil)
        }
        let room = inline.room(CellSize(columns: min(Terminal.width ?? 80, 60), rows: 30))
        request.targetSize = inline.pictureSize(in: room)
        let loader = session.imageLoader(over: opened)
        let (record, image) = await FetchRecord.fetching(request, with: loader, session)
        return (record, image.map { inline.draw($0, within: room) })
    }

    /// Prints a picture, or why its file cannot be decoded; nothing for nil.
    private static func print(_ picture: Result<InlinePicture, ImageLoadingError>?, _ session: Session) {
        switch picture {
        case .success(let picture):
            session.output.picture(picture)
            session.output.line("")
        case .failure(let error): session.output.failure(error.advised)
        case nil: break
        }
    }

    private static func facts(_ movie: Movie, _ output: Output) {
        let titles = movie.originalTitle.map { "\(movie.title)  (\($0))" } ?? movie.title
        output.line(titles)
        output.line("")
        fact("year", movie.year.map(String.init), output)
        fact("director", movie.director, output)
        fact("country", movie.country, output)
        fact("length", movie.minutes.map { "\($0) minutes" }, output)
        fact("genres", movie.genres.isEmpty ? nil : movie.genres.joined(separator: ", "), output)
        fact("rating", MovieText.votes(movie), output)
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
