import FilmBrowser
import FilmSources
import Films
import ImageCodecs
import LazyImages
import Synchronization
import TerminalGraphics

/// `marquee list --posters`: each film beside its poster. The posters load on demand and are printed in order.
enum PosterList {
    private static let largest = CellSize(columns: 16, rows: 12)

    static func print(
        _ movies: [Movie], _ open: OpenCatalogue, _ inline: InlinePoster, _ session: Session
    ) async -> ExitStatus {
        var inline = inline
        let room = inline.room(largest)
        let size = inline.pictureSize(in: room)
        let opened = session.makeLoader(keepsFiles: false)
        let loader = session.imageLoader(over: opened)
        var failures = FailureReport(session.output)
        var ahead = PicturesAhead(count: movies.count) { index in
            movies[index].poster.map {
                PicturesAhead.load($0, relativeTo: open.base, size, loader, session)
            }
        }
        let printed = Atomic(0)
        let work = session.output.progress.begin {
            JobProgress(done: printed.load(ordering: .relaxed), total: movies.count, bytes: opened.traffic)
        }
        for index in movies.indices {
            let image = await ahead.picture(index)
            if Task.isCancelled { break }
            var picture: InlinePicture?
            switch image {
            case .success(let image):
                picture = inline.draw(image, within: room)
                if let damage = image.damage { failures.add("\(image.url.displayText): \(damage)") }
            case .failure(let error): failures.add(error.advised)
            case nil: break
            }
            session.output.picture(item(movies[index], picture, room, inline.depth))
            session.output.flush()
            printed.add(1, ordering: .relaxed)
        }
        session.output.progress.end(work)
        await opened.close()
        session.reportFaults()
        return failures.isEmpty ? .done : .someFailed
    }

    private static func item(
        _ movie: Movie, _ picture: InlinePicture?, _ poster: CellSize, _ depth: ColourDepth
    ) -> InlinePicture {
        let width = Terminal.columns ?? 80
        var grid = CellGrid(size: CellSize(columns: width, rows: poster.rows + 1))
        if let picture { grid.place(picture.cells, at: CellPosition(column: 0, row: 0)) }
        let column = poster.columns + 2
        let room = width - column - 1
        func put(_ text: String, _ row: Int, _ style: CellStyle = CellStyle()) {
            grid.put(
                TerminalText.truncated(text, toWidth: room), at: CellPosition(column: column, row: row),
                style: style)
        }
        if room > 0 {
            put(TerminalText.visible(movie.title), 0, .bold)
            put(MovieText.facts(movie), 1)
            let lines = MovieText.overview(movie, width: min(room, 76), lines: poster.rows - 3)
            for (index, line) in lines.enumerated() { put(line, 3 + index) }
        }
        return InlinePicture(cells: grid, drawing: picture?.drawing ?? [], depth: depth)
    }
}

/// Pictures that are printed in order. Some load ahead of the printed one.
struct PicturesAhead {
    /// A picture; why there is none; or nil if it has no address.
    typealias Load = Task<Result<LoadedImage, ImageLoadingError>, Never>

    /// The number of pictures loaded ahead.
    private static let lookAhead = 12

    private let count: Int
    private let begin: (Int) -> Load?
    private var loads: [Load?] = []

    /// - Parameters:
    ///   - count: the number of pictures.
    ///   - begin: begins to load the picture with this number, from 0.
    init(count: Int, begin: @escaping (Int) -> Load?) {
        self.count = count
        self.begin = begin
    }

    /// Waits for the picture with this number. Ask for one after the other. If the task is cancelled, all loads are.
    mutating func picture(_ index: Int) async -> Result<LoadedImage, ImageLoadingError>? {
        while loads.count < min(count, index + Self.lookAhead) { loads.append(begin(loads.count)) }
        let picture = await withTaskCancellationHandler {
            await loads[index]?.value
        } onCancel: { [loads] in
            for load in loads { load?.cancel() }
        }
        loads[index] = nil
        return picture
    }

    /// A load of a picture at a size in pixels.
    static func load(
        _ address: String, relativeTo base: BaseURL, _ size: ImageSize, _ loader: ImageLoader,
        _ session: Session
    ) -> Load {
        Task {
            do throws(ImageLoadingError) {
                var request = try session.posterRequest(for: address, relativeTo: base, decodedAt: size)
                request.targetSize = size
                return await FetchRecord.fetching(request, with: loader, session).image
            } catch {
                return .failure(error)
            }
        }
    }
}
