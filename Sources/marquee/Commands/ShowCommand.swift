import LazyImages
import MovieCatalogue
import TerminalGraphics

/// `marquee show FILM`: one film with its poster. For an address or a file: the picture.
enum ShowCommand: Command {
    static let specification = CommandSpecification(
        name: "show", operands: "FILM|URL|FILE", operandCount: 1...1,
        summary: "show one film with its poster, which is fetched on demand",
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
        if session.settings.wantsJSON {
            let (poster, _) = await loadPoster(of: movie, base, nil, session)
            // A film's poster is shown by its address, wherever a film is printed.
            let address = poster?.url ?? movie.poster
            session.output.json(FilmRecord(movie: movie, poster: address, fetch: poster))
            return end(poster, session, failing: .someFailed)
        }
        let sheet = Output.isTerminal ? FilmSheet(terminal: terminal) : nil
        let drawing = await drawing(in: sheet?.room ?? pipeRoom, session)
        let (poster, picture) = await loadPoster(of: movie, base, drawing, session)
        if Task.isCancelled { return .nothingDone }
        if let sheet {
            let shown = drawn(picture, session)
            let pieces = sheet.pieces(
                of: movie, poster.flatMap { summary(of: $0, session) }, shown,
                depth: drawing?.inline.depth ?? session.settings.colourDepth)
            for piece in pieces { session.output.picture(piece) }
        } else {
            facts(movie, session.output)
            print(picture, session)
            if let poster { fact("poster", poster.summary, session.output) }
        }
        return end(poster, session, failing: .someFailed)
    }

    /// Shows a picture that is not a film's poster.
    private static func show(_ target: FetchTarget, _ session: Session) async -> ExitStatus {
        // Leaves room below the picture: a free line, two lines of text, and the prompt.
        let room =
            Output.isTerminal
            ? CellSize(columns: terminal.columns - 1, rows: max(1, terminal.rows - 5)) : pipeRoom
        let drawing = session.settings.wantsJSON ? nil : await drawing(in: room, session)
        let (record, picture) = await load(target, drawing, session)
        if session.settings.wantsJSON {
            session.output.json(record)
        } else if record.error == nil {
            print(picture, session)
            fact("file", record.url, session.output)
            let isShort = Output.isTerminal && !session.output.isVerbose
            fact("picture", isShort ? record.shortSummary : record.summary, session.output)
        }
        return end(record, session, failing: .nothingDone)
    }

    /// The text about a poster's file on a terminal, for --verbose.
    private static func summary(of poster: FetchRecord, _ session: Session) -> String? {
        if session.output.isVerbose { return poster.summary }
        return session.settings.wantsChecksum ? poster.shortSummary : nil
    }

    /// The largest picture without a terminal, in cells.
    private static let pipeRoom = CellSize(columns: 60, rows: 30)

    private static var terminal: CellSize { Terminal.size?.cells ?? CellSize(columns: 80, rows: 24) }

    /// How a picture is drawn, and its room.
    private struct Drawing {
        let inline: InlinePoster
        let room: CellSize
    }

    /// Nil if no pictures are wanted.
    private static func drawing(in room: CellSize, _ session: Session) async -> Drawing? {
        await InlinePoster.make(session.settings).map { Drawing(inline: $0, room: $0.room(room)) }
    }

    private static func end(_ record: FetchRecord?, _ session: Session, failing: ExitStatus) -> ExitStatus {
        guard let record, let error = record.error else { return .done }
        if !record.isCancelled { session.output.failure(error.message) }
        return failing
    }

    private static func loadPoster(
        of movie: Movie, _ base: BaseURL, _ drawing: Drawing?, _ session: Session
    ) async -> (FetchRecord?, Result<InlinePicture, ImageLoadingError>?) {
        guard let address = movie.poster else {
            session.output.note("\(movie.title) has no poster in the catalogue; add its address there")
            return (nil, nil)
        }
        return await load(FetchTarget(address: address, base: base, name: movie.id), drawing, session)
    }

    /// Loads the file of a target, and its picture if it will be printed.
    private static func load(
        _ target: FetchTarget, _ drawing: Drawing?, _ session: Session
    ) async -> (FetchRecord, Result<InlinePicture, ImageLoadingError>?) {
        let opened = session.makeLoader(keepsFiles: false)
        let activity = opened.loader.downloader.activity
        let work = session.output.progress.begin { JobProgress(bytes: activity.traffic) }
        let (record, picture) = await load(target, drawing, opened, session)
        session.output.progress.end(work)
        await opened.close()
        session.reportFaults()
        return (record, picture)
    }

    private static func load(
        _ target: FetchTarget, _ drawing: Drawing?, _ opened: OpenLoader, _ session: Session
    ) async -> (FetchRecord, Result<InlinePicture, ImageLoadingError>?) {
        var request: ImageRequest
        do throws(ImageLoadingError) {
            request = try session.request(for: target.address, relativeTo: target.base)
        } catch {
            return (FetchRecord(error, of: target.address), nil)
        }
        guard let drawing else {
            return (await FetchRecord.fetching(request, with: opened.loader, session).record, nil)
        }
        var inline = drawing.inline
        request.targetSize = inline.pictureSize(in: drawing.room)
        let loader = session.imageLoader(over: opened)
        let (record, image) = await FetchRecord.fetching(request, with: loader, session)
        return (record, record.error == nil ? image.map { inline.draw($0, within: drawing.room) } : nil)
    }

    /// The drawn picture, if there is one; an error if its file cannot be decoded.
    private static func drawn(
        _ picture: Result<InlinePicture, ImageLoadingError>?, _ session: Session
    ) -> InlinePicture? {
        switch picture {
        case .success(let picture): return picture
        case .failure(let error): session.output.failure(error.advised)
        case nil: break
        }
        return nil
    }

    private static func print(_ picture: Result<InlinePicture, ImageLoadingError>?, _ session: Session) {
        guard let picture = drawn(picture, session) else { return }
        session.output.picture(picture)
        session.output.line("")
    }

    private static func facts(_ movie: Movie, _ output: Output) {
        let titles = movie.originalTitle.map { "\(movie.title)  (\($0))" } ?? movie.title
        output.line(titles)
        output.line("")
        for (label, value) in FilmFacts.all(of: movie) { fact(label, value, output) }
        guard let overview = movie.overview else { return }
        output.line("")
        for line in TerminalText.wrapped(
            TerminalText.visible(overview), toWidth: 80)
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
