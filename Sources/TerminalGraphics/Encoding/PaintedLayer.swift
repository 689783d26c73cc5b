internal import ImageCodecs

/// Pictures that a terminal paints over its cells and forgets: sixels and iTerm2's. Text written over a part of a
/// picture erases that part, and so do spaces. Konsole keeps the picture: there each one has to be deleted.
///
/// A picture that stays in place is not sent again. One that moves must be, about 15 KB for a poster. So pictures are
/// sent only at rest; while they move, their cells show blocks. A frame of a scroll at 80 x 24 cells then takes 2 to 3
/// KB instead of 40, and input never waits for output. The blocks stay below the picture. They show where its last rows
/// of pixels fill no whole band, and where the terminal forgets it (xterm keeps the newest 16 to redraw a covered
/// window).
///
/// Nothing is drawn on the last row of the screen, because xterm, mlterm, foot and Konsole would scroll.
struct PaintedLayer: PictureLayer {
    /// The most bytes of encoded parts of pictures to cache.
    private static let partsLimit = 1 << 20

    private struct PartKey: Hashable {
        let picture: UInt64
        let part: CellRectangle
    }

    /// Sixels or iTerm2's.
    private let pictureProtocol: PictureProtocol
    private let keepsPictures: Bool
    /// The pictures on the screen.
    private var painted: [PicturePlacement] = []
    /// Encoded parts of pictures.
    private var parts: [PartKey: [UInt8]] = [:]
    private var partsSize = 0
    private(set) var isUnfinished = false

    /// - Parameter keepsPictures: whether pictures stay where text is written over them.
    init(_ pictureProtocol: PictureProtocol, keepsPictures: Bool) {
        self.pictureProtocol = pictureProtocol
        self.keepsPictures = keepsPictures
    }

    /// Ends an interrupted drawing. The terminal stores nothing.
    var cleanup: [UInt8] { Array("\u{1B}\\".utf8) }

    mutating func change(_ cells: inout CellGrid, over shown: CellGrid?, isMoving: Bool) -> PictureChange {
        let wanted = cells.pictures.compactMap { $0.cut(to: Self.room(in: cells)) }
        cells.pictures = []
        if shown == nil { painted = [] }
        var change = PictureChange()
        let kept = painted.filter(wanted.contains)
        let drawn = isMoving ? [] : draw(wanted.filter { !kept.contains($0) }, &change)
        if isMoving { isUnfinished = false }
        if keepsPictures {
            change.after = deletions(of: painted.filter { !kept.contains($0) }) + change.after
        }
        for old in painted {
            let isHidden = drawn.contains { $0.hides(old) }
            if let shown, isHidden || kept.contains(old) {
                // Leave the cells below as they are. Writing them would erase the old picture, and the screen would
                // flicker before the new one.
                var covered = old.visible
                // But rewrite the last row if its pixels do not end with a whole band: it would show the blocks of a
                // preview.
                if isHidden, covered.size.rows * old.picture.cell.height % pictureProtocol.step != 0 {
                    covered = CellRectangle(
                        at: covered.origin,
                        size: CellSize(columns: covered.size.columns, rows: covered.size.rows - 1))
                }
                cells.place(shown, at: CellPosition(column: 0, row: 0), clip: covered)
            } else {
                change.erased.append(old.visible)
            }
        }
        painted = kept + drawn
        return change
    }

    /// All rows except the last.
    private static func room(in cells: CellGrid) -> CellRectangle {
        CellRectangle(size: CellSize(columns: cells.size.columns, rows: cells.size.rows - 1))
    }

    /// Draws as many as one frame may send. At most one of them needs encoding first, which takes milliseconds.
    private mutating func draw(
        _ placements: [PicturePlacement], _ change: inout PictureChange
    ) -> [PicturePlacement] {
        var drawn: [PicturePlacement] = []
        var hasEncoded = false
        isUnfinished = false
        for placement in placements {
            let isReady = placement.isWhole || parts[Self.key(of: placement)] != nil
            guard change.after.count < PictureChange.limit, isReady || !hasEncoded else {
                isUnfinished = true
                continue
            }
            if !isReady { hasEncoded = true }
            change.after += PictureChange.move(to: placement.visible.origin)
            change.after += bytes(of: placement)
            drawn.append(placement)
        }
        return drawn
    }

    private func deletions(of pictures: [PicturePlacement]) -> [UInt8] {
        pictures.flatMap { PictureChange.move(to: $0.visible.origin) + KittyGraphics.deletionAtCursor }
    }

    private static func key(of placement: PicturePlacement) -> PartKey {
        PartKey(picture: placement.picture.number, part: placement.part)
    }

    private mutating func bytes(of placement: PicturePlacement) -> [UInt8] {
        let picture = placement.picture
        var encoded = picture.encoded
        if !placement.isWhole {
            let key = Self.key(of: placement)
            if let part = parts[key] {
                encoded = part
            } else {
                encoded = part(placement.part, of: picture)
                if partsSize > Self.partsLimit { (parts, partsSize) = ([:], 0) }
                parts[key] = encoded
                partsSize += encoded.count
            }
        }
        return pictureProtocol == .iterm2
            ? ITerm2Graphics.drawing(ofFile: encoded, over: placement.visible.size) : encoded
    }

    private func part(_ part: CellRectangle, of picture: Picture) -> [UInt8] {
        if pictureProtocol == .iterm2 {
            return ITerm2Graphics.part(part, ofFile: picture.encoded, cell: picture.cell)
        }
        let pixels = SixelPixels(reading: picture.encoded)
        let rest = pixels.part(part, cellWidth: picture.cell.width, cellHeight: picture.cell.height)
        return rest.height == 0 ? [] : SixelGraphics.drawing(rest)
    }
}

extension PicturePlacement {
    /// Whether it covers every pixel of another placement.
    fileprivate func hides(_ other: PicturePlacement) -> Bool {
        // Clipped sixels drop the rows that fill no whole band, so only the same part covers the other.
        picture.isOpaque && picture.cells == other.picture.cells && origin == other.origin
            && visible == other.visible
    }
}

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
