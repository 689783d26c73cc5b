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
