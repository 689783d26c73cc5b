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
        let source =
            "x=\(pixels.column),y=\(pixels.row),w=\(pixels.size.width),h=\(pixels.size.height)"
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
