/// Decodes a scan of a progressive frame (T.81 G.2): some coefficients of all blocks, or one more bit of them.
struct ProgressiveScan {
    private let scan: JPEGScan
    /// The table of each component's DC differences; none in a refinement.
    private let dc: [JPEGHuffmanTable]
    private let ac: JPEGHuffmanTable?
    private(set) var units: ScanUnits

    /// Creates the decoder of a scan whose data follows `segment`.
    init(
        _ scan: JPEGScan, of frame: JPEGFrame, tables: JPEGTables, segment: JPEGSegment
    ) throws(ImageDecodingError) {
        self.scan = scan
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
        units = ScanUnits(scan, of: frame, tables: tables, segment: segment)
    }

    /// Decodes the scan, as far as there is data.
    mutating func decode(from file: Span<UInt8>, into coefficients: inout JPEGCoefficients) {
        for row in 0..<units.size.height where !units.reader.isFinished {
            if let ac {
                let first = coefficients.block(of: scan.components[0].index, row: row, column: 0)
                decodeAC(first, ac, from: file, into: &coefficients.values, &coefficients.used)
            } else {
                decodeDC(row, from: file, into: &coefficients)
            }
        }
    }

    /// Decodes the first coefficient of each block in a row of MCUs.
    private mutating func decodeDC(
        _ row: Int, from file: Span<UInt8>, into coefficients: inout JPEGCoefficients
    ) {
        let (dc, shift, isRefinement) = (dc, scan.approximationLow, scan.isRefinement)
        var starts = InlineArray<4, Int>(repeating: 0)
        var strides = starts
        for (position, component) in scan.components.enumerated() {
            starts[position] = coefficients.block(
                of: component.index, row: row * units.rows(of: position), column: 0)
            strides[position] = coefficients.columns[component.index]
        }
        var values = coefficients.values.mutableSpan
        units.decodeRow(from: file, into: &values) { place, reader, file, prediction, values in
            if reader.isStopped { return true }
            let block = starts[place.component] &+ place.row &* strides[place.component] &+ place.column
            reader.bits.refill(from: file)
            if isRefinement {
                let bit = Int16(truncatingIfNeeded: reader.bits.take(1))
                values[block &* 64] |= bit &<< Int16(shift)
                return true
            }
            let isKnown = Self.addDifference(to: &prediction, &reader.bits, dc.span[place.component])
            values[block &* 64] = Int16(truncatingIfNeeded: prediction &<< Int32(shift))
            return isKnown
        }
    }

    /// A span borrows the table, without reference counting.
    @inline(__always)
    private static func addDifference(
        to prediction: inout Int32, _ bits: inout EntropyBits, _ table: JPEGHuffmanTable
    ) -> Bool {
        bits.addDifference(to: &prediction, table.entries.span)
    }

    /// Decodes the other coefficients of a row of blocks of one component, from the block `first` on (T.81 G.1.1.1).
    private mutating func decodeAC(
        _ first: Int, _ ac: JPEGHuffmanTable, from file: Span<UInt8>, into allValues: inout [Int16],
        _ used: inout [UInt64]
    ) {
        let part = SpectralSelection(
            first: scan.spectrum.lowerBound, last: scan.spectrum.upperBound, shift: scan.approximationLow)
        let (isRefinement, mask) = (scan.isRefinement, part.mask)
        var values = allValues.mutableSpan
        units.decodeRow(from: file, into: &values) { place, reader, file, endOfBandRun, values in
            // In an end-of-band run, blocks without coefficients to refine take no bits.
            let block = first &+ place.column
            if endOfBandRun > 0, !isRefinement || used[block] & mask == 0 {
                endOfBandRun &-= 1
                return true
            }
            if reader.isStopped { return true }
            let table = ac.entries.span
            return isRefinement
                ? part.refine(
                    block &* 64, &endOfBandRun, &reader.bits, file, table, &values, &used[block])
                : part.decode(
                    block &* 64, &endOfBandRun, &reader.bits, file, table, &values, &used[block])
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
    /// A bit for each of these coefficients.
    var mask: UInt64 {
        UInt64.max &>> UInt64(truncatingIfNeeded: 63 &- last) & UInt64.max &<< UInt64(first)
    }

    private typealias Entry = JPEGHuffmanTable.Entry

    /// Decodes a block as in a sequential scan, but with end-of-band runs over several blocks. The block's coefficients
    /// begin at `start` in `values`; `used` has a bit for each nonzero one. False for an invalid code, which is the
    /// symbol 0 as in libjpeg, and for coefficients past the selection, which are kept in the block.
    @inline(__always)
    func decode(
        _ start: Int, _ endOfBandRun: inout Int32, _ bits: inout EntropyBits, _ file: Span<UInt8>,
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
                        endOfBandRun = Int32(truncatingIfNeeded: 1 &<< run &+ bits.take(run) &- 1)
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

    /// Refines each nonzero coefficient by one bit, and adds new coefficients of one bit between them.
    ///
    /// Not inlined, so that the compiler keeps the bits in registers.
    @inline(never)
    func refine(
        _ start: Int, _ endOfBandRun: inout Int32, _ reader: inout EntropyBits, _ file: Span<UInt8>,
        _ table: Span<UInt32>, _ values: inout MutableSpan<Int16>, _ used: inout UInt64
    ) -> Bool {
        var bits = reader
        defer { reader = bits }
        let bit = Int16(1) &<< Int16(shift)
        var isSound = true
        var index = first
        while endOfBandRun == 0, index <= last {
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
                    endOfBandRun = Int32(truncatingIfNeeded: 1 &<< run &+ bits.take(run))
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
        if endOfBandRun > 0 {
            _ = refine(from: index, skippingZeros: 64, start, &bits, file, &values, used)
            endOfBandRun &-= 1
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
    var values: [Int16]
    /// For each block, a bit for each AC coefficient that was ever set, so that zeros can be skipped.
    var used: [UInt64]
    /// For each coefficient of each component, the bits that it still lacks; nil before its first scan.
    private var missingBits: [[Int?]]
    private let starts: [Int]
    /// The blocks of a row of each component.
    let columns: [Int]

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

    /// The number of a block among all blocks. Its coefficients begin at 64 times that.
    func block(of component: Int, row: Int, column: Int) -> Int {
        starts[component] &+ row &* columns[component] &+ column
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
                let number = self.block(of: component, row: row, column: column)
                var block = CoefficientBlock(repeating: 0)
                var rest = used[number] & wanted | 1
                var positions: Int32 = 0
                while rest != 0 {
                    let zigzag = rest.trailingZeroBitCount
                    rest &= rest &- 1
                    positions |= Dequantiser.store(
                        Int32(values[number &* 64 &+ zigzag]), at: zigzag, in: &block, entries)
                }
                InverseDCT.transform(
                    block.span, positions: positions, size: plane.blockSize, into: &samples,
                    at: line &+ column &* plane.blockSize, stride: plane.stride)
            }
        }
    }
}
