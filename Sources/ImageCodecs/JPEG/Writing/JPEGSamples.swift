/// The samples of one row of minimum coded units: of each component, all its blocks in the row, taken from the pixels of a
/// bitmap.
struct JPEGSamples {
    /// How pixels become components.
    enum Layout {
        /// Luma alone.
        case grey
        /// Luma, and colour of the same resolution.
        case full
        /// Luma, and colour of half the resolution each way.
        case quarter

        /// Pixels along a side of a minimum coded unit.
        var unitSide: Int { self == .quarter ? 16 : 8 }
    }

    typealias Line = ColourSeparation.Line

    let layout: Layout
    private let size: ImageSize
    /// Lines from one row of samples to the next: of luma, of the two others.
    let stride: Int
    let colourStride: Int
    private(set) var luma: [Line]
    private(set) var blue: [Line]
    private(set) var red: [Line]
    private var upper: [ColourSeparation.Words]
    private var lower: [ColourSeparation.Words]
    /// The and of all pixels so far, four by four.
    private var common = ColourSeparation.Words(repeating: .max)
    private let factors: ColourSeparation.Factors

    init(of size: ImageSize, as layout: Layout) {
        self.size = size
        factors = ColourSeparation.Factors()
        self.layout = layout
        let side = layout.unitSide
        let units = (size.width + side - 1) / side
        stride = units * side / 8
        colourStride = layout == .grey ? 0 : units
        luma = [Line](repeating: Line(), count: stride * side)
        blue = [Line](repeating: Line(), count: colourStride * 8)
        red = blue
        upper = [ColourSeparation.Words](repeating: ColourSeparation.Words(), count: stride * 2)
        lower = upper
    }

    /// Whether no pixel so far was translucent.
    var areOpaque: Bool { (0..<4).allSatisfy { common[$0 * 2 + 1] >> 8 == 255 } }

    /// Takes the samples of a row of units. Beyond its edges the picture goes on as it ended there: to the right its last
    /// pixel, below its last row of samples.
    mutating func read(unitRow: Int, of pixels: Span<UInt8>) {
        let side = layout.unitSide
        let step = layout == .quarter ? 2 : 1
        let first = unitRow * side
        let rows = min(side, size.height - first)
        let bytes = size.width * 4
        var row = 0
        while row < rows {
            let start = (first + row) * bytes
            ColourSeparation.pack(pixels.extracting(start..<start + bytes), into: &upper)
            if layout == .quarter {
                // An odd last row counts twice.
                let next = min(first + row + 1, size.height - 1) * bytes
                ColourSeparation.pack(pixels.extracting(next..<next + bytes), into: &lower)
            }
            convert(into: row)
            row += step
        }
        repeatLastRows(rows: rows)
    }

    /// Takes the samples of a row of units from planes that have the layout's resolutions.
    mutating func read(unitRow: Int, of picture: PlanarPicture) {
        let first = unitRow * layout.unitSide
        let rows = min(layout.unitSide, size.height - first)
        let samples = picture.samples.span
        Self.copy(samples, picture.planes[0], rows: first..<first + rows, to: &luma, stride: stride)
        if layout != .grey {
            let colourRows = unitRow * 8..<unitRow * 8 + (layout == .quarter ? (rows + 1) / 2 : rows)
            Self.copy(samples, picture.planes[1], rows: colourRows, to: &blue, stride: colourStride)
            Self.copy(samples, picture.planes[2], rows: colourRows, to: &red, stride: colourStride)
        }
        repeatLastRows(rows: rows)
    }

    private static func copy(
        _ samples: Span<UInt8>, _ plane: PlanarPicture.Plane, rows: Range<Int>, to allLines: inout [Line],
        stride: Int
    ) {
        var lines = allLines.mutableSpan
        let whole = plane.size.width / 8
        for (index, row) in rows.enumerated() {
            let start = plane.offset + row * plane.stride
            for group in 0..<whole {
                let vector = samples.vector8(at: start &+ group &* 8)
                lines[index &* stride &+ group] = lanes { Int16(truncatingIfNeeded: vector[$0]) }
            }
            let last = start + plane.size.width - 1
            for group in whole..<stride {
                lines[index &* stride &+ group] = lanes {
                    Int16(truncatingIfNeeded: samples[min(start &+ group &* 8 &+ $0, last)])
                }
            }
        }
    }

    /// Fills a row of units of which the picture has but so many rows.
    private mutating func repeatLastRows(rows: Int) {
        let side = layout.unitSide
        let colourRows = layout == .quarter ? (rows + 1) / 2 : rows
        for missing in rows..<side { luma.copyLines(rows - 1, to: missing, stride: stride) }
        for missing in colourRows..<8 {
            blue.copyLines(colourRows - 1, to: missing, stride: colourStride)
            red.copyLines(colourRows - 1, to: missing, stride: colourStride)
        }
    }

    /// Converts a row of pixels; where colour has half the resolution, two.
    private mutating func convert(into row: Int) {
        let (upper, lower, factors) = (upper, lower, factors)
        switch layout {
        case .grey: ColourSeparation.grey(upper.span, &common, into: &luma, at: row * stride)
        case .full:
            ColourSeparation.separate(
                upper.span, factors, &common, into: &luma, &blue, &red, at: row * stride)
        case .quarter:
            ColourSeparation.separate(
                upper.span, lower.span, factors, &common, into: &luma, &blue, &red, at: row * stride,
                stride: stride,
                colourAt: row / 2 * colourStride)
        }
    }
}

extension [JPEGSamples.Line] {
    fileprivate mutating func copyLines(_ source: Int, to target: Int, stride: Int) {
        for column in 0..<stride { self[target * stride + column] = self[source * stride + column] }
    }
}
