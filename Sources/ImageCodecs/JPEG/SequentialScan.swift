/// Decodes a scan of a sequential frame: all coefficients of each block at once, directly to samples (T.81 F.2).
struct SequentialScan {
    /// The samples of a component of the scan, and how they are coded.
    private struct Source {
        let plane: JPEGPlanes.Plane
        let coding: SequentialBlock.Coding
    }

    private(set) var units: ScanUnits
    private let sources: [Source]

    /// Creates the decoder of a scan whose data follows `segment`.
    init(
        _ scan: JPEGScan, of frame: JPEGFrame, tables: JPEGTables, planes: [JPEGPlanes.Plane],
        segment: JPEGSegment
    ) throws(ImageDecodingError) {
        var sources: [Source] = []
        for component in scan.components {
            let quantisation = frame.components[component.index].quantisationTable
            guard let dc = tables.sequentialDC(component.dcTable),
                let ac = tables.sequentialAC(component.acTable),
                let steps = tables.quantisation[quantisation]
            else { throw .corrupt(segment: "scan without its tables", offset: segment.offset) }
            let coding = SequentialBlock.Coding(dc: dc, ac: ac, dequantiser: Dequantiser(steps: steps))
            sources.append(Source(plane: planes[component.index], coding: coding))
        }
        self.sources = sources
        units = ScanUnits(scan, of: frame, tables: tables, segment: segment)
    }

    /// Decodes the row of MCUs `row`; missing ones become a flat grey.
    mutating func decodeRow(_ row: Int, from file: Span<UInt8>, into planes: inout JPEGPlanes) {
        let sources = sources
        // The offset of the first sample in each component's row of MCUs.
        var starts = InlineArray<4, Int>(repeating: 0)
        for (component, source) in sources.enumerated() {
            let height = units.rows(of: component) * source.plane.blockSize
            starts[component] = source.plane.start(ofRow: row * height)
        }
        var samples = planes.samples.mutableSpan
        units.decodeRow(from: file, into: &samples) { place, reader, file, prediction, samples in
            // A span avoids copies and reference counting of the tables.
            let sources = sources.span
            let plane = sources[place.component].plane
            let (size, stride) = (plane.blockSize, plane.stride)
            var block = CoefficientBlock(repeating: 0)
            var positions: Int32 = 0
            if !reader.isStopped {
                let coding = sources[place.component].coding
                positions =
                    size > 1
                    ? SequentialBlock.decode(&block, &reader.bits, file, coding, &prediction)
                    : SequentialBlock.decodeFirst(&block, &reader.bits, file, coding, &prediction)
            }
            let isSound = positions >= 0
            InverseDCT.transform(
                block.span, positions: isSound ? positions : ~positions, size: size, into: &samples,
                at: starts[place.component] &+ (place.row &* stride &+ place.column) &* size, stride: stride)
            return isSound
        }
    }
}

/// Decodes one block of a sequential scan (T.81 F.2.2): the difference to the previous DC coefficient, then runs of
/// zeros and coefficients.
enum SequentialBlock {
    /// The coding of a component's blocks.
    struct Coding {
        let dc: JPEGHuffmanTable
        let ac: JPEGHuffmanTable
        let dequantiser: Dequantiser
    }

    private typealias Entry = JPEGHuffmanTable.Entry

    /// Decodes and dequantises a block, which must be zero before. Returns the bitwise or of its coefficients'
    /// positions, for the transform; with all bits inverted, and so negative, after an invalid code or too many
    /// coefficients. As in libjpeg an invalid code is the symbol 0, and coefficients past the end are the last one.
    ///
    /// Not inlined, so that the compiler keeps all values in registers.
    @inline(never)
    static func decode(
        _ block: inout CoefficientBlock, _ reader: inout EntropyBits, _ file: Span<UInt8>, _ coding: Coding,
        _ prediction: inout Int32
    ) -> Int32 {
        var bits = reader
        defer { reader = bits }
        let (ac, dequantiser) = (coding.ac.entries.span, coding.dequantiser.entries.span)
        bits.refill(from: file)
        var isSound = bits.addDifference(to: &prediction, coding.dc.entries.span)
        var positions = Dequantiser.store(
            prediction, at: 0, in: &block, dequantiser, noticingExtremes: true)
        var index = 0
        while index < 63 {
            bits.refill(from: file)
            var entry = ac[bits.peek(JPEGHuffmanTable.rootBits)]
            if Entry.hasCoefficient(entry) {
                bits.skip(Entry.length(entry))
                index &+= Entry.advance(entry)
                positions |= Dequantiser.store(Entry.coefficient(entry), at: index, in: &block, dequantiser)
                continue
            }
            if entry & 0xFF == Entry.secondLevel { entry = bits.secondEntry(in: ac, after: entry) }
            bits.skip(Entry.length(entry))
            let symbol = Entry.symbol(entry)
            if symbol & 15 > 0 {
                index &+= symbol &>> 4 &+ 1
                // Only long values are extreme.
                positions |= Dequantiser.store(
                    bits.takeSigned(symbol & 15), at: index, in: &block, dequantiser, noticingExtremes: true)
            } else if symbol == 0xF0 {
                // A run of sixteen zeros. Some encoders write runs past the end of the block.
                index = min(index &+ 16, 63)
            } else {
                // End of block, or an invalid code.
                isSound = isSound && entry != Entry.invalid
                break
            }
        }
        return isSound && index < 64 ? positions : ~positions
    }

    /// As `decode`, but skips all coefficients except DC.
    @inline(never)
    static func decodeFirst(
        _ block: inout CoefficientBlock, _ reader: inout EntropyBits, _ file: Span<UInt8>, _ coding: Coding,
        _ prediction: inout Int32
    ) -> Int32 {
        var bits = reader
        defer { reader = bits }
        let (ac, dequantiser) = (coding.ac.entries.span, coding.dequantiser.entries.span)
        bits.refill(from: file)
        var isSound = bits.addDifference(to: &prediction, coding.dc.entries.span)
        let positions = Dequantiser.store(prediction, at: 0, in: &block, dequantiser)
        var index = 0
        while index < 63 {
            bits.refill(from: file)
            let entry = bits.entry(in: ac)
            if Entry.hasCoefficient(entry) {
                bits.skip(Entry.length(entry))
                index &+= Entry.advance(entry)
                continue
            }
            let symbol = Entry.symbol(entry)
            bits.skip(Entry.length(entry) &+ symbol & 15)
            if symbol & 15 == 0, symbol != 0xF0 {
                isSound = isSound && entry != Entry.invalid
                break
            }
            index &+= symbol &>> 4 &+ 1
            if symbol == 0xF0 { index = min(index, 63) }
        }
        return isSound && index < 64 ? positions : ~positions
    }
}

/// The 64 coefficients of a block, row by row (T.81 A.3.3).
typealias CoefficientBlock = InlineArray<64, Int16>

/// Moves coefficients from zigzag order to their place in the block, and multiplies them by their steps (T.81 A.3.4).
struct Dequantiser {
    /// For each zigzag index: the position in the block in the lowest six bits, and the step above eight, for a single
    /// load. Indices past the end have the last one's place.
    let entries: [UInt32]

    init(steps: [UInt16]) {
        entries = (0..<128).map { index in
            UInt32(Zigzag.natural[min(index, 63)]) | UInt32(steps[min(index, 63)]) << 8
        }
    }

    /// What `store` returns at least for an extreme product.
    static let extreme: Int32 = 64

    /// Stores the coefficient at `zigzag` (its low seven bits count). Returns its position, in the six lowest bits.
    /// `entries` belong to a dequantiser. Products wrap at 16 bits, which suffice for valid files.
    /// - Parameter noticingExtremes: whether to set higher bits if the product is 2,048 or more, as in no valid file.
    ///   Default: false.
    @inline(__always)
    static func store(
        _ value: Int32, at zigzag: Int, in block: inout CoefficientBlock, _ entries: Span<UInt32>,
        noticingExtremes: Bool = false
    ) -> Int32 {
        let entry = entries[zigzag & 127]
        let position = Int(entry & 63)
        let product = value &* Int32(truncatingIfNeeded: entry &>> 8)
        block[position] = Int16(truncatingIfNeeded: product)
        let magnitude = noticingExtremes ? product ^ (product &>> 31) : 0
        return Int32(truncatingIfNeeded: position) | magnitude &>> 5 & ~63
    }
}
