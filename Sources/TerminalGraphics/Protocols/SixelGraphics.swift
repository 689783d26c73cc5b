internal import ImageCodecs

/// Sixel graphics (DEC STD 070, chapter 9): bands of six rows, colour by colour; each character is a column of six
/// pixels.
///
///     ESC P 7;1;q "1;1;160;240      square pixels; undrawn pixels stay; 160 x 240 pixels
///     #0;2;7;8;10 #1;2;93;90;80     colours in hundredths of red, green and blue
///     #0~~!12~ $ #1!5?@@- ESC \     `?` to `~` are six bits, the lowest on top; `!12~` twelve times `~`;
///                                   `$` back to the left edge; `-` to the next band
package enum SixelGraphics {
    /// The rows of pixels in a band.
    package static let bandHeight = 6
    /// The fewest empty columns that split a colour's columns into two segments; shorter gaps take fewer bytes as runs.
    private static let gap = 12

    /// Draws a picture at the cursor and moves the cursor. Draws only whole bands, so that nothing appears below the
    /// picture's cells. The cells must end above the last row of the screen, because terminals scroll when it is drawn
    /// to.
    package static func drawing(of picture: TerminalPicture) -> [UInt8] {
        let bitmap = picture.bitmap
        let pixels = SixelColours(of: bitmap)
        return drawing(
            SixelPixels(
                colours: pixels.colours, indices: pixels.indices, width: bitmap.width,
                height: bitmap.height / bandHeight * bandHeight))
    }

    /// As above, for quantised pixels in whole bands.
    static func drawing(_ pixels: SixelPixels) -> [UInt8] {
        let (width, bands) = (pixels.width, pixels.height / bandHeight)
        var bytes = Array("\u{1B}P7;1;q\"1;1;\(width);\(bands * bandHeight)".utf8)
        for (number, colour) in pixels.colours.enumerated() {
            bytes += Array("#\(number);2;\(colour.x);\(colour.y);\(colour.z)".utf8)
        }
        // The six bits of each column, for each colour.
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

    /// Collects the six bits of each colour in a band. Returns the used colours.
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

    /// Columns where a colour is drawn, without long gaps.
    private struct Segment {
        let colour: Int
        var columns: Range<Int>
    }

    /// The segments of all colours, from left to right.
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

    /// Writes segments that do not overlap in one pass, then starts again at the left edge with the rest.
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
