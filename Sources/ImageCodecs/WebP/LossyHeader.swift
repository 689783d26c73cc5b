/// The header of a VP8 key frame (RFC 6386 section 9), which its first partition continues:
///
///     90 3C 00        bit 0: no key frame, 3 bits version, 1 bit shown, 19 bits length of the first partition
///     9D 01 2A        start code
///     40 01 F0 00     14 bits width and 2 bits scale, the same for the height
///     ...             the first partition: header, then the mode of each macroblock
///     ...             three bytes for the length of each further partition but the last, then these: coefficients
struct LossyHeader {
    /// A macroblock has 16 x 16 pixels.
    let size: ImageSize
    /// The first partition, behind the header.
    var modes: LossyBits
    /// The partitions of coefficients: 1, 2, 4 or 8. A row of macroblocks uses one.
    var coefficients: [LossyBits] = []
    /// The probabilities of a macroblock's segment, if the macroblocks say theirs.
    private(set) var segmentProbabilities: (UInt8, UInt8, UInt8)?
    /// The dequantisation and the filter of each segment.
    private(set) var segments: [LossySegment] = []
    private(set) var hasSimpleFilter = false
    /// The probabilities of a coefficient's decisions, by kind of block, position, context and decision.
    private(set) var probabilities: [UInt8] = []
    /// The probability that a macroblock has coefficients, if the macroblocks say so.
    private(set) var skipProbability: UInt8?

    /// The number of probabilities for a position, and for a kind of block.
    static let positionStride = LossyTables.contexts * LossyTables.decisions
    static let kindStride = positionStride * LossyTables.bandOfPosition.count

    init(_ data: Range<Int>, of file: Span<UInt8>) throws(ImageDecodingError) {
        let start = data.lowerBound
        let bytes = file.extracting(data)
        guard bytes.count >= 10, let tag = bytes.littleEndian24(at: 0) else {
            throw .truncated(offset: file.count)
        }
        guard tag & 1 == 0, tag >> 1 & 7 <= 3, tag >> 4 & 1 == 1, bytes.hasBytes([0x9D, 0x01, 0x2A], at: 3)
        else { throw .corrupt(segment: "VP8 key frame", offset: start) }
        size = ImageSize(
            width: (bytes.littleEndian16(at: 6) ?? 0) & 0x3FFF,
            height: (bytes.littleEndian16(at: 8) ?? 0) & 0x3FFF)
        let first = start + 10..<start + 10 + tag >> 5
        guard first.upperBound <= data.upperBound else { throw .truncated(offset: file.count) }
        modes = LossyBits(first)
        // The colour space has only one value, and clamping is never wrong.
        _ = modes.number(2, in: file)
        let parts = readSegments(file)
        let filter = readFilter(file)
        try readPartitions(modes.number(2, in: file), first.upperBound..<data.upperBound, file)
        readSteps(parts, filter, file)
        // Whether the probabilities are kept for the next frame.
        _ = modes.flag(in: file)
        readProbabilities(file)
        if modes.flag(in: file) { skipProbability = UInt8(modes.number(8, in: file)) }
        guard !modes.overran else { throw .corrupt(segment: "header of VP8", offset: start) }
    }

    /// What a segment changes (section 9.3).
    private struct SegmentParts {
        var isAbsolute = true
        var quantisers = [0, 0, 0, 0]
        var filterLevels = [0, 0, 0, 0]
    }

    private struct Filter {
        let level: Int
        let sharpness: Int
        /// The change for macroblocks of one mode, and the further one for those of 4 x 4 blocks.
        let delta: Int
        let deltaOfBlocks: Int
    }

    private mutating func readSegments(_ file: Span<UInt8>) -> SegmentParts? {
        guard modes.flag(in: file) else { return nil }
        let hasMap = modes.flag(in: file)
        var parts = SegmentParts()
        if modes.flag(in: file) {
            parts.isAbsolute = modes.flag(in: file)
            for index in 0..<4 { parts.quantisers[index] = modes.optionalSigned(7, in: file) }
            for index in 0..<4 { parts.filterLevels[index] = modes.optionalSigned(6, in: file) }
        }
        if hasMap {
            var read: [UInt8] = []
            for _ in 0..<3 {
                read.append(modes.flag(in: file) ? UInt8(modes.number(8, in: file)) : 255)
            }
            segmentProbabilities = (read[0], read[1], read[2])
        }
        return parts
    }

    /// Section 9.6.
    private mutating func readFilter(_ file: Span<UInt8>) -> Filter {
        hasSimpleFilter = modes.flag(in: file)
        let level = modes.number(6, in: file)
        let sharpness = modes.number(3, in: file)
        var deltas = [Int](repeating: 0, count: 8)
        if modes.flag(in: file), modes.flag(in: file) {
            for index in deltas.indices { deltas[index] = modes.optionalSigned(6, in: file) }
        }
        // Of four references there is one in a key frame, and of four modes only the first differs.
        return Filter(level: level, sharpness: sharpness, delta: deltas[0], deltaOfBlocks: deltas[4])
    }

    /// Section 9.5. A file that is cut off has fewer bytes in its partitions.
    private mutating func readPartitions(
        _ exponent: Int, _ range: Range<Int>, _ file: Span<UInt8>
    ) throws(ImageDecodingError) {
        let count = 1 << exponent
        var start = range.lowerBound + 3 * (count - 1)
        guard start <= range.upperBound else { throw .truncated(offset: file.count) }
        for index in 0..<count {
            let length = file.littleEndian24(at: range.lowerBound + 3 * index) ?? 0
            let end = index == count - 1 ? range.upperBound : min(start + length, range.upperBound)
            coefficients.append(LossyBits(start..<end))
            start = end
        }
    }

    /// Sections 9.6 and 14.1.
    private mutating func readSteps(_ parts: SegmentParts?, _ filter: Filter, _ file: Span<UInt8>) {
        let base = modes.number(7, in: file)
        var deltas: [Int] = []
        for _ in 0..<5 { deltas.append(modes.optionalSigned(4, in: file)) }
        for index in 0..<(parts == nil ? 1 : 4) {
            var quantiser = base
            var level = filter.level
            if let parts {
                quantiser = parts.quantisers[index] + (parts.isAbsolute ? 0 : base)
                level = parts.filterLevels[index] + (parts.isAbsolute ? 0 : level)
            }
            func step(_ steps: [Int16], _ delta: Int, most: Int = 127) -> Int32 {
                Int32(steps[min(max(quantiser + delta, 0), most)])
            }
            let dc = LossyTables.dcSteps
            let ac = LossyTables.acSteps
            segments.append(
                LossySegment(
                    luma: .init(dc: step(dc, deltas[0]), ac: step(ac, 0)),
                    lumaDC: .init(
                        dc: step(dc, deltas[1]) * 2, ac: max(8, step(ac, deltas[2]) * 155 / 100)),
                    chroma: .init(dc: step(dc, deltas[3], most: 117), ac: step(ac, deltas[4])),
                    zero: SIMD8(repeating: Int16(base >> 7)),
                    filter: strength(level + filter.delta, filter, isOn: filter.level > 0),
                    filterOfBlocks: strength(
                        level + filter.delta + filter.deltaOfBlocks, filter, isOn: filter.level > 0)))
        }
    }

    /// Section 15.2.
    private func strength(_ level: Int, _ filter: Filter, isOn: Bool) -> LossySegment.Filter? {
        let level = min(max(level, 0), 63)
        guard isOn, level > 0 else { return nil }
        var interior = level
        if filter.sharpness > 0 {
            interior >>= filter.sharpness > 4 ? 2 : 1
            interior = min(interior, 9 - filter.sharpness)
        }
        interior = max(interior, 1)
        return LossySegment.Filter(
            edge: Int16(2 * level + interior), interior: Int16(interior),
            variance: level >= 40 ? 2 : level >= 15 ? 1 : 0, zero: SIMD8(repeating: Int16(level >> 6)))
    }

    /// Section 13.4.
    private mutating func readProbabilities(_ file: Span<UInt8>) {
        var read = LossyTables.coefficients
        for index in read.indices where modes.read(LossyTables.updates[index], in: file) {
            read[index] = UInt8(modes.number(8, in: file))
        }
        let stride = Self.positionStride
        for kind in 0..<4 {
            for band in LossyTables.bandOfPosition {
                let start = (kind * LossyTables.bands + band) * stride
                probabilities += read[start..<start + stride]
            }
        }
    }
}

/// How the macroblocks of a segment are dequantised and filtered.
struct LossySegment {
    struct Steps {
        let dc: Int32
        let ac: Int32
    }

    /// The limits of the loop filter (RFC 6386 section 15.2).
    struct Filter {
        /// The limit of the difference across an edge inside a macroblock. Between macroblocks it is 4 more.
        let edge: Int16
        /// The limit of the differences beside an edge.
        let interior: Int16
        /// Differences beside an edge above this are of high variance.
        let variance: Int16
        /// Zeros that the compiler does not know; see `LossyFilter`.
        let zero: SIMD8<Int16>
    }

    let luma: Steps
    let lumaDC: Steps
    let chroma: Steps
    /// Zeros that the compiler does not know; see `LossyFilter`.
    let zero: SIMD8<Int16>
    /// The filter of macroblocks of one mode, and of 4 x 4 blocks; nil for none.
    let filter: Filter?
    let filterOfBlocks: Filter?
}
