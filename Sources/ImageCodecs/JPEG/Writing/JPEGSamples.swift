/// The samples of one row of minimum coded units: of each component, all its blocks in the row, taken from the pixels of a
/// bitmap. Samples are signed: a level of 128 is 0.
struct JPEGSamples {
    /// How pixels become components.
    enum Layout {
        /// Luma alone.
        case grey
        /// Luma, and colour of the same resolution.
        case full
        /// Luma, and colour of half the resolution each way.
        case quarter

        var unitSide: Int { self == .quarter ? 16 : 8 }
    }

    let layout: Layout
    private let size: ImageSize
    private let units: Int
    /// Samples from one row to the next: of luma, of the two others.
    let stride: Int
    let colourStride: Int
    private(set) var luma: [UInt8]
    private(set) var blue: [UInt8]
    private(set) var red: [UInt8]
    /// The and of all pixels so far, eight by eight.
    private var common = ColourSeparation.Words(repeating: .max)

    init(of bitmap: Bitmap, as layout: Layout) {
        size = bitmap.size
        self.layout = layout
        let side = layout.unitSide
        units = (bitmap.width + side - 1) / side
        stride = units * side
        colourStride = layout == .grey ? 0 : units * 8
        luma = [UInt8](repeating: 0, count: stride * side)
        blue = [UInt8](repeating: 0, count: colourStride * 8)
        red = blue
    }

    /// Whether no pixel so far was translucent.
    var areOpaque: Bool {
        (0..<8).allSatisfy { common[$0] >> 24 == 255 }
    }

    /// Takes the samples of a row of units. Beyond its edges the picture goes on as it ended there: to the right its last
    /// pixel, below its last row of samples.
    mutating func read(unitRow: Int, of pixels: Span<UInt8>) {
        let side = layout.unitSide
        let step = layout == .quarter ? 2 : 1
        let first = unitRow * side
        let rows = min(side, size.height - first)
        let bytes = size.width * 4
        let whole = size.width / side
        var row = 0
        while row < rows {
            let upper = pixels.extracting((first + row) * bytes..<(first + row + 1) * bytes)
            // An odd last row counts twice.
            let next = min(first + row + 1, size.height - 1)
            let lower = pixels.extracting(next * bytes..<(next + 1) * bytes)
            convert(upper, lower, units: 0..<whole, into: row)
            if whole < units {
                let (last, lastLower) = (
                    Self.padded(upper.extracting((whole * side * 4)...), to: side),
                    Self.padded(lower.extracting((whole * side * 4)...), to: side)
                )
                convert(last.span, lastLower.span, units: whole..<whole + 1, into: row)
            }
            row += step
        }
        for missing in min(row, side)..<side { luma.copyRow(row - 1, to: missing, stride: stride) }
        for missing in row / step..<8 {
            blue.copyRow(row / step - 1, to: missing, stride: colourStride)
            red.copyRow(row / step - 1, to: missing, stride: colourStride)
        }
    }

    /// Converts a row of pixels; where colour has half the resolution, two.
    private mutating func convert(
        _ upper: Span<UInt8>, _ lower: Span<UInt8>, units: Range<Int>, into row: Int
    ) {
        let start = row &* stride &+ units.lowerBound &* layout.unitSide
        let colourStart = (layout == .quarter ? row / 2 : row) &* colourStride &+ units.lowerBound &* 8
        switch layout {
        case .grey: ColourSeparation.grey(upper, units: units.count, &common, into: &luma, at: start)
        case .full:
            ColourSeparation.separate(
                upper, units: units.count, &common, into: &luma, &blue, &red, at: start)
        case .quarter:
            ColourSeparation.separate(
                upper, lower, units: units.count, &common, into: &luma, &blue, &red, at: start, stride: stride,
                colourAt: colourStart)
        }
    }

    private static func padded(_ pixels: Span<UInt8>, to count: Int) -> [UInt8] {
        (0..<count * 4).map { pixels[min($0, pixels.count - 4 + $0 % 4)] }
    }
}

extension [UInt8] {
    fileprivate mutating func copyRow(_ source: Int, to target: Int, stride: Int) {
        for column in 0..<stride { self[target * stride + column] = self[source * stride + column] }
    }
}
