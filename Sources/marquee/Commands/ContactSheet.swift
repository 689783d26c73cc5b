import FilmSources
import LazyImages
import TerminalGraphics

/// `marquee show FOLDER`: small pictures side by side, each with its name below. A row is printed as soon as its
/// pictures are decoded.
enum ContactSheet {
    private static let usual = CellSize(columns: 18, rows: 9)
    private static let gap = 2

    /// - Parameter room: the size of one picture in cells. Default: 18 columns and 9 rows.
    static func print(_ folder: PictureFolder, room: CellSize?, _ session: Session) async throws -> ExitStatus
    {
        let pictures = try folder.pictures()
        guard !pictures.isEmpty else {
            throw Failure(
                "\(folder.path): there is no picture in this folder; name a picture or another folder")
        }
        guard !session.settings.wantsJSON, var inline = await InlinePoster.make(session.settings) else {
            return try await list(pictures, of: folder, session)
        }
        let width = Terminal.columns ?? 80
        let wanted = room ?? usual
        let cells = inline.room(CellSize(columns: min(wanted.columns, width), rows: wanted.rows))
        let columns = max(1, (width + gap) / (cells.columns + gap))
        let size = inline.pictureSize(in: cells)
        let opened = session.makeLoader(keepsFiles: false)
        let loader = session.imageLoader(over: opened)
        var failures = SheetFailures(state: "cannot be shown")
        var damaged = SheetFailures(state: "are damaged, and shown as far as they go")
        var ahead = PicturesAhead(count: pictures.count) {
            PicturesAhead.load(pictures[$0].address, relativeTo: folder.base, size, loader, session)
        }
        for start in stride(from: 0, to: pictures.count, by: columns) {
            let numbers = start..<min(pictures.count, start + columns)
            var row = InlinePicture(
                cells: CellGrid(size: CellSize(columns: width, rows: cells.rows + 2)), depth: inline.depth)
            for number in numbers {
                let loaded = await ahead.picture(number)
                if Task.isCancelled { break }
                let column = (number - start) * (cells.columns + gap)
                let name = TerminalText.visible(pictures[number].name)
                var style = CellStyle()
                switch loaded {
                case .success(let image):
                    row.place(inline.draw(image, within: cells), atColumn: column)
                    if let damage = image.damage { damaged.add("\(damage)", of: name) }
                case .failure(let error):
                    failures.add(error.advised, of: name)
                    put(error, on: &row.cells, at: column, cells)
                    style = .dim
                case nil: break
                }
                row.cells.put(
                    TerminalText.truncated(name, toWidth: cells.columns),
                    at: CellPosition(column: column, row: cells.rows), style: style)
            }
            if Task.isCancelled { break }
            session.output.picture(row)
            session.output.flush()
        }
        await opened.close()
        session.reportFaults()
        if !Task.isCancelled {
            for report in [failures, damaged] { report.print(of: pictures.count, session.output) }
        }
        if failures.count == pictures.count { return .nothingDone }
        return failures.count + damaged.count == 0 ? .done : .someFailed
    }

    /// Why there is no picture, in its place.
    private static func put(
        _ error: ImageLoadingError, on grid: inout CellGrid, at column: Int, _ room: CellSize
    ) {
        let lines = TerminalText.wrapped(SheetFailures.reason(error), toWidth: room.columns).prefix(room.rows)
        for (row, line) in lines.enumerated() {
            grid.put(line, at: CellPosition(column: column, row: row), style: .dim)
        }
    }

    /// One line for each picture, where none can be drawn.
    private static func list(
        _ pictures: [PictureFolder.Picture], of folder: PictureFolder, _ session: Session
    ) async throws -> ExitStatus {
        let report = BatchReport(session)
        let opened = session.makeLoader(keepsFiles: false)
        for picture in pictures where !Task.isCancelled {
            let target = FetchTarget(address: picture.address, base: folder.base, name: picture.name)
            report.add(await FetchCommand.job(target, nil, opened.loader, session)())
        }
        await opened.close()
        session.reportFaults()
        return try report.status(ifNothing: "there is no picture to load")
    }
}

/// The pictures of a sheet that cannot be shown, or not whole. They are counted, since a folder may have thousands.
private struct SheetFailures {
    /// What is wrong with all of them.
    let state: String
    private(set) var count = 0
    private var first: (name: String, reason: String)?

    init(state: String) { self.state = state }

    mutating func add(_ reason: String, of name: String) {
        count += 1
        if first == nil { first = (name, ImageLoadingError.withoutAddress(reason)) }
    }

    func print(of total: Int, _ output: Output) {
        guard let first else { return }
        if count == 1 { return output.failure("\(first.name): \(first.reason)") }
        output.failure(
            "\(count) of \(total) pictures \(state), among them \(first.name): \(first.reason); "
                + "marquee show FILE says why for each")
    }

    /// The reason without the address, short.
    static func reason(_ error: ImageLoadingError) -> String { ImageLoadingError.withoutAddress("\(error)") }
}
