/// The samples of one row of MCUs: all blocks of each component in coding order, each with eight lines.
struct JPEGSamples {
    /// How pixels become components.
    enum Layout {
        /// Only luma.
        case grey
        /// Luma, and chroma of the same resolution.
        case full
        /// Luma, and chroma of half the resolution in each direction.
        case quarter

        /// The side of an MCU in pixels.
        var unitSide: Int { self == .quarter ? 16 : 8 }
    }

    typealias Line = ColourSeparation.Line

    let layout: Layout
    private let size: ImageSize
    private let units: Int
    private(set) var luma: [Line]
    private(set) var blue: [Line]
    private(set) var red: [Line]
    /// The bitwise and of all pixels so far, in groups of four.
    private var common = ColourSeparation.Words(repeating: .max)
    private let factors = ColourSeparation.factors

    init(of size: ImageSize, as layout: Layout) {
        (self.size, self.layout) = (size, layout)
        let side = layout.unitSide
        units = (size.width + side - 1) / side
        // Rows are padded to a multiple of sixteen pixels.
        let blocks = (size.width + 15) / 16 * 2
        luma = [Line](repeating: Line(), count: blocks * side)
        blue = [Line](repeating: Line(), count: layout == .grey ? 0 : blocks * (layout == .quarter ? 4 : 8))
        red = blue
    }

    /// Whether all pixels so far were opaque.
    var areOpaque: Bool { (0..<4).allSatisfy { common[$0 * 2 + 1] >> 8 == 255 } }

    /// The line of eight luma samples. In 4:2:0 an MCU has the upper two blocks, then the lower two.
    private func lumaLine(row: Int, column: Int) -> Int {
        guard layout == .quarter else { return column * 8 + row }
        return (column / 2 * 4 + row / 8 * 2 + column % 2) * 8 + row % 8
    }

    /// Reads the samples of a row of MCUs. Past its edges the image is extended by its last pixel to the right, and by
    /// its last row of samples below.
    mutating func read(unitRow: Int, of pixels: Span<UInt8>) {
        let side = layout.unitSide
        let first = unitRow * side
        let rows = min(side, size.height - first)
        let bytes = size.width * 4
        let whole = size.width / 16 * 64
        for row in stride(from: 0, to: rows, by: layout == .quarter ? 2 : 1) {
            let start = (first + row) * bytes
            let upper = pixels.extracting(start..<start + bytes)
            // An odd last row is used twice.
            let next = min(first + row + 1, size.height - 1) * bytes
            let lower = pixels.extracting(next..<next + bytes)
            // In parts small enough to stay in the first-level cache between luma and chroma.
            for part in stride(from: 0, to: whole, by: Self.bytesOfPart) {
                let range = part..<min(part + Self.bytesOfPart, whole)
                convert(upper.extracting(range), lower.extracting(range), column: part / 32, row: row)
            }
            if whole < bytes {
                let upperEnd = Self.end(of: upper, from: whole)
                let lowerEnd = Self.end(of: lower, from: whole)
                convert(upperEnd.span, lowerEnd.span, column: whole / 32, row: row)
            }
        }
        repeatLastRows(rows: rows)
    }

    private static let bytesOfPart = 2048

    /// Sixteen pixels of a row, padded with the last pixel.
    private static func end(of row: Span<UInt8>, from start: Int) -> InlineArray<64, UInt8> {
        var end = InlineArray<64, UInt8>(repeating: 0)
        for pixel in 0..<16 {
            let place = min(start + pixel * 4, row.count - 4)
            let bytes = row.extracting(place..<place + 4)
            for channel in 0..<4 { end[pixel &* 4 &+ channel] = bytes[channel] }
        }
        return end
    }

    /// Converts a row of pixels, or two rows for half the chroma resolution, sixteen pixels at a time.
    private mutating func convert(_ upper: Span<UInt8>, _ lower: Span<UInt8>, column: Int, row: Int) {
        let factors = factors
        let line = lumaLine(row: row, column: column)
        common &= ColourSeparation.luma(
            upper, factors.span, into: &luma, at: line, step: layout == .quarter ? 32 : 16)
        switch layout {
        case .grey: break
        case .full: ColourSeparation.colour(upper, factors.span, blue: &blue, red: &red, at: line)
        case .quarter:
            common &= ColourSeparation.luma(
                lower, factors.span, into: &luma, at: line + 1, step: 32)
            ColourSeparation.colour(
                upper, lower, factors.span, blue: &blue, red: &red, at: column * 4 + row / 2)
        }
    }

    /// Reads the samples of a row of MCUs from planes with the layout's resolutions.
    mutating func read(unitRow: Int, of picture: PlanarPicture) {
        let first = unitRow * layout.unitSide
        let rows = min(layout.unitSide, size.height - first)
        let samples = picture.samples.span
        let step = layout == .quarter ? 32 : 16
        for row in 0..<rows {
            let line = lumaLine(row: row, column: 0)
            Self.copy(samples, picture.planes[0], row: first + row, to: &luma, at: line, step: step)
        }
        if layout != .grey {
            for row in 0..<(layout == .quarter ? (rows + 1) / 2 : rows) {
                let place = unitRow * 8 + row
                Self.copy(samples, picture.planes[1], row: place, to: &blue, at: row, step: 16)
                Self.copy(samples, picture.planes[2], row: place, to: &red, at: row, step: 16)
            }
        }
        repeatLastRows(rows: rows)
    }

    /// Copies a row of samples to lines, in the order of `ColourSeparation.luma`, for as many blocks as fit.
    private static func copy(
        _ samples: Span<UInt8>, _ plane: PlanarPicture.Plane, row: Int, to allLines: inout [Line],
        at line: Int, step: Int
    ) {
        var lines = allLines.mutableSpan
        let start = plane.offset + row * plane.stride
        let whole = plane.size.width / 8
        let last = start + plane.size.width - 1
        var block = 0
        while true {
            let target = line &+ block / 2 &* step &+ block % 2 &* 8
            guard target < lines.count else { return }
            let place = start &+ block &* 8
            if block < whole {
                let vector = samples.vector8(at: place)
                lines[target] = lanes { Int16(truncatingIfNeeded: vector[$0]) } &<< Line(repeating: 4)
            } else {
                lines[target] =
                    lanes { Int16(truncatingIfNeeded: samples[min(place &+ $0, last)]) }
                    &<< Line(repeating: 4)
            }
            block &+= 1
        }
    }

    /// Fills a row of MCUs by repeating the last of the `rows` rows that the image has.
    private mutating func repeatLastRows(rows: Int) {
        let side = layout.unitSide
        for missing in rows..<side {
            for column in 0..<units * side / 8 {
                luma[lumaLine(row: missing, column: column)] = luma[lumaLine(row: rows - 1, column: column)]
            }
        }
        guard layout != .grey else { return }
        let colourRows = layout == .quarter ? (rows + 1) / 2 : rows
        for missing in colourRows..<8 {
            for unit in 0..<units {
                blue[unit * 8 + missing] = blue[unit * 8 + colourRows - 1]
                red[unit * 8 + missing] = red[unit * 8 + colourRows - 1]
            }
        }
    }
}

/// Converts RGBA to YCbCr as in JFIF 1.02, rounded as in libjpeg:
///
///     Y  =  0.299    R + 0.587    G + 0.114    B
///     Cb = -0.168736 R - 0.331264 G + 0.5      B + 128
///     Cr =  0.5      R - 0.418688 G - 0.081312 B + 128
///
/// Each component is the sum of two products for red and blue and of one for green: two instructions for four pixels on
/// most machines. All samples are multiplied by 16, as `ForwardDCT` expects.
enum ColourSeparation {
    /// Eight neighbouring samples of a row.
    typealias Line = SIMD8<Int16>
    /// Four pixels as words: red below green, then blue below alpha.
    typealias Words = SIMD8<UInt16>
    private typealias Quad = SIMD4<Int32>

    /// The factors with sixteen fraction bits, paired for red and blue. Those of 32768 and more are split, so that all
    /// fit into 16 bits. An array hides the constants from the compiler, which would otherwise split the products.
    static var factors: [Line] {
        [
            // Luma: red and blue, and half of green.
            pair(19595, 7471), pair(19235, 0),
            // Cb and Cr, negated, so that 0.5 is a factor of -32768.
            pair(11059, -32768), pair(21709, 0), pair(-32768, 5329), pair(27439, 0),
            // A quarter of inverted pairs; the mask for red and blue; the shift of green.
            pair(-16384, -16384), Line(repeating: 255), Line(repeating: 8),
        ]
    }

    private static func pair(_ a: Int16, _ b: Int16) -> Line { Line(a, b, a, b, a, b, a, b) }

    /// Converts a row of pixels to luma, eight at a time; the luma of a grey pixel is its level. `start` is the line of
    /// the first eight. The next eight are in the next block, and each further sixteen are `step` lines on. Returns the
    /// bitwise and of all pixels, in groups of four.
    @inline(never)
    static func luma(
        _ pixels: Span<UInt8>, _ factors: Span<Line>, into allLines: inout [Line], at start: Int, step: Int
    ) -> Words {
        precondition(factors.count == 9)
        var lines = allLines.mutableSpan
        var common = Words(repeating: .max)
        for pair in 0..<pixels.count / 64 {
            let bytes = pixels.extracting(pair &* 64..<pair &* 64 &+ 64)
            let line = start &+ pair &* step
            precondition(line >= 0 && line < lines.count - 8)
            let (a, b, c, d) = (words(bytes, 0), words(bytes, 16), words(bytes, 32), words(bytes, 48))
            common &= a & b & c & d
            lines[line] = narrow(luma(a, factors), luma(b, factors)) &<< Line(repeating: 4)
            lines[line &+ 8] = narrow(luma(c, factors), luma(d, factors)) &<< Line(repeating: 4)
        }
        return common
    }

    /// The luma of four pixels.
    @inline(__always)
    private static func luma(_ words: Words, _ factors: Span<Line>) -> Quad {
        let (redBlue, green) = split(words, factors)
        let half = pairProducts(green, factors[1])
        let sum = pairProducts(redBlue, factors[0]) &+ half &+ half &+ Quad(repeating: 32768)
        return sum &>> Quad(repeating: 16)
    }

    /// Converts a row of pixels to chroma, eight at a time; see `luma`.
    @inline(never)
    static func colour(
        _ pixels: Span<UInt8>, _ factors: Span<Line>, blue allBlue: inout [Line], red allRed: inout [Line],
        at start: Int
    ) {
        precondition(factors.count == 9)
        var blue = allBlue.mutableSpan
        var red = allRed.mutableSpan
        for block in 0..<pixels.count / 32 {
            let bytes = pixels.extracting(block &* 32..<block &* 32 &+ 32)
            let line = start &+ block &* 8
            precondition(line >= 0 && line < blue.count && line < red.count)
            let colour = Colour(words(bytes, 0), words(bytes, 16), factors)
            blue[line] = ~colour.blue &<< Line(repeating: 4)
            red[line] = ~colour.red &<< Line(repeating: 4)
        }
    }

    /// Converts two rows to chroma at half the resolution, sixteen pixels by two at a time.
    @inline(never)
    static func colour(
        _ upper: Span<UInt8>, _ lower: Span<UInt8>, _ factors: Span<Line>, blue allBlue: inout [Line],
        red allRed: inout [Line], at start: Int
    ) {
        precondition(factors.count == 9)
        var blue = allBlue.mutableSpan
        var red = allRed.mutableSpan
        for unit in 0..<upper.count / 64 {
            let above = upper.extracting(unit &* 64..<unit &* 64 &+ 64)
            let below = lower.extracting(unit &* 64..<unit &* 64 &+ 64)
            let line = start &+ unit &* 8
            precondition(line >= 0 && line < blue.count && line < red.count)
            let upperLeft = Colour(words(above, 0), words(above, 16), factors)
            let lowerLeft = Colour(words(below, 0), words(below, 16), factors)
            let leftBlue = means(upperLeft.blue &+ lowerLeft.blue, factors)
            let leftRed = means(upperLeft.red &+ lowerLeft.red, factors)
            let upperRight = Colour(words(above, 32), words(above, 48), factors)
            let lowerRight = Colour(words(below, 32), words(below, 48), factors)
            let rightBlue = means(upperRight.blue &+ lowerRight.blue, factors)
            let rightRed = means(upperRight.red &+ lowerRight.red, factors)
            blue[line] = narrow(leftBlue, rightBlue) &<< Line(repeating: 4)
            red[line] = narrow(leftRed, rightRed) &<< Line(repeating: 4)
        }
    }

    /// The chroma of eight pixels, with all bits inverted.
    private struct Colour {
        let blue, red: Line

        @inline(__always)
        init(_ left: Words, _ right: Words, _ factors: Span<Line>) {
            let (first, second) = (split(left, factors), split(right, factors))
            blue = narrow(Self.sum(first, factors[2], factors[3]), Self.sum(second, factors[2], factors[3]))
            red = narrow(Self.sum(first, factors[4], factors[5]), Self.sum(second, factors[4], factors[5]))
        }

        @inline(__always)
        private static func sum(_ pixels: (redBlue: Line, green: Line), _ a: Line, _ b: Line) -> Quad {
            // 128, libjpeg's rounding of slightly less than a half, and 1 for the inverted bits.
            let sum =
                pairProducts(pixels.redBlue, a) &+ pairProducts(pixels.green, b)
                &- Quad(repeating: 128 << 16 + 32767 + 1)
            return sum &>> Quad(repeating: 16)
        }
    }

    /// Averages pairs of column sums, each of two inverted samples, and rounds down and up alternately; in the upper
    /// halves.
    @inline(__always)
    private static func means(_ sums: Line, _ factors: Span<Line>) -> Quad {
        let (down, up) = (Int32(1 - 4) << 14, Int32(2 - 4) << 14)
        return (pairProducts(sums, factors[6]) &+ Quad(down, up, down, up)) &>> Quad(repeating: 16)
    }

    @inline(__always)
    private static func narrow(_ left: Quad, _ right: Quad) -> Line {
        lanes { Int16(truncatingIfNeeded: $0 < 4 ? left[$0] : right[$0 - 4]) }
    }

    @inline(__always)
    private static func words(_ bytes: Span<UInt8>, _ start: Int) -> Words {
        lanes { UInt16(bytes[start &+ $0 &* 2]) | UInt16(bytes[start &+ $0 &* 2 &+ 1]) &<< 8 }
    }

    @inline(__always)
    private static func split(_ words: Words, _ factors: Span<Line>) -> (redBlue: Line, green: Line) {
        let bits = Words(repeating: UInt16(truncatingIfNeeded: factors[8][0]))
        let low = words & Words(truncatingIfNeeded: factors[7])
        return (Line(truncatingIfNeeded: low), Line(truncatingIfNeeded: words &>> bits))
    }
}
