internal import FoundationEssentials
internal import ImageCodecs

/// Kitty's graphics protocol (sw.kovidgoyal.net/kitty/graphics-protocol): a picture is sent once under an id, placed
/// any number of times, and deleted by its id. These commands do not move the cursor and get no response.
///
///     ESC _ G a=t,f=100,i=7,q=2,m=1 ; iVBORw0K... ESC \    a PNG file, more to come
///     ESC _ G q=2,m=0 ; AAAAElFTkSuQ== ESC \               its end
///     ESC _ G a=p,i=7,p=1,c=20,r=15,C=1,q=2 ESC \          placed at the cursor over 20 x 15 cells
///     ESC _ G a=d,d=I,i=7,q=2 ESC \                        deleted, its placements with it
///     ESC _ G a=d,d=c,q=2 ESC \                            deleted is what covers the cursor's cell
package enum KittyGraphics {
    /// The most base64 bytes in a chunk.
    private static let chunkSize = 4096

    /// Sends a picture, as a PNG file of at most 256 colours in chunks. The terminal stores it under `id` (1 and up)
    /// and does not show it yet.
    package static func transmission(of picture: TerminalPicture, id: UInt32) -> [UInt8] {
        transmission(ofFile: PNGEncoder(colors: .palette).encode(picture.bitmap), id: id)
    }

    /// As above, for a PNG file.
    static func transmission(ofFile file: [UInt8], id: UInt32) -> [UInt8] {
        let payload = Data(file).base64EncodedData()
        var bytes: [UInt8] = []
        for start in stride(from: 0, to: payload.count, by: chunkSize) {
            let end = min(payload.count, start + chunkSize)
            let first = start == 0 ? "a=t,f=100,i=\(id)," : ""
            bytes += Array("\u{1B}_G\(first)q=2,m=\(end < payload.count ? 1 : 0);".utf8)
            bytes += payload[start..<end]
            bytes += Array("\u{1B}\\".utf8)
        }
        return bytes
    }

    /// Shows a picture at the cursor, scaled to `cells`. A second placement with the same number replaces the first.
    package static func placement(of id: UInt32, number: UInt32 = 1, over cells: CellSize) -> [UInt8] {
        command("a=p,i=\(id),p=\(number),c=\(cells.columns),r=\(cells.rows),C=1")
    }

    /// Shows a part of a picture at the cursor, over that part's cells.
    static func placement(
        of id: UInt32, number: UInt32, part: CellRectangle, cell: ImageSize
    ) -> [UInt8] {
        let pixels = part.pixels(cell: cell)
        let source = "x=\(pixels.x),y=\(pixels.y),w=\(pixels.size.width),h=\(pixels.size.height)"
        return command(
            "a=p,i=\(id),p=\(number),\(source),c=\(part.columns.count),r=\(part.rows.count),C=1")
    }

    /// Removes a placement; the terminal keeps the picture.
    static func removal(of id: UInt32, number: UInt32) -> [UInt8] { command("a=d,d=i,i=\(id),p=\(number)") }

    /// Creates a virtual placement, to show a picture by placeholders (kitty 0.28 and later, Ghostty).
    package static func virtualPlacement(of id: UInt32, over cells: CellSize) -> [UInt8] {
        command("a=p,U=1,i=\(id),c=\(cells.columns),r=\(cells.rows)")
    }

    /// Deletes a picture, with its placements.
    package static func deletion(of id: UInt32) -> [UInt8] { command("a=d,d=I,i=\(id)") }

    /// Takes all pictures off the screen that cover the cursor's cell: in Konsole sixels and iTerm2's, too.
    static let deletionAtCursor = command("a=d,d=c")

    private static func command(_ keys: String) -> [UInt8] { Array("\u{1B}_G\(keys),q=2\u{1B}\\".utf8) }
}

/// Kitty's Unicode placeholders: characters that stand for the cells of a picture. They are text, so they move with
/// text, above all in tmux.
///
/// A cell holds U+10EEEE and three combining marks: its row, its column, and the highest byte of the picture's id. The
/// foreground, an entry of the 256-colour palette, is the lowest byte.
package enum KittyPlaceholders {
    /// The most rows and columns, one for each mark.
    package static let limit = 297

    /// The number of different picture ids.
    package static let numbers = 255 * 255

    /// The id for a count, with two nonzero bytes for the placeholders. `count` and `count + numbers` give the same id.
    package static func id(_ count: Int) -> UInt32 {
        UInt32(count / 255 % 255 + 1) << 24 | UInt32(count % 255 + 1)
    }

    /// The cells of a picture with a virtual placement. `id` comes from `id(_:)`. Cells beyond `limit` stay empty.
    package static func cells(of id: UInt32, size: CellSize) -> CellGrid {
        var grid = CellGrid(size: size)
        let style = CellStyle(foreground: .palette(UInt8(truncatingIfNeeded: id)))
        let high = marks[Int(id >> 24)]
        for row in 0..<min(size.rows, limit) {
            for column in 0..<min(size.columns, limit) {
                var cell = "\u{10EEEE}"
                for mark in [marks[row], marks[column], high] { cell.unicodeScalars.append(mark) }
                grid.put(cell, at: CellPosition(column: column, row: row), style: style)
            }
        }
        return grid
    }

    /// The combining marks by number: all of Unicode 6.0 that stand above a letter (class 230, nonspacing) and do not
    /// decompose, in order, without those that normalisation may compose with a letter. Kitty's own list was made like
    /// this.
    static let marks: [Unicode.Scalar] = {
        let joining: Set<UInt32> = [
            0x300, 0x301, 0x302, 0x303, 0x304, 0x306, 0x307, 0x308, 0x309, 0x30A, 0x30B, 0x30C, 0x30F, 0x311,
            0x313, 0x314, 0x342, 0x653, 0x654,
        ]
        let composed: Set<UInt32> = [0x340, 0x341, 0x343, 0x344]
        return (0x300...0x1D244).compactMap { Unicode.Scalar($0) }.filter { scalar in
            let properties = scalar.properties
            guard properties.canonicalCombiningClass.rawValue == 230,
                properties.generalCategory == .nonspacingMark, let age = properties.age
            else { return false }
            return age <= (6, 0) && !joining.contains(scalar.value) && !composed.contains(scalar.value)
        }
    }()
}
