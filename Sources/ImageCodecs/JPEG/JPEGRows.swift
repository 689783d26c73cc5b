/// The last stages: samples to rows of RGBA, as soon as the samples are there.
struct JPEGRows {
    private let colour: JPEGColour
    private let size: ImageSize
    /// Rows of pixels in a row of minimum coded units, and how many of the last ones wait for the next.
    private let rowsOfUnit: Int
    private let waitingRows: Int
    private let unitRows: Int
    private let upsamplings: [ChromaUpsampling]
    private var builder: BitmapBuilder
    private var nextRow = 0

    /// A picture of `frame` at `scale`, to be made `result` large.
    init(
        _ frame: JPEGFrame, scale: JPEGScale, colour: JPEGColour, planes: [JPEGPlanes.Plane],
        result: ImageSize
    ) {
        self.colour = colour
        size = scale.size
        rowsOfUnit = frame.verticalMaximum * scale.blockSize
        unitRows = frame.unitRows
        upsamplings = frame.components.indices.map {
            ChromaUpsampling(frame.components[$0], of: frame, scale: scale, plane: planes[$0])
        }
        waitingRows = upsamplings.contains(where: \.needsNextRow) ? 1 : 0
        builder = BitmapBuilder(source: scale.size, result: result, isOpaque: true)
    }

    /// Takes the samples of all rows of units up to `unitRow`.
    mutating func add(
        upToUnitRow unitRow: Int, of planes: borrowing JPEGPlanes
    ) throws(ImageDecodingError) {
        let isLast = unitRow == unitRows - 1
        let end = isLast ? size.height : min(size.height, (unitRow + 1) * rowsOfUnit - waitingRows)
        // A row of each component at the picture's resolution. A whole number of vectors, and another, since the last
        // that upsampling stores may begin with the last sample.
        let length = (size.width + 15) / 16 * 16 + 16
        var first = [UInt8](repeating: 0, count: length)
        var second = first
        var third = first
        var fourth = first
        var sums = [UInt16](repeating: 0, count: length)
        var packed = [ColourConversion.PackedPixels](repeating: SIMD8(), count: length / 4)
        while nextRow < end {
            upsample(0, of: planes, into: &first, &sums, &packed)
            upsample(1, of: planes, into: &second, &sums, &packed)
            upsample(2, of: planes, into: &third, &sums, &packed)
            upsample(3, of: planes, into: &fourth, &sums, &packed)
            if colour.isBasedOnYCbCr {
                var packedRow = packed.mutableSpan
                ColourConversion.convert(
                    luma: first.span, blue: second.span, red: third.span, into: &packedRow)
            }
            let colour = colour
            try builder.addRow { pixels, range throws(ImageDecodingError) in
                switch colour {
                case .grey: ColourConversion.convert(grey: first.span, into: &pixels, range)
                case .yCbCr: ColourConversion.unpack(packed.span, into: &pixels, range)
                case .rgb:
                    ColourConversion.convert(
                        red: first.span, green: second.span, blue: third.span, into: &pixels, range)
                case .cmyk(let isInverted):
                    ColourConversion.convert(
                        red: first.span, green: second.span, blue: third.span, into: &pixels, range)
                    ColourConversion.addBlack(fourth.span, isInverted: isInverted, to: &pixels, range)
                case .ycck(let isInverted):
                    // YCbCr of what the inks leave to white.
                    ColourConversion.unpack(packed.span, into: &pixels, range)
                    ColourConversion.complement(&pixels, range)
                    ColourConversion.addBlack(fourth.span, isInverted: isInverted, to: &pixels, range)
                }
            }
            nextRow += 1
        }
    }

    private func upsample(
        _ component: Int, of planes: borrowing JPEGPlanes, into output: inout [UInt8], _ sums: inout [UInt16],
        _ pairs: inout [SIMD8<UInt16>]
    ) {
        guard component < upsamplings.count else { return }
        var row = output.mutableSpan
        var work = sums.mutableSpan
        var morePairs = pairs.mutableSpan
        upsamplings[component].upsample(
            row: nextRow, of: planes.samples.span, into: &row, sums: &work, pairs: &morePairs)
    }

    /// The picture; all rows of units must have been added.
    consuming func finish(isComplete: Bool) -> Bitmap { builder.finish(isComplete: isComplete) }
}
