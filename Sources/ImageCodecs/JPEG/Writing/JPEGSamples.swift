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

    init(of bitmap: Bitmap, as layout: Layout) {
        size = bitmap.size
        factors = ColourSeparation.Factors()
        self.layout = layout
        let side = layout.unitSide
        let units = (bitmap.width + side - 1) / side
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
        for missing in min(row, side)..<side { luma.copyLines(row - 1, to: missing, stride: stride) }
        for missing in row / step..<8 {
            blue.copyLines(row / step - 1, to: missing, stride: colourStride)
            red.copyLines(row / step - 1, to: missing, stride: colourStride)
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
