import ImageCodecs
import LazyImages
import TerminalGraphics

/// Posters among the lines of other output.
struct InlinePoster {
    private let canvas: any Canvas
    private let depth: ColourDepth

    /// Nil where there are to be no pictures: standard output is no terminal, and the user has not said otherwise.
    init?(_ settings: Settings) {
        guard Output.isTerminal || settings.colourDepth > .none,
            let canvas = settings.graphics.canvas(depth: settings.colourDepth)
        else { return nil }
        self.canvas = canvas
        depth = settings.colourDepth
    }

    /// The file's picture in at most so many cells; nil where it cannot be decoded, which `failure` is told.
    func draw(_ file: LoadedFile, within room: CellSize, failure: (String) -> Void) -> CellGrid? {
        guard let size = file.header?.size else {
            failure("\(file.url.displayText): this kind of file is not shown")
            return nil
        }
        let cells = room.fitting(imageWidth: size.width, imageHeight: size.height)
        // The canvas looks at 8 x 8 samples a cell; twice that leaves something to average. What is not much larger it
        // averages itself.
        let enough = ImageSize(width: cells.columns * 16, height: cells.rows * 16)
        let isLarge = size.width > 2 * enough.width || size.height > 2 * enough.height
        let target = isLarge ? enough : nil
        let decoded = file.bytes.withBytes { bytes in
            Result<Bitmap, ImageDecodingError> { () throws(ImageDecodingError) in
                try ImageDecoders.standard.decode(bytes, fitting: target)
            }
        }
        switch decoded {
        case .success(let bitmap): return canvas.draw(bitmap, size: cells)
        case .failure(let error):
            failure("\(file.url.displayText): cannot be shown: \(error)")
            return nil
        }
    }

    func print(_ grid: CellGrid, to output: Output) { output.picture(grid, depth: depth) }
}
