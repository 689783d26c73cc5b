internal import FoundationEssentials
internal import ImageCodecs

/// iTerm2's protocol (iterm2.com/documentation-images.html), which WezTerm, Konsole and mlterm take as well: a file that is
/// shown at the cursor.
///
///     ESC ] 1337 ; File=inline=1;size=9182;width=20;height=15;preserveAspectRatio=1 : iVBORw0K... BEL
package enum ITerm2Graphics {
    /// Shows a picture over its cells, as a PNG file of at most 256 colours. It moves the cursor.
    package static func drawing(of picture: TerminalPicture) -> [UInt8] {
        let file = PNGEncoder(colours: .palette).encode(picture.bitmap)
        let cells = "width=\(picture.cells.columns);height=\(picture.cells.rows)"
        let head = "\u{1B}]1337;File=inline=1;size=\(file.count);\(cells);preserveAspectRatio=1:"
        return Array(head.utf8) + Data(file).base64EncodedData() + [0x07]
    }
}
