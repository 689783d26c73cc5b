/// Decodes a scan of a sequential frame: all coefficients of each block at once, directly to samples (T.81 F.2).
struct SequentialScan {
    /// The data for one component of the scan.
    private struct Source {
        /// The component's index in the frame.
        let component: Int
        let plane: JPEGPlanes.Plane
        let coding: SequentialBlock.Coding
        /// The blocks of an MCU.
        let columns: Int
        let rows: Int
        /// The height of an MCU in samples.
        var height: Int { rows &* plane.blockSize }
    }

    /// The MCUs of the scan.
    let units: ImageSize
    private let sources: [Source]
    private var reader: EntropyReader
    private var predictions = Predictions(repeating: 0)

    private typealias Predictions = InlineArray<4, Int32>
    /// For each component, the offset of the samples of the row of MCUs.
    private typealias Lines = InlineArray<4, Int>

    /// Creates the decoder of a scan whose data follows `segment`.
    init(
        _ scan: JPEGScan, of frame: JPEGFrame, tables: JPEGTables, planes: [JPEGPlanes.Plane],
        segment: JPEGSegment
    ) throws(ImageDecodingError) {
        var sources: [Source] = []
        let isInterleaved = scan.components.count > 1
        for component in scan.components {
            let inFrame = frame.components[component.index]
            guard let dc = tables.sequentialDC(component.dcTable),
                let ac = tables.sequentialAC(component.acTable),
                let steps = tables.quantisation[inFrame.quantisationTable]
            else { throw .corrupt(segment: "scan without its tables", offset: segment.offset) }
            sources.append(
                Source(
                    component: component.index,
                    plane: planes[component.index],
                    coding: SequentialBlock.Coding(dc: dc, ac: ac, dequantiser: Dequantiser(steps: steps)),
                    columns: isInterleaved ? inFrame.horizontalFactor : 1,
                    rows: isInterleaved ? inFrame.verticalFactor : 1))
        }
        self.sources = sources
        units = frame.units(of: scan)
        reader = EntropyReader(at: segment.body.upperBound, restartInterval: tables.restartInterval)
    }

    /// What was wrong with the scan's data.
    var damage: ImageDecodingError? { reader.damage }

    /// Where to search for the marker after the scan.
    var end: Int { reader.bits.position }

    /// Decodes the row of MCUs `row`; missing ones become a flat grey.
    mutating func decodeRow(_ row: Int, from file: Span<UInt8>, into planes: inout JPEGPlanes) {
        // A span avoids copies and reference counting of the tables.
        let kept = self.sources
        let sources = kept.span
        var samples = planes.samples.mutableSpan
        var reader = reader
        var predictions = predictions
        defer {
            self.reader = reader
            self.predictions = predictions
        }
        var lines = Lines(repeating: 0)
        for position in sources.indices {
            lines[position] = sources[position].plane.start(ofRow: row &* sources[position].height)
        }
        for column in 0..<units.width {
            if reader.beginUnit(in: file) { predictions = Predictions(repeating: 0) }
            if reader.isStopped {
                Self.blank(sources, row: row, column: column, &samples)
                continue
            }
            let isSound = Self.decodeUnit(
                sources, lines, column: column, &reader.bits, file, &predictions, into: &samples)
            reader.endUnit(isSound: isSound, in: file)
        }
    }

    /// Decodes one MCU: some blocks of each component, row by row (T.81 A.2). False for an invalid code or too many
    /// coefficients.
    @inline(__always)
    private static func decodeUnit(
        _ sources: Span<Source>, _ lines: Lines, column: Int, _ bits: inout EntropyBits, _ file: Span<UInt8>,
        _ predictions: inout Predictions, into samples: inout MutableSpan<UInt8>
    ) -> Bool {
        var isSound = true
        for position in sources.indices {
            let plane = sources[position].plane
            var line = lines[position] &+ column &* sources[position].columns &* plane.blockSize
            for _ in 0..<sources[position].rows {
                var origin = line
                line &+= plane.stride &* plane.blockSize
                for _ in 0..<sources[position].columns {
                    var block = CoefficientBlock(repeating: 0)
                    var positions =
                        plane.blockSize > 1
                        ? SequentialBlock.decode(
                            &block, &bits, file, sources[position].coding, &predictions[position])
                        : SequentialBlock.decodeFirst(
                            &block, &bits, file, sources[position].coding, &predictions[position])
                    if positions < 0 {
                        positions = ~positions
                        isSound = false
                    }
                    InverseDCT.transform(
                        block.span, positions: positions, size: plane.blockSize, into: &samples, at: origin,
                        stride: plane.stride)
                    origin &+= plane.blockSize
                }
            }
        }
        return isSound
    }

    private static func blank(
        _ sources: Span<Source>, row: Int, column: Int, _ samples: inout MutableSpan<UInt8>
    ) {
        for position in sources.indices {
            let plane = sources[position].plane
            let (columns, rows) = (sources[position].columns, sources[position].rows)
            let (width, height) = (columns &* plane.blockSize, rows &* plane.blockSize)
            for line in 0..<height {
                let start = plane.start(ofRow: row &* height &+ line) &+ column &* width
                for index in start..<start &+ width { samples[index] = JPEGPlanes.unknown }
            }
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
        var positions = Dequantiser.store(prediction, at: 0, in: &block, dequantiser)
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
                positions |= Dequantiser.store(
                    bits.takeSigned(symbol & 15), at: index, in: &block, dequantiser)
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

    /// Stores the coefficient at `zigzag` (its low seven bits count) and returns its position. `entries` belong to a
    /// dequantiser. Products wrap at 16 bits, which suffice for valid files.
    @inline(__always)
    static func store(
        _ value: Int32, at zigzag: Int, in block: inout CoefficientBlock, _ entries: Span<UInt32>
    ) -> Int32 {
        let entry = entries[zigzag & 127]
        let position = Int(entry & 63)
        block[position] = Int16(truncatingIfNeeded: value &* Int32(truncatingIfNeeded: entry &>> 8))
        return Int32(truncatingIfNeeded: position)
    }
}
