internal import ImageCodecs

/// Pictures that a terminal paints over its cells and forgets: sixels and iTerm2's. Text that is written over a part of one
/// takes that part away, and so do blanks.
///
/// A picture that stays where it is is not sent again. One that moved has to be: some 15 KB for a poster. So a picture is
/// sent when the films are at rest. While they move, its place shows blocks, as if there were no pixels: at 80 x 24 cells a frame of
/// a scroll is then 2 to 3 KB instead of 40, and the keys never wait for the line. The blocks stay below the picture:
/// they show where its last rows of pixels make no whole band, and where the terminal forgets it (xterm keeps the newest 16
/// for when its window is covered).
///
/// Nothing is drawn on the screen's last row, since xterm, mlterm, foot and Konsole scroll then.
struct PaintedLayer: PictureLayer {
    /// The most bytes of cut pictures that are kept, to be drawn again without being encoded again.
    private static let partsLimit = 1 << 20

    private struct PartKey: Hashable {
        let picture: UInt64
        let part: CellRectangle
    }

    private let way: PictureProtocol
    /// What is on the screen.
    private var painted: [PicturePlacement] = []
    /// Parts of pictures, encoded.
    private var parts: [PartKey: [UInt8]] = [:]
    private var partsSize = 0
    private(set) var isUnfinished = false

    init(_ way: PictureProtocol) { self.way = way }

    /// The terminal keeps nothing; but a drawing that was cut off has to end.
    var farewell: [UInt8] { Array("\u{1B}\\".utf8) }

    mutating func change(_ cells: inout CellGrid, over shown: CellGrid?, isMoving: Bool) -> PictureChange {
        let wanted = cells.pictures.compactMap { $0.cut(to: Self.room(in: cells)) }
        cells.pictures = []
        if shown == nil { painted = [] }
        var change = PictureChange()
        let kept = painted.filter(wanted.contains)
        let drawn = isMoving ? [] : draw(wanted.filter { !kept.contains($0) }, &change)
        if isMoving { isUnfinished = false }
        for old in painted {
            let isHidden = drawn.contains { $0.hides(old) }
            if let shown, isHidden || kept.contains(old) {
                // What is below stays as it is. To write there would take the old picture away, and nothing is to flicker
                // between it and a new one.
                var covered = old.visible
                // But not in its last row where that has pixels below the last whole band: the blocks of a preview would show.
                if isHidden, way == .sixel,
                    covered.size.rows * old.picture.cell.height % SixelGraphics.bandHeight != 0
                {
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

    /// All but the last row.
    private static func room(in cells: CellGrid) -> CellRectangle {
        CellRectangle(size: CellSize(columns: cells.size.columns, rows: cells.size.rows - 1))
    }

    /// Draws as many as a frame may; at most one that has to be encoded first, which takes some milliseconds.
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
        return way == .sixel ? encoded : ITerm2Graphics.drawing(ofFile: encoded, over: placement.visible.size)
    }

    private func part(_ part: CellRectangle, of picture: Picture) -> [UInt8] {
        guard way == .sixel else {
            return ITerm2Graphics.part(part, ofFile: picture.encoded, cell: picture.cell)
        }
        let pixels = SixelPixels(reading: picture.encoded)
        let rest = pixels.part(part, cellWidth: picture.cell.width, cellHeight: picture.cell.height)
        return rest.height == 0 ? [] : SixelGraphics.drawing(rest)
    }
}

extension PicturePlacement {
    /// Whether it is drawn over every pixel of another.
    fileprivate func hides(_ other: PicturePlacement) -> Bool {
        // Of other parts of sixels other pixels are left out, for want of a whole band.
        picture.isOpaque && picture.cells == other.picture.cells && origin == other.origin
            && visible == other.visible
    }
}
