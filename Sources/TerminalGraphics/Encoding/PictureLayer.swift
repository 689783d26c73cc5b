/// Tracks the pictures on a terminal's screen and encodes their changes. Terminals treat pictures and cells
/// differently, so there is one implementation for each way.
package protocol PictureLayer: Sendable {
    /// Shows the pictures of a grid, and removes those that are gone.
    /// - Parameters:
    ///   - cells: the next screen. Its pictures are removed from it, and its cells changed to what should be written.
    ///   - shown: the cells on the screen; nil if the screen is erased first.
    ///   - isMoving: whether the pictures will move again at once.
    mutating func change(_ cells: inout CellGrid, over shown: CellGrid?, isMoving: Bool) -> PictureChange

    /// Whether another frame must follow for the remaining pictures.
    var isUnfinished: Bool { get }

    /// The bytes that delete everything the terminal stores of the pictures.
    var cleanup: [UInt8] { get }
}

/// The bytes of a frame for its pictures.
package struct PictureChange {
    /// Invisible commands, to send before the synchronized update. A slow terminal may end the update early (kitty does
    /// after two seconds) and lose a picture within.
    package var before: [UInt8] = []
    /// Cells to write even if unchanged, because a picture covers them.
    var erased: [CellRectangle] = []
    /// The bytes to send after the cells.
    package var after: [UInt8] = []

    /// A frame sends no more pictures after about this many bytes. The next frames send the rest, after pending input.
    /// This takes half a second on a line of one megabit per second, and about ten milliseconds on a local terminal.
    static let limit = 64 << 10

    /// Moves the cursor to a cell.
    static func move(to position: CellPosition) -> [UInt8] {
        Array("\u{1B}[\(position.row + 1);\(position.column + 1)H".utf8)
    }
}

extension PictureProtocol {
    /// Creates the layer of a terminal.
    /// - Parameter keepsPictures: whether the terminal keeps sixels and iTerm2's pictures below text.
    func layer(keepsPictures: Bool) -> any PictureLayer {
        switch self {
        case .kitty: KittyLayer(placeholders: false, inTmux: false)
        case .kittyPlaceholders(let inTmux): KittyLayer(placeholders: true, inTmux: inTmux)
        case .iterm2, .sixel: PaintedLayer(self, keepsPictures: keepsPictures)
        }
    }
}
