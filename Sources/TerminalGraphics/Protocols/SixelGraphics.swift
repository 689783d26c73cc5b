internal import ImageCodecs

/// Sixel graphics (DEC STD 070, chapter 9): rows of six pixels, colour by colour, each character one column of six.
///
///     ESC P 7;1;q "1;1;160;240      square pixels; what is not drawn stays as it is; 160 x 240 pixels
///     #0;2;7;8;10 #1;2;93;90;80     colours in hundredths of red, green and blue
///     #0~~!12~ $ #1!5?@@- ESC \     `?` to `~` are six bits, the lowest on top; `!12~` twelve times `~`; `$` back to the
///                                   left edge; `-` to the next six rows
package enum SixelGraphics {
    /// The rows of pixels that are drawn together.
    package static let bandHeight = 6
    /// Columns without a colour that make two segments of what it draws: less is shorter as a run.
    private static let gap = 12

    /// Draws a picture at the cursor: as many of its rows as are whole bands, so that nothing is drawn below its cells. Where
    /// the last row of the screen is drawn to, terminals scroll; so the cells must end above it. It moves the cursor.
    package static func drawing(of picture: TerminalPicture) -> [UInt8] {
        let bitmap = picture.bitmap
        let pixels = SixelColours(of: bitmap)
        return drawing(
            SixelPixels(
                colours: pixels.colours, indices: pixels.indices, width: bitmap.width,
                height: bitmap.height / bandHeight * bandHeight))
    }

    /// The same for pixels that have their colours, in whole bands.
    static func drawing(_ pixels: SixelPixels) -> [UInt8] {
        let (width, bands) = (pixels.width, pixels.height / bandHeight)
        var bytes = Array("\u{1B}P7;1;q\"1;1;\(width);\(bands * bandHeight)".utf8)
        for (number, colour) in pixels.colours.enumerated() {
            bytes += Array("#\(number);2;\(colour.x);\(colour.y);\(colour.z)".utf8)
        }
        // For each colour, the six bits of each column.
        var sixels = [UInt8](repeating: 0, count: pixels.colours.count * width)
        for band in 0..<bands {
            if band > 0 { bytes.append(UInt8(ascii: "-")) }
            let used = collect(band, of: pixels, width: width, into: &sixels)
            write(segments(of: used, width: width, sixels), width: width, sixels, to: &bytes)
            for colour in used {
                for place in colour * width..<(colour + 1) * width { sixels[place] = 0 }
            }
        }
        return bytes + Array("\u{1B}\\".utf8)
    }

    /// The six bits of a band's colours; which colours those are.
    private static func collect(
        _ band: Int, of pixels: SixelPixels, width: Int, into sixels: inout [UInt8]
    ) -> [Int] {
        var isUsed = [Bool](repeating: false, count: pixels.colours.count)
        for line in 0..<bandHeight {
            let start = (band * bandHeight + line) * width
            for column in 0..<width {
                let colour = Int(pixels.indices[start + column])
                if colour == Int(SixelPixels.clear) { continue }
                sixels[colour * width + column] |= 1 << UInt8(line)
                isUsed[colour] = true
            }
        }
        return isUsed.indices.filter { isUsed[$0] }
    }

    /// Columns in which a colour is drawn, without long gaps.
    private struct Segment {
        let colour: Int
        var columns: Range<Int>
    }

    /// From the left.
    private static func segments(of colours: [Int], width: Int, _ sixels: [UInt8]) -> [Segment] {
        var segments: [Segment] = []
        for colour in colours {
            let own = segments.count
            for column in 0..<width where sixels[colour * width + column] != 0 {
                if segments.count > own, column - segments[segments.count - 1].columns.upperBound < gap {
                    let start = segments[segments.count - 1].columns.lowerBound
                    segments[segments.count - 1].columns = start..<column + 1
                } else {
                    segments.append(Segment(colour: colour, columns: column..<column + 1))
                }
            }
        }
        return segments.sorted {
            ($0.columns.lowerBound, $0.columns.upperBound) < ($1.columns.lowerBound, $1.columns.upperBound)
        }
    }

    /// Writes segments that do not overlap one behind another, then from the left edge again those that are left.
    private static func write(
        _ segments: [Segment], width: Int, _ sixels: [UInt8], to bytes: inout [UInt8]
    ) {
        var segments = segments
        while !segments.isEmpty {
            var column = 0
            var later: [Segment] = []
            for segment in segments {
                guard segment.columns.lowerBound >= column else {
                    later.append(segment)
                    continue
                }
                bytes += Array("#\(segment.colour)".utf8)
                write(0, times: segment.columns.lowerBound - column, to: &bytes)
                writeRuns(
                    sixels[segment.colour * width..<(segment.colour + 1) * width], segment.columns, to: &bytes
                )
                column = segment.columns.upperBound
            }
            if !later.isEmpty { bytes.append(UInt8(ascii: "$")) }
            segments = later
        }
    }

    private static func writeRuns(
        _ sixels: ArraySlice<UInt8>, _ columns: Range<Int>, to bytes: inout [UInt8]
    ) {
        var column = sixels.startIndex + columns.lowerBound
        let end = sixels.startIndex + columns.upperBound
        while column < end {
            var next = column + 1
            while next < end, sixels[next] == sixels[column] { next += 1 }
            write(sixels[column], times: next - column, to: &bytes)
            column = next
        }
    }

    private static func write(_ sixel: UInt8, times count: Int, to bytes: inout [UInt8]) {
        let character = UInt8(ascii: "?") + sixel
        if count > 3 {
            bytes += Array("!\(count)".utf8)
            bytes.append(character)
        } else {
            bytes += repeatElement(character, count: count)
        }
    }
}
