internal import FoundationEssentials
internal import ImageCodecs

/// iTerm2's inline images protocol (iterm2.com/documentation-images.html), which WezTerm, Konsole and mlterm support
/// too. It shows a file at the cursor.
///
///     ESC ] 1337 ; File=inline=1;size=9182;width=20;height=15;preserveAspectRatio=1 : iVBORw0K... BEL
package enum ITerm2Graphics {
    /// Shows a picture over its cells, as a PNG file of at most 256 colours. Moves the cursor.
    package static func drawing(of picture: TerminalPicture) -> [UInt8] {
        drawing(ofFile: PNGEncoder(colors: .palette).encode(picture.bitmap), over: picture.cells)
    }

    /// As above, for a PNG file.
    static func drawing(ofFile file: [UInt8], over size: CellSize) -> [UInt8] {
        let cells = "width=\(size.columns);height=\(size.rows)"
        let head = "\u{1B}]1337;File=inline=1;size=\(file.count);\(cells);preserveAspectRatio=1:"
        return Array(head.utf8) + Data(file).base64EncodedData() + [0x07]
    }

    /// Cuts a part out of a picture that this program encoded. Input and result are PNG files.
    static func part(_ part: CellRectangle, ofFile file: [UInt8], cell: ImageSize) -> [UInt8] {
        // Ignored: a failure would be a bug in our encoder or decoder, and traps.
        guard let whole = try? ImageDecoders.standard.decode(file) else {
            preconditionFailure("our own PNG file cannot be decoded")
        }
        return PNGEncoder(colors: .palette).encode(whole.cropped(to: part.pixels(cell: cell)))
    }
}
