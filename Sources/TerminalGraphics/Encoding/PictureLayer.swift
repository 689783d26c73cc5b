/// The pictures on a terminal's screen: what a frame has to send for them. One implementation for each way terminals treat
/// pictures and cells.
package protocol PictureLayer: Sendable {
    /// Brings the pictures of a grid onto the screen, and takes away those that are no more.
    /// - Parameters:
    ///   - cells: the next screen. Comes with pictures, and leaves without: as it will be written in cells.
    ///   - shown: the cells that are on the screen; nil where all of it is erased first.
    ///   - isMoving: whether the pictures are going to be elsewhere at once.
    mutating func change(_ cells: inout CellGrid, over shown: CellGrid?, isMoving: Bool) -> PictureChange

    /// Whether another frame has to follow for the rest of the pictures.
    var isUnfinished: Bool { get }

    /// What deletes all that the terminal keeps of the pictures.
    var farewell: [UInt8] { get }
}

/// A frame's bytes for its pictures.
package struct PictureChange {
    /// What shows nothing and comes before the frame. A terminal that is slow may end the frame in the midst of it (kitty does
    /// after two seconds) and lose a picture.
    package var before: [UInt8] = []
    /// The cells that are written even if they are the same, since a picture lies over them.
    var erased: [CellRectangle] = []
    /// What comes after the cells.
    package var after: [UInt8] = []

    /// A frame sends no more pictures when there are so many bytes of them, about: the next frames send the rest, after the
    /// keys that have come meanwhile. It takes half a second where a line carries a megabit a second, and a local terminal
    /// some ten milliseconds.
    static let limit = 64 << 10

    /// Moves the cursor to a cell.
    static func move(to position: CellPosition) -> [UInt8] {
        Array("\u{1B}[\(position.row + 1);\(position.column + 1)H".utf8)
    }
}

extension PictureProtocol {
    /// The layer for a terminal.
    var layer: any PictureLayer {
        switch self {
        case .kitty: KittyLayer(placeholders: false, inTmux: false)
        case .kittyPlaceholders(let inTmux): KittyLayer(placeholders: true, inTmux: inTmux)
        case .iterm2, .sixel: PaintedLayer(self)
        }
    }
}
