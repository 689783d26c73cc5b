package import ImageCodecs
internal import Synchronization

/// A picture in pixels over whole cells, as one protocol sends it. Encoded once, when it is made; shared by all grids that it
/// lies on.
package final class Picture: Sendable {
    /// The cells that it takes.
    package let cells: CellSize
    /// The pixels of a cell.
    package let cell: ImageSize
    /// What ``PictureProtocol/encoded(_:)`` has made of it: a PNG file, or sixels.
    package let encoded: [UInt8]
    /// Whether it hides what lies below it.
    let isOpaque: Bool
    /// Its own: no other picture of the process has it, now or later.
    let number: UInt64

    private static let count = Atomic<UInt64>(0)

    /// Scales and encodes a bitmap, whatever its proportions. Runs for milliseconds on the caller's thread.
    package init(_ bitmap: Bitmap, over cells: CellSize, cell: ImageSize, by way: PictureProtocol) {
        let shape = TerminalPicture.box(of: cells, cell: cell, step: way.step)
        self.cells = cells
        self.cell = cell
        encoded = way.encoded(
            TerminalPicture(bitmap, shape: shape, within: cells, cell: cell, step: way.step))
        isOpaque = bitmap.isOpaque
        number = Self.count.add(1, ordering: .relaxed).newValue
    }

    /// The bytes that its pixels take in a terminal's memory, as RGBA.
    var cost: Int { cells.columns * cell.width * cells.rows * cell.height * 4 }
}

/// Where a picture lies on a grid.
package struct PicturePlacement: Sendable, Equatable {
    /// The picture.
    package let picture: Picture
    /// Its top left cell, outside the grid where that part of it is cut.
    package let origin: CellPosition
    /// The cells of the grid that show it; never empty.
    package let visible: CellRectangle

    init(_ picture: Picture) {
        self.init(
            picture: picture, origin: CellPosition(column: 0, row: 0),
            visible: CellRectangle(size: picture.cells))
    }

    private init(picture: Picture, origin: CellPosition, visible: CellRectangle) {
        self.picture = picture
        self.origin = origin
        self.visible = visible
    }

    /// The part of the picture that is shown, in cells from its top left.
    package var part: CellRectangle { visible.moved(byColumns: -origin.column, rows: -origin.row) }

    /// Whether all of it is shown.
    var isWhole: Bool { visible.size == picture.cells }

    package static func == (one: PicturePlacement, other: PicturePlacement) -> Bool {
        one.picture === other.picture && one.origin == other.origin && one.visible == other.visible
    }

    /// The same picture, of which only these cells are seen; nil where there are none.
    func cut(to area: CellRectangle) -> PicturePlacement? {
        let rest = visible.clipped(to: area)
        return rest.isEmpty ? nil : PicturePlacement(picture: picture, origin: origin, visible: rest)
    }

    /// The placement on a grid on which its own grid lies at a position.
    func moved(by position: CellPosition, clip: CellRectangle) -> PicturePlacement? {
        PicturePlacement(
            picture: picture,
            origin: CellPosition(
                column: origin.column + position.column, row: origin.row + position.row),
            visible: visible.moved(byColumns: position.column, rows: position.row)
        ).cut(to: clip)
    }
}

extension CellRectangle {
    fileprivate func moved(byColumns across: Int, rows down: Int) -> CellRectangle {
        CellRectangle(
            columns: columns.lowerBound + across..<columns.upperBound + across,
            rows: rows.lowerBound + down..<rows.upperBound + down)
    }

    /// The pixels of these cells: the top left one and the size.
    func pixels(cell: ImageSize) -> (column: Int, row: Int, size: ImageSize) {
        (
            columns.lowerBound * cell.width, rows.lowerBound * cell.height,
            ImageSize(width: columns.count * cell.width, height: rows.count * cell.height)
        )
    }
}
