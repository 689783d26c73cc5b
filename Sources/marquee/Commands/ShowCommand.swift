import FilmSources
import Films
import LazyImages
import TerminalGraphics

/// `marquee show FILM`: films with their posters. For an address or a file: the picture. For a folder: a sheet of its
/// pictures.
enum ShowCommand: Command {
    static let specification = CommandSpecification(
        name: "show", operands: "FILM|URL|FILE|FOLDER...", operandCount: 1...Int.max,
        summary: "show films with their posters, or pictures in files and folders",
        examples: [
            ("marquee show metropolis", "by id"),
            ("marquee show 'trip to the moon'", "by a part of the title"),
            ("marquee show poster.jpg", "a picture in a file, or at an address"),
            ("marquee show posters/", "a sheet of the pictures in a folder"),
            ("curl -s URL | marquee show -", "a picture from another program"),
            ("fzf --preview 'marquee show {}'", "pictures beside a list of files"),
        ],
        options: [.size],
        notes: [
            "A word is a film's id or title. It is a file if it has a slash, or if no film is called so and there is "
                + "such a file."
        ])

    static func run(_ session: Session) async throws -> ExitStatus {
        let words = session.arguments.operands
        guard words.count > 1 else { return try await show(words[0], session) }
        var statuses: [ExitStatus] = []
        for word in words where !Task.isCancelled {
            do {
                statuses.append(try await show(word, session))
            } catch let error as UsageError {
                throw error
            } catch {
                if Task.isCancelled { break }
                session.output.failure(error)
                statuses.append(.nothingDone)
            }
            session.output.flush()
        }
        if statuses.allSatisfy({ $0 == .done }) { return .done }
        return statuses.allSatisfy { $0 == .nothingDone } ? .nothingDone : .someFailed
    }

    private static func show(_ word: String, _ session: Session) async throws -> ExitStatus {
        if word == "-" { return await show(try await FetchTarget.standardInput(session), session) }
        if let target = FetchTarget(word) { return try await show(file: target, named: word, session) }
        guard let found = try await session.findUnlessFile(word) else {
            return try await show(file: FetchTarget(file: word), named: word, session)
        }
        let status = try await show(found.movie, found.base, session)
        return found.isCached && status == .done ? .someFailed : status
    }

    private static func show(
        _ movie: Movie, _ base: BaseURL, _ session: Session
    ) async throws -> ExitStatus {
        if session.settings.wantsJSON {
            let (poster, _) = await loadPoster(of: movie, base, nil, session)
            // A film's poster is shown by its address, wherever a film is printed.
            let address = poster?.url ?? movie.poster
            session.output.json(FilmRecord(movie: movie, base: base, poster: address, fetch: poster))
            return end(poster, nil, session, failing: .someFailed)
        }
        let sheet =
            Output.isTerminal ? FilmSheet(terminal: terminal, picture: session.settings.pictureSize) : nil
        let drawing = await drawing(in: sheet?.room ?? roomAboveFacts(session), session)
        let (poster, picture) = await loadPoster(of: movie, base, drawing, session)
        if Task.isCancelled { return .nothingDone }
        if let sheet {
            let pieces = sheet.pieces(
                of: movie, poster.flatMap { summary(of: $0, session) }, picture?.success,
                depth: drawing?.inline.depth ?? session.settings.colourDepth)
            for piece in pieces { session.output.picture(piece) }
        } else {
            // In a preview the picture comes first: the text may be longer than the window.
            let isPreview = session.settings.pictureSize != nil
            if isPreview { print(picture, session) }
            facts(movie, session.output)
            if !isPreview { print(picture, session) }
            if let poster { fact("poster", poster.summary, session.output) }
        }
        return end(poster, picture, session, failing: .someFailed)
    }

    /// Shows a file, or the pictures of a folder.
    private static func show(
        file target: FetchTarget, named word: String, _ session: Session
    ) async throws -> ExitStatus {
        guard let path = target.filePath else { return await show(target, session) }
        if FileKind(path) == .folder {
            let room = session.settings.pictureSize
            return try await ContactSheet.print(PictureFolder(path), room: room, session)
        }
        return await show(try await target.readingPipe(session), session)
    }

    /// Shows a picture that is not a film's poster.
    private static func show(_ target: FetchTarget, _ session: Session) async -> ExitStatus {
        // Leaves room below the picture: a free line, two lines of text, and the prompt.
        let room =
            session.settings.pictureSize
            ?? (Output.isTerminal
                ? CellSize(columns: terminal.columns - 1, rows: max(1, terminal.rows - 5))
                : Settings.pipeRoom)
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
        return end(record, picture, session, failing: .nothingDone)
    }

    /// The text about a poster's file on a terminal, for --verbose.
    private static func summary(of poster: FetchRecord, _ session: Session) -> String? {
        if session.output.isVerbose { return poster.summary }
        return session.settings.wantsChecksum ? poster.shortSummary : nil
    }

    /// The largest poster without a terminal, in cells. Of a known window it leaves two fifths to the facts.
    private static func roomAboveFacts(_ session: Session) -> CellSize {
        let room = session.settings.pictureSize ?? Settings.pipeRoom
        guard !session.arguments.has(Option.size.name), let lines = Terminal.lines else { return room }
        return CellSize(columns: room.columns, rows: max(1, min(room.rows, lines * 3 / 5)))
    }

    private static var terminal: CellSize {
        CellSize(columns: Terminal.columns ?? 80, rows: Terminal.lines ?? 24)
    }

    /// How a picture is drawn, and its room.
    private typealias Drawing = (inline: InlinePoster, room: CellSize)

    /// Nil if no pictures are wanted.
    private static func drawing(in room: CellSize, _ session: Session) async -> Drawing? {
        await InlinePoster.make(session.settings).map { ($0, $0.room(room)) }
    }

    /// Reports why there is no picture, and returns the status. A picture that was not drawn need not be decodable.
    private static func end(
        _ record: FetchRecord?, _ picture: Result<InlinePicture, Failure>?, _ session: Session,
        failing: ExitStatus
    ) -> ExitStatus {
        if let record, let error = record.error {
            if !record.isCancelled { session.output.failure(error.message) }
            return failing
        }
        if let warning = record?.warning {
            session.output.failure(warning)
            return .someFailed
        }
        guard case .failure(let error) = picture else { return .done }
        session.output.failure(error.description)
        return failing
    }

    private static func loadPoster(
        of movie: Movie, _ base: BaseURL, _ drawing: Drawing?, _ session: Session
    ) async -> (FetchRecord?, Result<InlinePicture, Failure>?) {
        guard let address = movie.poster else {
            session.output.notice("\(movie.title) has no poster in the catalogue; add its address there")
            return (nil, nil)
        }
        return await load(FetchTarget(address: address, base: base, name: movie.id), drawing, session)
    }

    /// Loads the file of a target, and its picture if it will be printed.
    private static func load(
        _ target: FetchTarget, _ drawing: Drawing?, _ session: Session
    ) async -> (FetchRecord, Result<InlinePicture, Failure>?) {
        let opened = session.makeLoader(keepsFiles: false)
        let work = session.output.progress.begin { JobProgress(bytes: opened.traffic) }
        let size = drawing.map { $0.inline.pictureSize(in: $0.room) }
        let record: FetchRecord
        var picture: Result<InlinePicture, ImageLoadingError>?
        do throws(ImageLoadingError) {
            var request = try session.posterRequest(
                for: target.address, relativeTo: target.base, decodedAt: size)
            request.targetSize = size
            if let drawing {
                var inline = drawing.inline
                let loader = session.imageLoader(over: opened)
                let (loaded, image) = await FetchRecord.fetching(request, with: loader, session)
                record = loaded
                if record.error == nil { picture = image.map { inline.draw($0, within: drawing.room) } }
            } else {
                record = await FetchRecord.fetching(request, with: opened.loader, session).record
            }
        } catch {
            record = FetchRecord(error, of: target.address)
        }
        session.output.progress.end(work)
        await opened.close()
        session.reportFaults()
        return (
            record.naming(target), picture?.mapError { Failure(target.naming($0.advised), code: $0.code) }
        )
    }

    private static func print(_ picture: Result<InlinePicture, Failure>?, _ session: Session) {
        guard let picture = picture?.success else { return }
        session.output.picture(picture)
        session.output.line("")
    }

    private static func facts(_ movie: Movie, _ output: Output) {
        output.line(movie.title + (movie.originalTitle.map { "  (\($0))" } ?? ""))
        output.line("")
        for (label, value) in FilmFacts.all(of: movie) { fact(label, value, output) }
        guard let overview = movie.overview else { return }
        output.line("")
        let width = min(Terminal.columns ?? 80, 80)
        let lines = TerminalText.wrapped(TerminalText.visible(overview), toWidth: width)
        for line in lines { output.line(line) }
        output.line("")
    }

    private static func fact(_ name: String, _ value: String?, _ output: Output) {
        guard let value else { return }
        output.line(TerminalText.padded(name, toWidth: 12, alignment: .leading) + value)
    }
}

extension Result {
    /// The value; nil for a failure.
    fileprivate var success: Success? { if case .success(let value) = self { value } else { nil } }
}
