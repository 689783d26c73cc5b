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

    /// Whether the data ended before the scan did.
    var isTruncated: Bool { reader.isTruncated }

    /// Where to search for the marker after the scan.
    var end: Int { reader.bits.position }

    /// Decodes the scan, as far as there is data.
    mutating func decode(
        from file: Span<UInt8>, into coefficients: inout JPEGCoefficients
    ) throws(ImageDecodingError) {
        if let ac {
            try decodeAC(ac.entries.span, from: file, into: &coefficients)
        } else {
            try decodeDC(from: file, into: &coefficients)
        }
    }

    // MARK: The first coefficient

    private mutating func decodeDC(
        from file: Span<UInt8>, into coefficients: inout JPEGCoefficients
    ) throws(ImageDecodingError) {
        let tables = dc
        var reader = reader
        defer { self.reader = reader }
        var predictions = InlineArray<4, Int32>(repeating: 0)
        for row in 0..<units.height {
            for column in 0..<units.width {
                if try reader.beginUnit(in: file) { predictions = InlineArray(repeating: 0) }
                let isSound = decodeUnit(
                    row: row, column: column, tables.span, &reader.bits, file, &predictions,
                    into: &coefficients)
                try reader.endUnit(isSound: isSound)
                if reader.isTruncated { return }
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
                        guard
                            decodeFirst(
                                block, tables[position], &bits, &predictions[position], into: &coefficients)
                        else { return false }
                    }
                }
            }
        }
        return true
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
        let entry = bits.entry(in: table.entries.span)
        if entry == 0 { return false }
        bits.skip(JPEGHuffmanTable.Entry.length(entry))
        if JPEGHuffmanTable.Entry.hasCoefficient(entry) {
            prediction &+= JPEGHuffmanTable.Entry.coefficient(entry)
        } else if JPEGHuffmanTable.Entry.symbol(entry) > 0 {
            prediction &+= bits.takeSigned(JPEGHuffmanTable.Entry.symbol(entry))
        }
        coefficients.values[block.start] = Int16(
            truncatingIfNeeded: prediction &<< Int32(scan.approximationLow))
        coefficients.used[block.index] |= 1
        return true
    }

    // MARK: The others

    /// Decodes AC coefficients of one component, so an MCU is a block (T.81 G.1.1.1).
    private mutating func decodeAC(
        _ table: Span<UInt32>, from file: Span<UInt8>, into coefficients: inout JPEGCoefficients
    ) throws(ImageDecodingError) {
        guard let component = scan.components.first?.index else { return }
        var reader = reader
        defer { self.reader = reader }
        let part = SpectralSelection(
            first: scan.spectrum.lowerBound, last: scan.spectrum.upperBound, shift: scan.approximationLow)
        // The remaining blocks of an end-of-band run.
        var endOfBlockRun = 0
        for row in 0..<units.height where !reader.isTruncated {
            let block = coefficients.block(of: component, row: row, column: 0)
            try decodeRow(
                from: block, part, table, &reader, &endOfBlockRun, file, &coefficients.values,
                &coefficients.used)
        }
    }

    private func decodeRow(
        from first: JPEGCoefficients.Block, _ part: SpectralSelection, _ table: Span<UInt32>,
        _ reader: inout EntropyReader, _ endOfBlockRun: inout Int, _ file: Span<UInt8>,
        _ values: inout [Int16], _ used: inout [UInt64]
    ) throws(ImageDecodingError) {
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
            if try reader.beginUnit(in: file) { endOfBlockRun = 0 }
            var isSound = true
            if scan.isRefinement {
                isSound = part.refine(
                    block.start, &endOfBlockRun, &reader.bits, file, table, &values, &used[block.index])
            } else if endOfBlockRun > 0 {
                endOfBlockRun &-= 1
            } else {
                isSound = part.decode(
                    block.start, &endOfBlockRun, &reader.bits, file, table, &values, &used[block.index])
            }
            try reader.endUnit(isSound: isSound)
            if reader.isTruncated { return }
            block.index &+= 1
            column &+= 1
        }
    }
}
