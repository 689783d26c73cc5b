package import ImageCodecs
package import LazyImages
package import TerminalGraphics

/// One list model as the browser's thread uses it: the model's rows, and the pictures drawn of its images. Each picture
/// is drawn once for its size. The model knows the state of every row. A picture stays until it is drawn again, so a row
/// still shows its poster after memory has evicted the image.
package final class PosterFeed {
    /// The two parts of the screen that show posters, each from a model of its own.
    package enum Pane: CaseIterable {
        /// All films in a list or on a wall.
        case list
        /// The selected film in full.
        case film
    }

    /// The image that a picture was drawn from.
    struct Content: Equatable {
        /// The image itself; nil for a preview, and after memory has evicted the image.
        weak var image: LoadedImage?
        /// The number of the preview; 0 for the image itself.
        var preview = 0

        static func == (one: Content, other: Content) -> Bool {
            one.preview == other.preview && one.image === other.image
        }
    }

    /// A picture in cells.
    package struct Drawing {
        let key: CacheKey
        let row: Int
        let content: Content
        let cells: CellGrid
        /// The number of the canvas that drew it.
        let canvas: Int
        /// Whether it is a sketch, shown until the real picture is drawn.
        let isSketch: Bool
    }

    /// When there are too many pictures, this many rows on each side of the last drawn row keep theirs: rows of small
    /// pictures, and of large ones.
    private static let (reach, largeReach) = (64, 4)
    /// The most cells of a picture that is drawn on this thread. A larger one would delay a key and is drawn on another
    /// thread, as are pictures in pixels. A sketch stands in for those.
    private static let largest = 600

    package let model: ImageListModel
    /// Draws a picture on another thread and passes it to `take` later.
    private let drawElsewhere: (@escaping @Sendable () -> Drawing) -> Void
    /// Nil if pictures are switched off.
    private var canvas: (any Canvas)?
    private var canvasNumber = 0
    private var rows = ListRows([])
    private var visible = 0..<0
    private var focus = 0
    private var drawn: [CacheKey: Drawing] = [:]
    private var isDrawingElsewhere = false

    package init(
        _ model: ImageListModel, canvas: (any Canvas)?,
        drawElsewhere: @escaping (@escaping @Sendable () -> Drawing) -> Void
    ) {
        self.model = model
        self.canvas = canvas
        self.drawElsewhere = drawElsewhere
    }

    // MARK: The list

    /// - Parameter focus: the selected row, whose poster loads first.
    package func setRows(_ rows: ListRows, visible: Range<Int>, focus: Int) {
        (self.rows, self.visible, self.focus) = (rows, visible, focus)
        model.setRows(rows, visible: visible, focus: focus)
    }

    package func setVisible(_ visible: Range<Int>, focus: Int) {
        guard visible != self.visible || focus != self.focus else { return }
        (self.visible, self.focus) = (visible, focus)
        model.setVisible(visible, focus: focus)
    }

    package func retry() { model.retryFailed() }

    package func scroll(_ phase: ScrollPhase) { model.scrollPhase = phase }

    // MARK: Pictures

    /// Draws every picture again, on another canvas.
    package func use(_ canvas: (any Canvas)?) {
        self.canvas = canvas
        canvasNumber += 1
        drawn = [:]
    }

    /// Takes a picture that was drawn on another thread.
    package func take(_ drawing: Drawing) {
        isDrawingElsewhere = false
        if drawing.canvas == canvasNumber { drawn[drawing.key] = drawing }
    }

    /// The look of a row's poster at this size in cells. An image in memory is shown at once, before the model knows of
    /// the row.
    /// - Parameter isMoving: whether the films move. Large pictures wait until they rest.
    package func view(ofRow row: Int, size: CellSize, loader: ImageLoader, isMoving: Bool) -> PosterView {
        guard let request = rows[row] else { return .card(.missing) }
        let old = drawing(of: request.key, size)
        let image: (bitmap: Bitmap, content: Content)
        switch model.state(of: request) {
        case .failed: return .card(.failed)
        case .loaded(let loaded): image = (loaded.bitmap, Content(image: loaded))
        case .loading(_, let preview?): image = (preview.bitmap, Content(preview: preview.number))
        case .loading(let progress, nil):
            if let old { return .picture(old.cells) }
            let part = progress.expected.map { Double(progress.received) / Double(max(1, $0)) }
            return .card(.loading(part))
        case .placeholder:
            if let old, !old.isSketch { return .picture(old.cells) }
            guard let cached = loader.cachedImage(for: request) else {
                return old.map { .picture($0.cells) } ?? .card(.waiting)
            }
            image = (cached.bitmap, Content(image: cached))
        }
        if old?.content != image.content || old?.isSketch == true {
            draw(image.bitmap, image.content, row, request.key, size, isMoving: isMoving)
        }
        return drawing(of: request.key, size).map { .picture($0.cells) } ?? .card(.waiting)
    }

    /// A row's image, if the model has it.
    package func image(ofRow row: Int) -> (key: CacheKey, bitmap: Bitmap)? {
        guard let request = rows[row], case .loaded(let image) = model.state(of: request) else { return nil }
        return (request.key, image.bitmap)
    }

    /// Whether the row has a poster that can be loaded.
    package func hasRequest(forRow row: Int) -> Bool { rows[row] != nil }

    /// The failed load of a row's poster; nil if it has not failed.
    package func failure(ofRow row: Int) -> (request: ImageRequest, error: ImageLoadingError)? {
        guard let request = rows[row], case .failed(let error, _) = model.state(of: request) else {
            return nil
        }
        return (request, error)
    }

    /// The present picture at this size in cells.
    private func drawing(of key: CacheKey, _ size: CellSize) -> Drawing? {
        guard let drawing = drawn[key], drawing.cells.size == size else { return nil }
        return drawing
    }

    private func draw(
        _ bitmap: Bitmap, _ content: Content, _ row: Int, _ key: CacheKey, _ size: CellSize, isMoving: Bool
    ) {
        guard let canvas else { return }
        let isLarge = size.columns * size.rows > Self.largest
        let reach = isLarge ? Self.largeReach : Self.reach
        if drawn.count > 4 * reach { drawn = drawn.filter { abs($0.value.row - row) <= reach } }
        let draw = { @Sendable [canvasNumber] (canvas: any Canvas, isSketch: Bool) in
            Drawing(
                key: key, row: row, content: content, cells: canvas.draw(bitmap, size: size),
                canvas: canvasNumber, isSketch: isSketch)
        }
        if !isLarge {
            guard let sketch = canvas.sketch else {
                drawn[key] = draw(canvas, false)
                return
            }
            // A preview stays until the picture that replaces it is drawn.
            if drawing(of: key, size) == nil { drawn[key] = draw(sketch, true) }
        }
        guard !isDrawingElsewhere, !isLarge || !isMoving else { return }
        isDrawingElsewhere = true
        drawElsewhere { draw(canvas, false) }
    }
}

/// Why a film has no poster.
package struct PosterFailure: Equatable {
    /// One line, without the address.
    let reason: String
    /// The failed request, and its error; nil if the catalogue has no usable address.
    package let request: ImageRequest?
    package let error: ImageLoadingError?

    /// Where the poster should have been.
    var address: String? { request?.url.displayText }

    package init(_ reason: String, request: ImageRequest? = nil, error: ImageLoadingError? = nil) {
        (self.reason, self.request, self.error) = (reason, request, error)
    }

    /// The message. Only a failed load can be tried again.
    /// - Parameter keys: the keys that it names.
    func line(_ keys: BrowserKeys) -> String {
        "No poster: " + reason + (request == nil ? "" : keys.text("; {r} asks again; {i} shows the answer"))
    }
}
