import LazyImages
import MovieCatalogue
import TerminalGraphics

/// `marquee list --posters`: each film beside its poster, fetched on demand and printed in order.
enum PosterList {
    private static let poster = CellSize(columns: 16, rows: 12)
    /// Posters fetched ahead of the one that is printed.
    private static let lookAhead = 12

    static func print(
        _ movies: [Movie], _ open: OpenCatalogue, _ inline: InlinePoster, _ session: Session
    ) async throws -> ExitStatus {
        let opened = session.makeLoader()
        var failures = FailureReport(session.output)
        var fetches: [Task<(record: FetchRecord, image: LoadedFile?), Never>?] = []
        for index in movies.indices {
            while fetches.count < min(movies.count, index + lookAhead) {
                fetches.append(fetch(movies[fetches.count], open, opened.loader, session))
            }
            let fetched = await withTaskCancellationHandler {
                await fetches[index]?.value
            } onCancel: { [fetches] in
                for fetch in fetches { fetch?.cancel() }
            }
            if Task.isCancelled { break }
            if let error = fetched?.record.error { failures.add(error.message) }
            let picture = fetched?.image.flatMap { inline.draw($0, within: poster) { failures.add($0) } }
            inline.print(item(movies[index], picture), to: session.output)
            session.output.flush()
            fetches[index] = nil
        }
        await opened.close()
        session.reportFaults()
        return failures.isEmpty ? .done : .someFailed
    }

    private static func fetch(
        _ movie: Movie, _ open: OpenCatalogue, _ loader: FileLoader, _ session: Session
    ) -> Task<(record: FetchRecord, image: LoadedFile?), Never>? {
        guard let address = movie.poster else { return nil }
        return Task { await FetchRecord.fetching(address, relativeTo: open.base, with: loader, session) }
    }

    private static func item(_ movie: Movie, _ picture: CellGrid?) -> CellGrid {
        let width = Terminal.width ?? 80
        var grid = CellGrid(size: CellSize(columns: width, rows: poster.rows + 1))
        if let picture { grid.place(picture, at: CellPosition(column: 0, row: 0)) }
        let column = poster.columns + 2
        let room = width - column - 1
        guard room > 0 else { return grid }
        func put(_ text: String, _ row: Int, _ style: CellStyle = CellStyle()) {
            grid.put(
                TerminalText.truncated(text, toWidth: room), at: CellPosition(column: column, row: row),
                style: style)
        }
        put(TerminalText.visible(movie.title), 0, BrowserScreen.bold)
        put(MovieText.facts(movie), 1)
        let lines = MovieText.overview(movie, width: min(room, 76), lines: poster.rows - 3)
        for (index, line) in lines.enumerated() { put(line, 3 + index) }
        return grid
    }
}
