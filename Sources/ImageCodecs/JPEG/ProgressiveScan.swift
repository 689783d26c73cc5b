/// Decodes a scan of a progressive frame (T.81 G.2): some coefficients of all blocks, or one more bit of them.
struct ProgressiveScan {
    private let scan: JPEGScan
    private let frame: JPEGFrame
    private let dc: [JPEGHuffmanTable]
    private let ac: JPEGHuffmanTable?
    private let units: ImageSize
    private var reader: EntropyReader

    /// Creates the decoder of a scan whose data follows `segment`.
    init(
        _ scan: JPEGScan, of frame: JPEGFrame, tables: JPEGTables, segment: JPEGSegment
    ) throws(ImageDecodingError) {
        self.scan = scan
        self.frame = frame
        let missing = ImageDecodingError.corrupt(segment: "scan without its tables", offset: segment.offset)
        var dc: [JPEGHuffmanTable] = []
        if scan.isDC, !scan.isRefinement {
            for component in scan.components {
                guard let table = tables.dc[component.dcTable] else { throw missing }
                dc.append(table)
            }
        }
        self.dc = dc
        ac = scan.isDC ? nil : scan.components.first.flatMap { tables.ac[$0.acTable] }
        guard scan.isDC || ac != nil else { throw missing }
        units = frame.units(of: scan)
        reader = EntropyReader(at: segment.body.upperBound, restartInterval: tables.restartInterval)
    }

    /// What was wrong with the scan's data.
    var damage: ImageDecodingError? { reader.damage }

    /// Where to search for the marker after the scan.
    var end: Int { reader.bits.position }

    /// Decodes the scan, as far as there is data.
    mutating func decode(from file: Span<UInt8>, into coefficients: inout JPEGCoefficients) {
        if let ac {
            decodeAC(ac.entries.span, from: file, into: &coefficients)
        } else {
            decodeDC(from: file, into: &coefficients)
        }
    }

    // MARK: The first coefficient

    private mutating func decodeDC(from file: Span<UInt8>, into coefficients: inout JPEGCoefficients) {
        let tables = dc
        var reader = reader
        defer { self.reader = reader }
        var predictions = InlineArray<4, Int32>(repeating: 0)
        for row in 0..<units.height {
            for column in 0..<units.width {
                if reader.isFinished { return }
                if reader.beginUnit(in: file) { predictions = InlineArray(repeating: 0) }
                if reader.isStopped { continue }
                let isSound = decodeUnit(
                    row: row, column: column, tables.span, &reader.bits, file, &predictions,
                    into: &coefficients)
                reader.endUnit(isSound: isSound, in: file)
            }
        }
    }

    @inline(__always)
    private func decodeUnit(
        row: Int, column: Int, _ tables: Span<JPEGHuffmanTable>, _ bits: inout EntropyBits,
        _ file: Span<UInt8>,
        _ predictions: inout InlineArray<4, Int32>, into coefficients: inout JPEGCoefficients
    ) -> Bool {
        let isInterleaved = scan.components.count > 1
        var isSound = true
        for position in scan.components.indices {
            let index = scan.components[position].index
            let columns = isInterleaved ? frame.components[index].horizontalFactor : 1
            let rows = isInterleaved ? frame.components[index].verticalFactor : 1
            for blockRow in 0..<rows {
                for blockColumn in 0..<columns {
                    let block = coefficients.block(
                        of: index, row: row &* rows &+ blockRow, column: column &* columns &+ blockColumn)
                    bits.refill(from: file)
                    if scan.isRefinement {
                        refineFirst(block, &bits, in: &coefficients)
                    } else {
                        let isKnown = decodeFirst(
                            block, tables[position], &bits, &predictions[position], into: &coefficients)
                        isSound = isSound && isKnown
                    }
                }
            }
        }
        return isSound
    }

    @inline(__always)
    private func refineFirst(
        _ block: JPEGCoefficients.Block, _ bits: inout EntropyBits, in coefficients: inout JPEGCoefficients
    ) {
        guard bits.take(1) == 1 else { return }
        coefficients.values[block.start] |= 1 &<< Int16(scan.approximationLow)
    }

    @inline(__always)
    private func decodeFirst(
        _ block: JPEGCoefficients.Block, _ table: JPEGHuffmanTable, _ bits: inout EntropyBits,
        _ prediction: inout Int32, into coefficients: inout JPEGCoefficients
    ) -> Bool {
        let isKnown = bits.addDifference(to: &prediction, table.entries.span)
        coefficients.values[block.start] = Int16(
            truncatingIfNeeded: prediction &<< Int32(scan.approximationLow))
        return isKnown
    }

    // MARK: The others

    /// Decodes AC coefficients of one component, so an MCU is a block (T.81 G.1.1.1).
    private mutating func decodeAC(
        _ table: Span<UInt32>, from file: Span<UInt8>, into coefficients: inout JPEGCoefficients
    ) {
        guard let component = scan.components.first?.index else { return }
        var reader = reader
        defer { self.reader = reader }
        let part = SpectralSelection(
            first: scan.spectrum.lowerBound, last: scan.spectrum.upperBound, shift: scan.approximationLow)
        // The remaining blocks of an end-of-band run.
        var endOfBlockRun = 0
        for row in 0..<units.height where !reader.isFinished {
            let block = coefficients.block(of: component, row: row, column: 0)
            decodeRow(
                from: block, part, table, &reader, &endOfBlockRun, file, &coefficients.values,
                &coefficients.used)
        }
    }

    private func decodeRow(
        from first: JPEGCoefficients.Block, _ part: SpectralSelection, _ table: Span<UInt32>,
        _ reader: inout EntropyReader, _ endOfBlockRun: inout Int, _ file: Span<UInt8>,
        _ values: inout [Int16], _ used: inout [UInt64]
    ) {
        var values = values.mutableSpan
        var used = used.mutableSpan
        var block = first
        var column = 0
        while column < units.width {
            // In an end-of-band run, blocks without coefficients to refine take no bits.
            let passed = part.skippable(
                min(endOfBlockRun, units.width &- column, reader.unitsToRestart), from: block.index,
                isRefinement: scan.isRefinement, used.span)
            if passed > 0 {
                reader.skipUnits(passed)
                endOfBlockRun &-= passed
                block.index &+= passed
                column &+= passed
                continue
            }
            if reader.beginUnit(in: file) { endOfBlockRun = 0 }
            var isSound = true
            if reader.isStopped {
                endOfBlockRun = 0
            } else if scan.isRefinement {
                isSound = part.refine(
                    block.start, &endOfBlockRun, &reader.bits, file, table, &values, &used[block.index])
            } else if endOfBlockRun > 0 {
                endOfBlockRun &-= 1
            } else {
                isSound = part.decode(
                    block.start, &endOfBlockRun, &reader.bits, file, table, &values, &used[block.index])
            }
            if !reader.isStopped { reader.endUnit(isSound: isSound, in: file) }
            block.index &+= 1
            column &+= 1
        }
    }
}

/// A spectral selection: the coefficients `first` to `last` of each block, in zigzag order, in an AC scan of a
/// progressive frame (T.81 G.1.2.2 and G.1.2.3).
struct SpectralSelection {
    let first: Int
    let last: Int
    /// The point transform: how far values are shifted to the left.
    let shift: Int

    private typealias Entry = JPEGHuffmanTable.Entry

    /// Decodes a block as in a sequential scan, but with end-of-band runs over several blocks. The block's coefficients
    /// begin at `start` in `values`; `used` has a bit for each nonzero one. False for an invalid code, which is the
    /// symbol 0 as in libjpeg, and for coefficients past the selection, which are kept in the block.
    @inline(__always)
    func decode(
        _ start: Int, _ endOfBlockRun: inout Int, _ bits: inout EntropyBits, _ file: Span<UInt8>,
        _ table: Span<UInt32>, _ values: inout MutableSpan<Int16>, _ used: inout UInt64
    ) -> Bool {
        var index = first
        var found: UInt64 = 0
        defer { used |= found }
        while index <= last {
            bits.refill(from: file)
            let entry = bits.entry(in: table)
            bits.skip(Entry.length(entry))
            let value: Int32
            if Entry.hasCoefficient(entry) {
                index &+= Entry.advance(entry) &- 1
                value = Entry.coefficient(entry)
            } else {
                let (run, size) = (Entry.symbol(entry) &>> 4, Entry.symbol(entry) & 15)
                index &+= run
                if size == 0 {
                    if run < 15 {
                        endOfBlockRun = 1 &<< run &+ bits.take(run) &- 1
                        return entry != Entry.invalid
                    }
                    index &+= 1
                    continue
                }
                value = bits.takeSigned(size)
            }
            let place = min(index, 63)
            values[start &+ place] = Int16(truncatingIfNeeded: value &<< Int32(shift))
            found |= 1 &<< UInt64(truncatingIfNeeded: place)
            if index > last { return false }
            index &+= 1
        }
        return true
    }

    /// How many of the next `count` blocks of an end-of-band run take no bits: in a refinement those before the first
    /// with a coefficient of this selection, otherwise all.
    @inline(__always)
    fileprivate func skippable(_ count: Int, from block: Int, isRefinement: Bool, _ used: Span<UInt64>) -> Int
    {
        guard isRefinement else { return count }
        let mask = UInt64.max &>> UInt64(truncatingIfNeeded: 63 &- last) & UInt64.max &<< UInt64(first)
        var passed = 0
        while passed < count, used[block &+ passed] & mask == 0 { passed &+= 1 }
        return passed
    }

    /// Refines each nonzero coefficient by one bit, and adds new coefficients of one bit between them.
    @inline(__always)
    fileprivate func refine(
        _ start: Int, _ endOfBlockRun: inout Int, _ bits: inout EntropyBits, _ file: Span<UInt8>,
        _ table: Span<UInt32>, _ values: inout MutableSpan<Int16>, _ used: inout UInt64
    ) -> Bool {
        let bit = Int16(1) &<< Int16(shift)
        var isSound = true
        var index = first
        while endOfBlockRun == 0, index <= last {
            bits.refill(from: file)
            let entry = bits.entry(in: table)
            var run = Entry.symbol(entry) &>> 4
            var new: Int16 = 0
            if Entry.hasCoefficient(entry) {
                // The magnitude has one bit. Of a longer one, as in libjpeg, the first counts.
                let size = 32 &- abs(Entry.coefficient(entry)).leadingZeroBitCount
                isSound = isSound && size == 1
                bits.skip(Entry.length(entry) &- size &+ 1)
                run = Entry.advance(entry) &- 1
                new = Entry.coefficient(entry) > 0 ? bit : -bit
            } else {
                bits.skip(Entry.length(entry))
                if Entry.symbol(entry) & 15 > 0 {
                    isSound = isSound && Entry.symbol(entry) & 15 == 1
                    new = bits.take(1) == 1 ? bit : -bit
                } else if run < 15 {
                    isSound = isSound && entry != Entry.invalid
                    endOfBlockRun = 1 &<< run &+ bits.take(run)
                    break
                }
            }
            index = refine(from: index, skippingZeros: run, start, &bits, file, &values, used)
            if new != 0 {
                let place = min(index, 63)
                isSound = isSound && index <= last
                values[start &+ place] = new
                used |= 1 &<< UInt64(truncatingIfNeeded: place)
            }
            index &+= 1
        }
        if endOfBlockRun > 0 {
            _ = refine(from: index, skippingZeros: 64, start, &bits, file, &values, used)
            endOfBlockRun &-= 1
        }
        return isSound
    }

    /// Refines nonzero coefficients up to the zero after `skippingZeros` zeros. Returns the index of that zero, or of
    /// the end.
    @inline(__always)
    private func refine(
        from first: Int, skippingZeros: Int, _ start: Int, _ bits: inout EntropyBits, _ file: Span<UInt8>,
        _ values: inout MutableSpan<Int16>, _ used: UInt64
    ) -> Int {
        let bit = Int16(1) &<< Int16(shift)
        var index = first
        var zeros = skippingZeros
        while index <= last {
            let gap = (used &>> UInt64(truncatingIfNeeded: index)).trailingZeroBitCount
            if gap > zeros { return min(index &+ zeros, last &+ 1) }
            zeros &-= gap
            index &+= gap
            if index > last { break }
            bits.refill(from: file)
            if bits.take(1) == 1 {
                let value = values[start &+ index]
                if value & bit == 0 { values[start &+ index] = value > 0 ? value &+ bit : value &- bit }
            }
            index &+= 1
        }
        return last &+ 1
    }
}

/// The coefficients of a progressive frame, collected over its scans: 64 per block in zigzag order, the blocks of a
/// component row by row, one component after another.
struct JPEGCoefficients {
    /// A block's index among all blocks, and the start of its coefficients.
    struct Block {
        var index: Int
        var start: Int { index &* 64 }
    }

    var values: [Int16]
    /// For each block, a bit for each AC coefficient that was ever set, so that zeros can be skipped.
    var used: [UInt64]
    /// For each coefficient of each component, the bits that it still lacks; nil before its first scan.
    private var missingBits: [[Int?]]
    private let starts: [Int]
    private let columns: [Int]

    init(_ frame: JPEGFrame) {
        var starts: [Int] = []
        var total = 0
        for component in frame.components {
            starts.append(total)
            total += component.blockColumns * component.blockRows
        }
        self.starts = starts
        columns = frame.components.map(\.blockColumns)
        values = [Int16](repeating: 0, count: total * 64)
        used = [UInt64](repeating: 0, count: total)
        missingBits = Array(repeating: Array(repeating: nil, count: 64), count: frame.components.count)
    }

    /// Notes a scan.
    /// - Returns: whether it goes on where the scans before it ended. If not, some bits never come.
    mutating func follows(_ scan: JPEGScan) -> Bool {
        var follows = true
        for component in scan.components {
            if scan.spectrum.lowerBound > 0, missingBits[component.index][0] == nil { follows = false }
            for position in scan.spectrum {
                if missingBits[component.index][position] ?? 0 != scan.approximationHigh { follows = false }
                missingBits[component.index][position] = scan.approximationLow
            }
        }
        return follows
    }

    func block(of component: Int, row: Int, column: Int) -> Block {
        Block(index: starts[component] &+ row &* columns[component] &+ column)
    }

    /// Transforms one component's blocks in a row of MCUs to samples.
    func transform(
        _ component: Int, unitRow: Int, of frame: JPEGFrame, dequantiser: Dequantiser,
        into planes: inout JPEGPlanes
    ) {
        let entries = dequantiser.entries.span
        let plane = planes.planes[component]
        let values = values.span
        let used = used.span
        var samples = planes.samples.mutableSpan
        let rows = frame.components[component].verticalFactor
        // For a single sample the DC coefficient suffices.
        let wanted: UInt64 = plane.blockSize == 1 ? 1 : .max
        for index in 0..<rows {
            let row = unitRow &* rows &+ index
            let line = plane.start(ofRow: row &* plane.blockSize)
            for column in 0..<frame.components[component].blockColumns {
                let position = self.block(of: component, row: row, column: column)
                var block = CoefficientBlock(repeating: 0)
                var rest = used[position.index] & wanted | 1
                var positions: Int32 = 0
                while rest != 0 {
                    let zigzag = rest.trailingZeroBitCount
                    rest &= rest &- 1
                    positions |= Dequantiser.store(
                        Int32(values[position.start &+ zigzag]), at: zigzag, in: &block, entries)
                }
                InverseDCT.transform(
                    block.span, positions: positions, size: plane.blockSize, into: &samples,
                    at: line &+ column &* plane.blockSize, stride: plane.stride)
            }
        }
    }
}
