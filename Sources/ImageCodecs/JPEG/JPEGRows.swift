/// The last stages: converts samples to RGBA rows as soon as the samples are decoded.
struct JPEGRows {
    private let colour: JPEGColour
    /// The conversion of inks; nil for the usual one.
    private let inks: ColourTransform?
    private let size: ImageSize
    /// The pixel rows in a row of MCUs, and how many of the last ones wait for the next row of MCUs.
    private let rowsOfUnit: Int
    private let waitingRows: Int
    private let unitRows: Int
    private let upsamplings: [ChromaUpsampling]
    private var builder: BitmapBuilder
    private var nextRow = 0

    /// Creates the rows of `frame` at `scale`. Inks are converted before anything else.
    init(
        _ frame: JPEGFrame, scale: JPEGScale, colour: JPEGColour, planes: [JPEGPlanes.Plane],
        _ presentation: Presentation
    ) {
        self.colour = colour
        var presentation = presentation
        let isInks = frame.components.count == 4
        inks = isInks ? presentation.transform?.prepared : nil
        if isInks { presentation.transform = nil }
        size = scale.size
        rowsOfUnit = frame.verticalMaximum * scale.blockSize
        unitRows = frame.unitRows
        upsamplings = frame.components.indices.map {
            ChromaUpsampling(frame.components[$0], of: frame, scale: scale, plane: planes[$0])
        }
        waitingRows = upsamplings.contains(where: \.needsNextRow) ? 1 : 0
        builder = BitmapBuilder(source: scale.size, isOpaque: true, presentation)
    }

    /// Adds the samples of all rows of MCUs up to `unitRow`.
    mutating func add(
        upToUnitRow unitRow: Int, of planes: borrowing JPEGPlanes
    ) throws(ImageDecodingError) {
        let isLast = unitRow == unitRows - 1
        let end = isLast ? size.height : min(size.height, (unitRow + 1) * rowsOfUnit - waitingRows)
        let vectors = (size.width + 15) / 16
        // A row of each component at the image's resolution, and a row of the converted pixels.
        var luma = [SIMD16<UInt8>](repeating: SIMD16(), count: vectors)
        var blue = [WideSamples](repeating: WideSamples(), count: vectors)
        var red = blue
        var packed = [ColourConversion.PackedPixels](
            repeating: ColourConversion.PackedPixels(), count: vectors)
        var first = [UInt8](repeating: 0, count: vectors * 16)
        var (second, third, fourth) = (first, first, first)
        while nextRow < end {
            guard builder.needsNextRow else {
                builder.skipRow()
                nextRow += 1
                continue
            }
            if colour.isBasedOnYCbCr {
                upsampleLuma(of: planes, into: &luma, &blue)
                upsample(1, of: planes, into: &blue)
                upsample(2, of: planes, into: &red)
                var packedRow = packed.mutableSpan
                ColourConversion.convert(luma: luma.span, blue: blue.span, red: red.span, into: &packedRow)
            } else {
                upsample(0, of: planes, into: &first, &blue)
                upsample(1, of: planes, into: &second, &blue)
                upsample(2, of: planes, into: &third, &blue)
            }
            upsample(3, of: planes, into: &fourth, &blue)
            let (colour, inks) = (colour, inks)
            try builder.addRow { pixels, range throws(ImageDecodingError) in
                switch colour {
                case .grey: ColourConversion.convert(grey: first.span, into: &pixels, range)
                case .yCbCr: ColourConversion.unpack(packed.span, into: &pixels, range)
                case .rgb:
                    ColourConversion.convert(
                        red: first.span, green: second.span, blue: third.span, into: &pixels, range)
                case .cmyk:
                    ColourConversion.convert(
                        red: first.span, green: second.span, blue: third.span, into: &pixels, range)
                    ColourConversion.addBlack(fourth.span, inks, to: &pixels, range)
                case .ycck:
                    ColourConversion.unpack(packed.span, into: &pixels, range)
                    ColourConversion.complement(&pixels, range)
                    ColourConversion.addBlack(fourth.span, inks, to: &pixels, range)
                }
            }
            nextRow += 1
        }
    }

    private func upsample(_ component: Int, of planes: borrowing JPEGPlanes, into wide: inout [WideSamples]) {
        var row = wide.mutableSpan
        upsamplings[component].upsample(row: nextRow, of: planes.samples.span, into: &row)
    }

    /// Converts to bytes by way of `wide`.
    private func upsample(
        _ component: Int, of planes: borrowing JPEGPlanes, into bytes: inout [UInt8],
        _ wide: inout [WideSamples]
    ) {
        guard component < upsamplings.count else { return }
        upsample(component, of: planes, into: &wide)
        var row = bytes.mutableSpan
        ColourConversion.narrow(wide.span, into: &row)
    }

    /// Upsamples the first component, which almost always has the image's resolution already.
    private func upsampleLuma(
        of planes: borrowing JPEGPlanes, into luma: inout [SIMD16<UInt8>], _ wide: inout [WideSamples]
    ) {
        if upsamplings[0].isCopy {
            var row = luma.mutableSpan
            upsamplings[0].copy(row: nextRow, of: planes.samples.span, into: &row)
        } else {
            upsample(0, of: planes, into: &wide)
            var row = luma.mutableSpan
            ColourConversion.narrow(wide.span, into: &row)
        }
    }

    /// Returns the image, after all rows of MCUs were added.
    consuming func finish(damage: ImageDecodingError?) -> Bitmap {
        builder.finish(damage: damage)
    }
}

/// The samples of all components in one array, as whole blocks: of the whole image, or of a window of two rows of MCUs,
/// where each new row replaces the one before the last.
struct JPEGPlanes {
    /// The position of one component's samples.
    struct Plane {
        let offset: Int
        /// The distance between rows, in samples.
        let stride: Int
        /// The number of stored rows: row `y` is stored at `y % rows`.
        let rows: Int
        /// The samples of a block in each direction.
        let blockSize: Int
        /// The size of the component in samples.
        let size: ImageSize

        /// The offset of a row's first sample.
        func start(ofRow row: Int) -> Int { offset &+ row % rows &* stride }
    }

    let planes: [Plane]
    /// With 1.5 vectors of padding, because vectors may extend past the end of the last row.
    var samples: [UInt8]

    /// Padding for 1.5 vectors, in bytes.
    static let slack = 24
    /// The level of unknown samples.
    static let unknown: UInt8 = 128

    init(_ frame: JPEGFrame, scale: JPEGScale, isWindow: Bool) {
        var offset = 0
        var planes: [Plane] = []
        let unitRows = isWindow ? min(2, frame.unitRows) : frame.unitRows
        for (component, blockSize) in zip(frame.components, scale.componentBlockSizes) {
            let across = component.horizontalFactor * blockSize
            let down = component.verticalFactor * blockSize
            let (fullAcross, fullDown) = (8 * frame.horizontalMaximum, 8 * frame.verticalMaximum)
            let plane = Plane(
                offset: offset, stride: component.blockColumns * blockSize, rows: unitRows * down,
                blockSize: blockSize,
                size: ImageSize(
                    width: (frame.size.width * across + fullAcross - 1) / fullAcross,
                    height: (frame.size.height * down + fullDown - 1) / fullDown))
            planes.append(plane)
            offset += plane.stride * plane.rows
        }
        self.planes = planes
        samples = [UInt8](repeating: Self.unknown, count: offset + Self.slack)
    }
}
