package import ImageCodecs
internal import Synchronization

/// A picture in pixels over whole cells, encoded for one protocol. Encoded once, on creation; grids share it.
package final class Picture: Sendable {
    /// The size in cells.
    package let cells: CellSize
    /// The size of a cell in pixels.
    package let cell: ImageSize
    /// The result of `PictureProtocol.encoded(_:)`: a PNG file, or sixels.
    package let encoded: [UInt8]
    /// Whether it has no transparent pixels.
    let isOpaque: Bool
    /// An id that is unique in the process.
    let number: UInt64

    private static let count = Atomic<UInt64>(0)

    /// Scales a bitmap to the cells and encodes it. Takes milliseconds on the caller's thread.
    package init(_ bitmap: Bitmap, over cells: CellSize, cell: ImageSize, by pictureProtocol: PictureProtocol)
    {
        let shape = TerminalPicture.box(of: cells, cell: cell, step: pictureProtocol.step)
        self.cells = cells
        self.cell = cell
        encoded = pictureProtocol.encoded(
            TerminalPicture(bitmap, shape: shape, within: cells, cell: cell, step: pictureProtocol.step))
        isOpaque = bitmap.isOpaque
        number = Self.count.add(1, ordering: .relaxed).newValue
    }

    /// The picture's size in the terminal's memory as RGBA, in bytes.
    var cost: Int { cells.columns * cell.width * cells.rows * cell.height * 4 }
}

/// The position of a picture on a grid.
package struct PicturePlacement: Sendable, Equatable {
    /// The picture.
    package let picture: Picture
    /// The top left cell; outside the grid if that part is clipped.
    package let origin: CellPosition
    /// The cells of the grid that show the picture; never empty.
    package let visible: CellRectangle

    /// The visible part of the picture, in cells from its top left.
    package var part: CellRectangle { visible.moved(byColumns: -origin.column, rows: -origin.row) }

    /// Whether the whole picture is visible.
    var isWhole: Bool { visible.size == picture.cells }

    package static func == (one: PicturePlacement, other: PicturePlacement) -> Bool {
        one.picture === other.picture && one.origin == other.origin && one.visible == other.visible
    }

    /// The placement clipped to an area; nil if nothing stays visible.
    func cut(to area: CellRectangle) -> PicturePlacement? {
        let rest = visible.clipped(to: area)
        return rest.isEmpty ? nil : PicturePlacement(picture: picture, origin: origin, visible: rest)
    }

    /// The placement on another grid, on which its own grid is drawn at a position.
    func moved(by position: CellPosition, clip: CellRectangle) -> PicturePlacement? {
        PicturePlacement(
            picture: picture,
            origin: CellPosition(
                column: origin.column + position.column, row: origin.row + position.row),
            visible: visible.moved(byColumns: position.column, rows: position.row)
        ).cut(to: clip)
    }
}

extension PicturePlacement {
    init(_ picture: Picture) {
        self.init(
            picture: picture, origin: CellPosition(column: 0, row: 0),
            visible: CellRectangle(size: picture.cells))
    }
}

extension CellRectangle {
    fileprivate func moved(byColumns across: Int, rows down: Int) -> CellRectangle {
        CellRectangle(
            columns: columns.lowerBound + across..<columns.upperBound + across,
            rows: rows.lowerBound + down..<rows.upperBound + down)
    }

    /// The pixels of these cells.
    func pixels(cell: ImageSize) -> ImageRect {
        ImageRect(
            x: columns.lowerBound * cell.width, y: rows.lowerBound * cell.height,
            width: columns.count * cell.width, height: rows.count * cell.height)
    }
}
