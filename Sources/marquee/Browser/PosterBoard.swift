import ImageCodecs
import LazyImages
import TerminalGraphics

/// What the rows show: the list model's newest word about each, and the pictures drawn from it, each once for its size.
/// Rows that show nothing take no room.
struct PosterBoard {
    /// Of how many rows to each side of the last one drawn the cells are kept when there are too many: of posters in a
    /// list, and of large ones.
    private static let (reach, largeReach) = (64, 4)
    /// Pictures of more cells than this take so long to draw that a key would wait for them: they are drawn elsewhere.
    private static let largest = 600

    /// What was drawn, of which the cells are.
    struct Subject: Equatable {
        /// The image itself; nil for a preview of it, and after memory has let go of it.
        weak var image: LoadedImage?
        /// Which preview; 0 for the image itself.
        var preview = 0

        static func == (one: Subject, other: Subject) -> Bool {
            one.preview == other.preview && one.image === other.image
        }
    }

    /// A picture in cells.
    struct Drawing {
        let key: CacheKey
        let row: Int
        let subject: Subject
        let cells: CellGrid
        /// How often the way of drawing had changed before.
        let manner: Int
    }

    /// Draws a picture elsewhere and hands it to `take` some time.
    let drawElsewhere: (@escaping @Sendable () -> Drawing) -> Void
    /// Nil where no pictures are wanted.
    private var canvas: (any Canvas)?
    private var requests = ListRows([])
    private var states: [Int: RowState] = [:]
    private var drawn: [CacheKey: Drawing] = [:]
    private var isDrawingElsewhere = false
    private var manner = 0
    /// The list model's number of the present rows; news of earlier rows is none any more.
    private var list = 0

    init(canvas: (any Canvas)?, drawElsewhere: @escaping (@escaping @Sendable () -> Drawing) -> Void) {
        self.canvas = canvas
        self.drawElsewhere = drawElsewhere
    }

    /// Draws everything anew, another way.
    mutating func use(_ canvas: (any Canvas)?) {
        self.canvas = canvas
        manner += 1
        drawn = [:]
    }

    /// The rows are these from now on.
    mutating func begin(_ rows: ListRows) {
        requests = rows
        list += 1
        states = [:]
    }

    mutating func note(_ update: RowUpdate) {
        guard update.list == list else { return }
        if case .placeholder = update.state {
            states[update.row] = nil
        } else {
            states[update.row] = update.state
        }
    }

    /// A picture that was drawn elsewhere is there.
    mutating func take(_ drawing: Drawing) {
        isDrawingElsewhere = false
        if drawing.manner == manner { drawn[drawing.key] = drawing }
    }

    /// What a row's poster looks like in so many cells. What memory has is shown at once, before the model says so.
    /// - Parameter isMoving: whether the films move, which nothing large is drawn for.
    mutating func view(ofRow row: Int, size: CellSize, loader: ImageLoader, isMoving: Bool) -> PosterView {
        guard let request = requests[row] else { return .failed }
        let old = drawing(of: request.key, size)
        let image: (bitmap: Bitmap, subject: Subject)
        switch states[row] {
        case .failed: return .failed
        case .loaded(let loaded): image = (loaded.bitmap, Subject(image: loaded))
        case .loading(_, let preview?): image = (preview.bitmap, Subject(preview: preview.number))
        case .loading(let progress, nil):
            if let old { return .picture(old.cells) }
            return .loading(progress.expected.map { Double(progress.received) / Double(max(1, $0)) })
        case .placeholder, nil:
            if let old { return .picture(old.cells) }
            guard let cached = loader.cachedImage(for: request) else { return .placeholder }
            image = (cached.bitmap, Subject(image: cached))
        }
        guard old?.subject != image.subject else { return old.map { .picture($0.cells) } ?? .placeholder }
        draw(image.bitmap, image.subject, row, request.key, size, isMoving: isMoving)
        return drawing(of: request.key, size).map { .picture($0.cells) } ?? .placeholder
    }

    /// What there is of a picture in cells of this size.
    private func drawing(of key: CacheKey, _ size: CellSize) -> Drawing? {
        guard let drawing = drawn[key], drawing.cells.size == size else { return nil }
        return drawing
    }

    /// Whether the row has a poster that can be asked for.
    func hasRequest(forRow row: Int) -> Bool { requests[row] != nil }

    /// Why a row's poster could not be had; nil if it could.
    func failure(ofRow row: Int) -> String? {
        if case .failed(let reason, _) = states[row] { return reason.advised }
        return nil
    }

    private mutating func draw(
        _ bitmap: Bitmap, _ subject: Subject, _ row: Int, _ key: CacheKey, _ size: CellSize, isMoving: Bool
    ) {
        guard let canvas else { return }
        let isLarge = size.columns * size.rows > Self.largest
        let reach = isLarge ? Self.largeReach : Self.reach
        if drawn.count > 4 * reach { drawn = drawn.filter { abs($0.value.row - row) <= reach } }
        let draw = { @Sendable [manner] in
            Drawing(
                key: key, row: row, subject: subject, cells: canvas.draw(bitmap, size: size), manner: manner)
        }
        guard isLarge else {
            drawn[key] = draw()
            return
        }
        guard !isDrawingElsewhere, !isMoving else { return }
        isDrawingElsewhere = true
        drawElsewhere(draw)
    }
}
