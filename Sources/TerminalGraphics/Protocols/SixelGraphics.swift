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
        drawing(SixelColours(of: picture.bitmap).pixels)
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

/// Quantises a picture to at most 256 sixel colours, in hundredths: with an adaptive palette, and error diffusion
/// (Floyd and Steinberg, 1976) where neighbouring pixels differ, as in photographs. Areas of one colour stay plain.
struct SixelColours {
    /// The mean squared error of a channel to aim for, in squared levels of 255: 38 dB. Using all 256 colours would
    /// take a third more bytes for photographs.
    private static let error = 10.0
    private static let clear = SixelPixels.clear

    /// The quantised pixels, in whole bands.
    private(set) var pixels: SixelPixels

    /// The colours as the terminal shows them, 0 to 255.
    private let shown: [SIMD4<Int32>]
    /// The cached nearest colours, by six bits of each channel.
    private var nearest = [UInt16](repeating: clear, count: 1 << 18)

    init(of bitmap: Bitmap) {
        let palette = AdaptivePalette(of: bitmap, error: Self.error)
        let colours = palette.colours.map { colour in
            SIMD3(Int(colour.x), Int(colour.y), Int(colour.z)) &* 100 &+ 127
        }.map { SIMD3($0.x / 255, $0.y / 255, $0.z / 255) }
        shown = colours.map { SIMD4(Self.level($0.x), Self.level($0.y), Self.level($0.z), 0) }
        pixels = SixelPixels(
            colours: colours, indices: Array(repeating: Self.clear, count: bitmap.width * bitmap.height),
            width: bitmap.width, height: bitmap.height / SixelGraphics.bandHeight * SixelGraphics.bandHeight)
        quantise(bitmap, palette)
    }

    private static func level(_ hundredths: Int) -> Int32 { Int32((hundredths * 255 + 50) / 100) }

    private mutating func quantise(_ bitmap: Bitmap, _ palette: AdaptivePalette) {
        let (width, height) = (bitmap.width, bitmap.height)
        // The diffused errors for this row and the next, in 64ths of a level, with one more entry on either side.
        var errors = [SIMD4<Int32>](repeating: SIMD4(), count: width + 2)
        var nextErrors = errors
        for row in 0..<height {
            for column in 0..<width {
                let pixel = Self.pixel(column, row, of: bitmap)
                guard pixel.w > 127 else { continue }
                let place = row * width + column
                if palette.isExact || Self.isFlat(column, row, in: bitmap) {
                    pixels.indices[place] = UInt16(palette.index(of: pixel))
                    continue
                }
                let debt = errors[column + 1]
                let wanted = (SIMD4<Int32>(truncatingIfNeeded: pixel) &+ (debt &+ 32) &>> 6)
                    .clamped(lowerBound: SIMD4(), upperBound: SIMD4(repeating: 255))
                let number = nearest(to: wanted)
                pixels.indices[place] = number
                // Diffuse three quarters of the error: all of it would add more noise than it hides steps.
                let error = (wanted &- shown[Int(number)]) &* 3
                errors[column + 2] &+= error &* 7
                nextErrors[column] &+= error &* 3
                nextErrors[column + 1] &+= error &* 5
                nextErrors[column + 2] &+= error
            }
            swap(&errors, &nextErrors)
            for column in nextErrors.indices { nextErrors[column] = SIMD4() }
        }
    }

    private static func pixel(_ column: Int, _ row: Int, of bitmap: Bitmap) -> SIMD4<UInt8> {
        let start = (row * bitmap.width + column) * 4
        let pixels = bitmap.pixels.span
        return SIMD4(pixels[start], pixels[start + 1], pixels[start + 2], pixels[start + 3])
    }

    /// Whether a pixel equals its neighbours on all four sides.
    private static func isFlat(_ column: Int, _ row: Int, in bitmap: Bitmap) -> Bool {
        let own = pixel(column, row, of: bitmap)
        return (column == 0 || pixel(column - 1, row, of: bitmap) == own)
            && (column == bitmap.width - 1 || pixel(column + 1, row, of: bitmap) == own)
            && (row == 0 || pixel(column, row - 1, of: bitmap) == own)
            && (row == bitmap.height - 1 || pixel(column, row + 1, of: bitmap) == own)
    }

    private mutating func nearest(to wanted: SIMD4<Int32>) -> UInt16 {
        let key = Int(wanted.x >> 2) << 12 | Int(wanted.y >> 2) << 6 | Int(wanted.z >> 2)
        if nearest[key] != Self.clear { return nearest[key] }
        let opaque = SIMD4<Int32>(wanted.x, wanted.y, wanted.z, 0)
        var best = 0
        var least = Int32.max
        for number in shown.indices {
            let difference = shown[number] &- opaque
            let distance = (difference &* difference).wrappedSum()
            if distance < least { (best, least) = (number, distance) }
        }
        nearest[key] = UInt16(best)
        return nearest[key]
    }
}

/// Pixels quantised to sixel colours. They can be read back from our own drawings, to draw a part without quantising
/// again.
struct SixelPixels {
    /// The index of a transparent pixel.
    static let clear = UInt16.max

    /// Red, green and blue, 0 to 100.
    private(set) var colours: [SIMD3<Int>]
    /// The colour index of each pixel, row by row.
    fileprivate(set) var indices: [UInt16]
    let width: Int
    let height: Int

    /// A part, clipped to whole bands, with only the colours it uses.
    func part(_ part: CellRectangle, cellWidth: Int, cellHeight: Int) -> SixelPixels {
        let first = part.rows.lowerBound * cellHeight
        let last = min(height, part.rows.upperBound * cellHeight)
        let rows = max(0, last - first) / SixelGraphics.bandHeight * SixelGraphics.bandHeight
        let columns = part.columns.lowerBound * cellWidth..<part.columns.upperBound * cellWidth
        var own: [SIMD3<Int>] = []
        var numbers = [UInt16](repeating: Self.clear, count: colours.count)
        var pixels: [UInt16] = []
        pixels.reserveCapacity(rows * columns.count)
        for row in first..<first + rows {
            for index in indices[row * width + columns.lowerBound..<row * width + columns.upperBound] {
                guard index != Self.clear else {
                    pixels.append(Self.clear)
                    continue
                }
                if numbers[Int(index)] == Self.clear {
                    numbers[Int(index)] = UInt16(own.count)
                    own.append(colours[Int(index)])
                }
                pixels.append(numbers[Int(index)])
            }
        }
        return SixelPixels(colours: own, indices: pixels, width: columns.count, height: rows)
    }
}

extension SixelPixels {
    /// Reads a drawing of `SixelGraphics`: `ESC P 7;1;q "1;1;W;H`, colours, bands, `ESC \`.
    init(reading drawing: [UInt8]) {
        var reader = SixelReader(drawing)
        let size = reader.numbers(after: UInt8(ascii: "\"")).suffix(2)
        width = size.first ?? 0
        height = size.last ?? 0
        colours = []
        indices = Array(repeating: Self.clear, count: width * height)
        var (colour, column, band) = (0, 0, 0)
        while let byte = reader.next() {
            switch byte {
            case UInt8(ascii: "#"):
                let numbers = reader.numbers()
                colour = numbers[0]
                if numbers.count == 5 { colours.append(SIMD3(numbers[2], numbers[3], numbers[4])) }
            case UInt8(ascii: "$"): column = 0
            case UInt8(ascii: "-"): (column, band) = (0, band + 1)
            case UInt8(ascii: "!"):
                let count = reader.numbers()[0]
                draw(reader.next(), times: count, colour, &column, band)
            default: draw(byte, times: 1, colour, &column, band)
            }
        }
    }

    private mutating func draw(
        _ character: UInt8?, times count: Int, _ colour: Int, _ column: inout Int, _ band: Int
    ) {
        defer { column += count }
        guard let character, case let bits = character &- UInt8(ascii: "?"), bits < 64 else { return }
        for line in 0..<SixelGraphics.bandHeight where bits >> UInt8(line) & 1 == 1 {
            let start = (band * SixelGraphics.bandHeight + line) * width + column
            for place in start..<start + count { indices[place] = UInt16(colour) }
        }
    }
}

/// Reads the bytes of a drawing.
private struct SixelReader {
    private let bytes: [UInt8]
    private var position = 0

    init(_ bytes: [UInt8]) { self.bytes = bytes }

    /// The next byte; nil at the end of the drawing.
    mutating func next() -> UInt8? {
        guard position < bytes.count, bytes[position] != 0x1B else { return nil }
        position += 1
        return bytes[position - 1]
    }

    /// Reads `1;2;3`; at least one number.
    mutating func numbers() -> [Int] {
        var numbers = [0]
        while position < bytes.count {
            switch bytes[position] {
            case let digit where (0x30...0x39).contains(digit):
                numbers[numbers.count - 1] = numbers[numbers.count - 1] * 10 + Int(digit - 0x30)
            case UInt8(ascii: ";"): numbers.append(0)
            default: return numbers
            }
            position += 1
        }
        return numbers
    }

    /// Skips to after a character and reads the numbers there.
    mutating func numbers(after character: UInt8) -> [Int] {
        while position < bytes.count, bytes[position] != character { position += 1 }
        position += 1
        return numbers()
    }
}
