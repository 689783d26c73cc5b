/// Decodes the rows of a lossy image (VP8 key frame, RFC 6386), a row of macroblocks at a time.
///
/// Prediction reads samples before the loop filter, so the last row of each macroblock is kept unfiltered. The filter
/// changes up to three rows above an edge, and the chroma of a row of pixels comes from two rows. So of each row of
/// macroblocks the last rows are finished with the next one; a band of planes holds both.
struct LossyRows {
    let size: ImageSize
    /// The rows of pixels that are finished with the last row of macroblocks.
    private(set) var finished = 0..<0
    private var header: LossyHeader
    private var band: Band
    private var nextRow = 0
    private let columns: Int
    private let rowCount: Int
    private var colour: LossyColour

    /// The unfiltered samples above each macroblock, and four more, as long as a row of macroblocks.
    private var above: Above
    /// What the macroblock to the left and those above have, as contexts.
    private var contexts: Contexts
    /// The macroblock in work, the modes of its 4 x 4 blocks, and its coefficients: 16 luma blocks, 4 of each chroma, and
    /// the DCs of luma.
    private var modes = [UInt8](repeating: 0, count: 16)
    private var block = [LossyBlock.Four](repeating: .zero, count: LossyBlock.count)
    private var coefficients = [Int16](repeating: 0, count: 25 * 16)
    /// The filter of each macroblock of the row.
    private var filters: [MacroblockFilter]

    /// The samples above the image.
    private static let outside = LossyBlock.Four(repeating: 127)

    private struct Above {
        var luma: [LossyBlock.Four]
        var u: [LossyBlock.Four]
        var v: [LossyBlock.Four]
    }

    private struct MacroblockFilter {
        var limits: LossySegment.Filter?
        var hasInner = false
    }

    private struct Contexts {
        /// The modes of the 4 x 4 blocks above, and to the left.
        var modesAbove: [UInt8]
        var modesLeft = SIMD4<UInt8>()
        /// Whether the blocks above, and to the left, have coefficients: four of luma, two of each chroma, and one for
        /// the DCs.
        var filledAbove: [UInt16]
        var filledLeft: UInt16 = 0
    }

    /// The samples of the row of macroblocks in work, and the last rows of the one before, eight in an element.
    struct Band {
        /// The rows kept of luma and chroma: those that the filter may change, and one more.
        static let keptLuma = 9
        static let keptChroma = 5
        /// The elements of a row.
        let lumaStride: Int
        let chromaStride: Int
        var luma: [LossyFilter.Lanes]
        var u: [LossyFilter.Lanes]
        var v: [LossyFilter.Lanes]
        /// The number of the first row of luma and chroma in the planes.
        var firstLuma = -keptLuma
        var firstChroma = -keptChroma

        init(columns: Int) {
            lumaStride = columns * 2
            chromaStride = columns
            luma = [LossyFilter.Lanes](repeating: .zero, count: lumaStride * (Self.keptLuma + 16))
            u = [LossyFilter.Lanes](repeating: .zero, count: chromaStride * (Self.keptChroma + 8))
            v = u
        }

        /// Moves the last rows to the beginning.
        mutating func advance() {
            Self.move(&luma, by: 16 * lumaStride)
            Self.move(&u, by: 8 * chromaStride)
            Self.move(&v, by: 8 * chromaStride)
            firstLuma += 16
            firstChroma += 8
        }

        private static func move(_ plane: inout [LossyFilter.Lanes], by distance: Int) {
            var span = plane.mutableSpan
            for index in 0..<span.count - distance { span[index] = span[index &+ distance] }
        }
    }

    init(_ data: Range<Int>, of file: Span<UInt8>, size: ImageSize) throws(ImageDecodingError) {
        header = try LossyHeader(data, of: file)
        guard header.size == size else { throw .corrupt(segment: "size of VP8", offset: data.lowerBound) }
        self.size = size
        columns = (size.width + 15) / 16
        rowCount = (size.height + 15) / 16
        band = Band(columns: columns)
        colour = LossyColour(width: size.width)
        above = Above(
            luma: [LossyBlock.Four](repeating: Self.outside, count: columns * 4 + 1),
            u: [LossyBlock.Four](repeating: Self.outside, count: columns * 2),
            v: [LossyBlock.Four](repeating: Self.outside, count: columns * 2))
        contexts = Contexts(
            modesAbove: [UInt8](repeating: LossyBlock.Mode.dc, count: columns * 4),
            filledAbove: [UInt16](repeating: 0, count: columns))
        filters = [MacroblockFilter](repeating: MacroblockFilter(), count: columns)
    }

    /// Whether a row of macroblocks is left.
    var hasNext: Bool { nextRow < rowCount }

    /// Decodes the next row of macroblocks; false if the file ends before.
    mutating func decodeRow(in file: Span<UInt8>) -> Bool {
        if nextRow > 0 { band.advance() }
        let partition = nextRow % header.coefficients.count
        var bits = header.coefficients[partition]
        contexts.modesLeft = SIMD4()
        contexts.filledLeft = 0
        for column in 0..<columns { decodeMacroblock(column, &bits, in: file) }
        header.coefficients[partition] = bits
        Self.filter(&band, filters, hasAbove: nextRow > 0, isSimple: header.hasSimpleFilter)
        nextRow += 1
        finished = finished.upperBound..<(hasNext ? nextRow * 16 - Band.keptLuma : size.height)
        return !bits.overran && !header.modes.overran
    }

    /// Converts a finished row to RGBA.
    mutating func convert(_ row: Int, into pixels: inout MutableSpan<UInt8>, _ range: Range<Int>) {
        let last = (size.height - 1) / 2
        let near = row / 2
        let far = min(max(row % 2 == 0 ? near - 1 : near + 1, 0), last)
        colour.convert(
            band, luma: (row - band.firstLuma) * band.lumaStride,
            near: (near - band.firstChroma) * band.chromaStride,
            far: (far - band.firstChroma) * band.chromaStride, into: &pixels, range)
    }

    private mutating func decodeMacroblock(_ column: Int, _ bits: inout LossyBits, in file: Span<UInt8>) {
        var segment = 0
        if let probabilities = header.segmentProbabilities {
            segment =
                header.modes.read(probabilities.0, in: file)
                ? 2 + (header.modes.read(probabilities.2, in: file) ? 1 : 0)
                : (header.modes.read(probabilities.1, in: file) ? 1 : 0)
        }
        let isSkipped = header.skipProbability.map { header.modes.read($0, in: file) } ?? false
        let mode = readModes(column, in: file)
        let chromaMode = readChromaMode(in: file)
        let parts = header.segments[min(segment, header.segments.count - 1)]
        var ends = BlockEnds()
        if isSkipped {
            // Macroblocks of 4 x 4 blocks have no DCs apart, so they keep that context.
            let kept: UInt16 = mode == nil ? 1 << Self.dcBit : 0
            contexts.filledAbove[column] &= kept
            contexts.filledLeft &= kept
        } else {
            ends = Self.readCoefficients(
                hasDC: mode != nil, parts, above: &contexts.filledAbove[column], left: &contexts.filledLeft,
                header.probabilities, &bits, in: file, into: &coefficients)
        }
        let place = Place(
            column: column, hasAbove: nextRow > 0, hasLeft: column > 0, isLast: column == columns - 1)
        Self.predict(mode, modes, chromaMode, ends, zero: parts.zero, at: place, above, &block, coefficients)
        if ends.isFilled { Self.clear(&coefficients) }
        Self.store(block, column, &band, &above)
        filters[column] = MacroblockFilter(
            limits: mode == nil ? parts.filterOfBlocks : parts.filter, hasInner: mode == nil || ends.isFilled)
    }

    /// The mode of the whole macroblock; nil if each 4 x 4 block has its own, which are then the contexts.
    private mutating func readModes(_ column: Int, in file: Span<UInt8>) -> UInt8? {
        let first = column * 4
        if header.modes.read(145, in: file) {
            let mode =
                header.modes.read(156, in: file)
                ? (header.modes.read(128, in: file)
                    ? LossyBlock.Mode.trueMotion : LossyBlock.Mode.horizontal)
                : (header.modes.read(163, in: file) ? LossyBlock.Mode.vertical : LossyBlock.Mode.dc)
            for index in 0..<4 { contexts.modesAbove[first + index] = mode }
            contexts.modesLeft = SIMD4(repeating: mode)
            return mode
        }
        Self.readModes(
            &header.modes, in: file, above: &contexts.modesAbove, first, &contexts.modesLeft, &modes)
        return nil
    }

    private static func readModes(
        _ bits: inout LossyBits, in file: Span<UInt8>, above: inout [UInt8], _ first: Int,
        _ left: inout SIMD4<UInt8>, _ modes: inout [UInt8]
    ) {
        // A copy stays in registers.
        var reader = bits
        defer { bits = reader }
        let table = LossyTables.modes
        let probabilities = table.span
        var above = above.mutableSpan
        var modes = modes.mutableSpan
        for row in 0..<4 {
            var mode = left[row]
            for column in 0..<4 {
                let start = (Int(above[first &+ column]) &* 10 &+ Int(mode)) &* 9
                mode = readMode(&reader, in: file, probabilities.extracting(start..<start &+ 9))
                above[first &+ column] = mode
                modes[row &* 4 &+ column] = mode
            }
            left[row] = mode
        }
    }

    /// RFC 6386 section 11.2: a tree of nine decisions.
    @inline(__always)
    private static func readMode(
        _ bits: inout LossyBits, in file: Span<UInt8>, _ probabilities: Span<UInt8>
    ) -> UInt8 {
        typealias Mode = LossyBlock.Mode
        bits.reserve(in: file)
        guard bits.take(probabilities[0]) else { return Mode.dc }
        guard bits.take(probabilities[1]) else { return Mode.trueMotion }
        guard bits.take(probabilities[2]) else { return Mode.vertical }
        if !bits.take(probabilities[3]) {
            guard bits.take(probabilities[4]) else { return Mode.horizontal }
            return bits.take(probabilities[5]) ? Mode.verticalRight : Mode.downRight
        }
        guard bits.take(probabilities[6]) else { return Mode.downLeft }
        guard bits.take(probabilities[7]) else { return Mode.verticalLeft }
        return bits.take(probabilities[8]) ? Mode.horizontalUp : Mode.horizontalDown
    }

    private mutating func readChromaMode(in file: Span<UInt8>) -> UInt8 {
        guard header.modes.read(142, in: file) else { return LossyBlock.Mode.dc }
        guard header.modes.read(114, in: file) else { return LossyBlock.Mode.vertical }
        return header.modes.read(183, in: file) ? LossyBlock.Mode.trueMotion : LossyBlock.Mode.horizontal
    }

    // MARK: Coefficients

    /// The position after the last coefficient of each block.
    private struct BlockEnds {
        var ends = InlineArray<25, UInt8>(repeating: 0)
        /// Whether any block has coefficients.
        var isFilled = false
    }

    /// The bit of the DCs in a context.
    private static let dcBit = 8

    private static func readCoefficients(
        hasDC: Bool, _ parts: LossySegment, above: inout UInt16, left: inout UInt16, _ probabilities: [UInt8],
        _ bits: inout LossyBits, in file: Span<UInt8>, into coefficients: inout [Int16]
    ) -> BlockEnds {
        var result = BlockEnds()
        // A copy stays in registers.
        var reader = bits
        defer { bits = reader }
        let probabilities = probabilities.span
        let order = LossyTables.zigzag
        let zigzag = order.span
        var output = coefficients.mutableSpan
        let first = hasDC ? 1 : 0
        // The planes are the DCs, luma, and both of chroma. The bits of the contexts: luma from 0, chroma from 4 and 6.
        for plane in (hasDC ? 0 : 1)..<4 {
            let side = plane == 0 ? 1 : plane == 1 ? 4 : 2
            let firstBit = plane == 0 ? dcBit : plane == 1 ? 0 : plane &* 2
            let steps = plane == 0 ? parts.lumaDC : plane == 1 ? parts.luma : parts.chroma
            let kind =
                plane == 0
                ? LossyCoefficients.Kind.lumaDC
                : plane > 1
                    ? LossyCoefficients.Kind.chroma
                    : hasDC ? LossyCoefficients.Kind.lumaWithoutDC : LossyCoefficients.Kind.luma
            let least = plane == 1 ? first : 0
            var index = plane == 0 ? 24 : plane == 1 ? 0 : plane &* 4 &+ 8
            for row in 0..<side {
                let leftBit = UInt16(truncatingIfNeeded: firstBit &+ row)
                var before = left &>> leftBit & 1
                for column in 0..<side {
                    let bit = UInt16(truncatingIfNeeded: firstBit &+ column)
                    let end = LossyCoefficients.read(
                        &reader, in: file, probabilities, kind: kind,
                        context: Int(above &>> bit & 1 &+ before),
                        steps, first: least, into: &output, at: index &* 16, zigzag: zigzag)
                    before = end > least ? 1 : 0
                    above = above & ~(1 &<< bit) | before &<< bit
                    result.ends[index] = UInt8(truncatingIfNeeded: end)
                    if plane > 0, before > 0 || output[index &* 16] != 0 { result.isFilled = true }
                    index &+= 1
                }
                left = left & ~(1 &<< leftBit) | before &<< leftBit
            }
            if plane == 0, result.ends[24] > 0 {
                LossyBlock.spreadDC(&output, from: 24 * 16, end: Int(result.ends[24]))
            }
        }
        return result
    }

    // MARK: Samples

    private static func clear(_ coefficients: inout [Int16]) {
        var coefficients = coefficients.mutableSpan
        for index in 0..<coefficients.count { coefficients[index] = 0 }
    }

    /// Where a macroblock lies.
    private struct Place {
        let column: Int
        let hasAbove: Bool
        let hasLeft: Bool
        let isLast: Bool
    }

    private static func predict(
        _ mode: UInt8?, _ modes: [UInt8], _ chromaMode: UInt8, _ ends: BlockEnds, zero: SIMD8<Int16>,
        at place: Place, _ above: Above, _ block: inout [LossyBlock.Four], _ coefficients: [Int16]
    ) {
        var block = block.mutableSpan
        let coefficients = coefficients.span
        surround(LossyBlock.luma, 4, above.luma.span, place, &block)
        surround(LossyBlock.u, 2, above.u.span, place, &block)
        surround(LossyBlock.v, 2, above.v.span, place, &block)
        if let mode {
            LossyBlock.predict(
                mode, side: 4, at: LossyBlock.luma, hasAbove: place.hasAbove, hasLeft: place.hasLeft, &block)
        } else {
            addCorners(above.luma.span, place, &block)
        }
        // Most macroblocks of even parts have no differences.
        for index in 0..<16 where mode == nil || ends.isFilled {
            let start = LossyBlock.luma &+ (index &>> 2) &* 4 &* LossyBlock.stride &+ index & 3
            if mode == nil { LossyBlock.predictFour(modes[index], at: start, &block) }
            guard ends.isFilled else { continue }
            LossyBlock.addDifferences(
                coefficients.extracting(index &* 16..<index &* 16 &+ 16), end: Int(ends.ends[index]),
                at: start,
                &block, zero: zero)
        }
        for plane in 0..<2 {
            let first = plane == 0 ? LossyBlock.u : LossyBlock.v
            LossyBlock.predict(
                chromaMode, side: 2, at: first, hasAbove: place.hasAbove, hasLeft: place.hasLeft, &block)
            for index in 0..<4 where ends.isFilled {
                let start = first &+ (index &>> 1) &* 4 &* LossyBlock.stride &+ index & 1
                let number = 16 &+ 4 &* plane &+ index
                LossyBlock.addDifferences(
                    coefficients.extracting(number &* 16..<number &* 16 &+ 16), end: Int(ends.ends[number]),
                    at: start, &block, zero: zero)
            }
        }
    }

    /// Puts the samples around a plane into the block: above from the row before, to the left from the last
    /// macroblock, which is still in the block (RFC 6386 section 12.2 and 12.3).
    private static func surround(
        _ start: Int, _ side: Int, _ above: Span<LossyBlock.Four>, _ place: Place,
        _ block: inout MutableSpan<LossyBlock.Four>
    ) {
        let stride = LossyBlock.stride
        let before = start &- 1
        if place.hasLeft {
            for row in -1..<side &* 4 {
                block[before &+ row &* stride] = block[before &+ row &* stride &+ side]
            }
        } else {
            let left = LossyBlock.Four(repeating: 129)
            block[before &- stride] = place.hasAbove ? left : outside
            for row in 0..<side &* 4 { block[before &+ row &* stride] = left }
        }
        for column in 0..<side { block[start &- stride &+ column] = above[place.column &* side &+ column] }
    }

    /// Puts the samples above and to the right of a macroblock beside each row of its 4 x 4 blocks. Right of the last
    /// macroblock its last sample is repeated.
    private static func addCorners(
        _ above: Span<LossyBlock.Four>, _ place: Place, _ block: inout MutableSpan<LossyBlock.Four>
    ) {
        let next = (place.column &+ 1) &* 4
        let corner =
            place.isLast && place.hasAbove ? LossyBlock.Four(repeating: above[next &- 1][3]) : above[next]
        for row in 0..<4 {
            block[LossyBlock.luma &+ (row &* 4 &- 1) &* LossyBlock.stride &+ 4] = corner
        }
    }

    /// Copies the macroblock to the band, and its last rows to those above the next.
    private static func store(
        _ block: [LossyBlock.Four], _ column: Int, _ band: inout Band, _ above: inout Above
    ) {
        let block = block.span
        copy(block, LossyBlock.luma, 4, column, &band.luma, band.lumaStride, Band.keptLuma, &above.luma)
        copy(block, LossyBlock.u, 2, column, &band.u, band.chromaStride, Band.keptChroma, &above.u)
        copy(block, LossyBlock.v, 2, column, &band.v, band.chromaStride, Band.keptChroma, &above.v)
    }

    private static func copy(
        _ block: Span<LossyBlock.Four>, _ start: Int, _ side: Int, _ column: Int,
        _ plane: inout [LossyFilter.Lanes], _ stride: Int, _ keptRows: Int, _ above: inout [LossyBlock.Four]
    ) {
        var plane = plane.mutableSpan
        var above = above.mutableSpan
        for part in 0..<side / 2 {
            var source = start &+ 2 &* part
            var target = keptRows &* stride &+ column &* side / 2 &+ part
            for _ in 0..<side &* 4 {
                plane[target] = LossyFilter.Lanes(lowHalf: block[source], highHalf: block[source &+ 1])
                source &+= LossyBlock.stride
                target &+= stride
            }
        }
        let last = start &+ (side &* 4 &- 1) &* LossyBlock.stride
        for part in 0..<side { above[column &* side &+ part] = block[last &+ part] }
    }

    private static func filter(
        _ band: inout Band, _ filters: [MacroblockFilter], hasAbove: Bool, isSimple: Bool
    ) {
        let (lumaStride, chromaStride) = (band.lumaStride, band.chromaStride)
        var luma = band.luma.mutableSpan
        for (column, filter) in filters.enumerated() {
            guard let limits = filter.limits else { continue }
            LossyFilter.filter(
                &luma, at: Band.keptLuma * lumaStride + column * 2, stride: lumaStride, columns: 2,
                hasLeft: column > 0, hasAbove: hasAbove, hasInner: filter.hasInner, limits, isSimple: isSimple
            )
        }
        guard !isSimple else { return }
        filterChroma(&band.u, chromaStride, filters, hasAbove: hasAbove)
        filterChroma(&band.v, chromaStride, filters, hasAbove: hasAbove)
    }

    private static func filterChroma(
        _ plane: inout [LossyFilter.Lanes], _ stride: Int, _ filters: [MacroblockFilter], hasAbove: Bool
    ) {
        var plane = plane.mutableSpan
        for (column, filter) in filters.enumerated() {
            guard let limits = filter.limits else { continue }
            LossyFilter.filter(
                &plane, at: Band.keptChroma * stride + column, stride: stride, columns: 1,
                hasLeft: column > 0,
                hasAbove: hasAbove, hasInner: filter.hasInner, limits, isSimple: false)
        }
    }
}
