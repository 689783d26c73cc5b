import LazyImages
import TerminalGraphics

/// What the rows show: the list model's newest word about each, and the pictures drawn from it, each once for its size.
/// Rows that show nothing take no room.
struct PosterBoard {
    /// Of how many rows to each side of the last one drawn the cells are kept when there are too many.
    private static let reach = 256

    /// Nil where no pictures are wanted.
    private var canvas: (any Canvas)?
    private var requests: [ImageRequest?] = []
    private var states: [Int: RowState<LoadedImage>] = [:]
    private var drawn: [Int: CellGrid] = [:]
    /// The list model's number of the present rows; news of earlier rows is none any more.
    private var list = 0

    init(canvas: (any Canvas)?) { self.canvas = canvas }

    /// Draws everything anew, another way.
    mutating func use(_ canvas: (any Canvas)?) {
        self.canvas = canvas
        drawn = [:]
    }

    /// The rows are these from now on.
    mutating func begin(_ rows: [ImageRequest?]) {
        requests = rows
        list += 1
        states = [:]
        drawn = [:]
    }

    mutating func note(_ update: RowUpdate<LoadedImage>) {
        guard update.list == list else { return }
        drawn[update.row] = nil
        if case .placeholder = update.state {
            states[update.row] = nil
        } else {
            states[update.row] = update.state
        }
    }

    /// What a row's poster looks like in so many cells. What memory has is shown at once, before the model says so.
    mutating func view(ofRow row: Int, size: CellSize, loader: ImageLoader) -> PosterView {
        if let picture = drawn[row], picture.size == size { return .picture(picture) }
        switch states[row] {
        case .loaded(let image): return draw(image, row, size)
        case .failed: return .failed
        case .loading(let progress):
            return .loading(progress.expected.map { Double(progress.received) / Double(max(1, $0)) })
        case .placeholder, nil:
            guard requests.indices.contains(row), let request = requests[row] else { return .failed }
            return loader.cachedImage(for: request).map { draw($0, row, size) } ?? .placeholder
        }
    }

    /// Why a row's poster could not be had; nil if it could.
    func failure(ofRow row: Int) -> String? {
        if case .failed(let reason, _) = states[row] { return reason.description }
        return nil
    }

    private mutating func draw(_ image: LoadedImage, _ row: Int, _ size: CellSize) -> PosterView {
        guard let picture = canvas?.draw(image.bitmap, size: size) else { return .placeholder }
        if drawn.count > 4 * Self.reach { drawn = drawn.filter { abs($0.key - row) <= Self.reach } }
        drawn[row] = picture
        return .picture(picture)
    }
}
