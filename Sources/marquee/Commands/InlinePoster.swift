import LazyImages
import TerminalGraphics

/// Pictures among the lines of other output. They load as in the browser: decoded by an `ImageLoader`, at the size that
/// the cells can show.
struct InlinePoster {
    private let canvas: any Canvas

    /// Nil if no pictures are wanted: standard output is no terminal, and the user has not asked for colours.
    init?(_ settings: Settings) {
        guard Output.isTerminal || settings.colourDepth > .none,
            let canvas = settings.graphics.canvas(depth: settings.colourDepth)
        else { return nil }
        self.canvas = canvas
    }

    /// The picture, undistorted, in at most so many cells.
    func draw(_ image: LoadedImage, within room: CellSize) -> CellGrid {
        let size = image.header.size ?? image.bitmap.size
        return canvas.draw(
            image.bitmap, size: room.fitting(imageWidth: size.width, imageHeight: size.height))
    }
}
