/// Decodes a scan of a sequential frame: each block's coefficients in one go, straight to samples (T.81 F.2).
struct SequentialScan {
    /// What one component of the scan needs.
    private struct Source {
        let plane: JPEGPlanes.Plane
        let dc: JPEGHuffmanTable
        let ac: JPEGHuffmanTable
        let dequantiser: Dequantiser
        /// Blocks of one minimum coded unit, and units of the scan.
        let columns: Int
        let rows: Int
    }

    private let sources: [Source]
    private let units: ImageSize
    private let restartInterval: Int

    init(_ scan: JPEGScan, frame: JPEGFrame, tables: JPEGTables, planes: [JPEGPlanes.Plane], offset: Int)
        throws(ImageDecodingError)
    {
        var sources: [Source] = []
        let isInterleaved = scan.components.count > 1
        for component in scan.components {
            let inFrame = frame.components[component.index]
            guard let dc = tables.dc[component.dcTable], let ac = tables.ac[component.acTable],
                let steps = tables.quantisation[inFrame.quantisationTable]
            else { throw .corrupt(segment: "scan without its tables", offset: offset) }
            sources.append(
                Source(
                    plane: planes[component.index], dc: dc, ac: ac, dequantiser: Dequantiser(steps: steps),
                    columns: isInterleaved ? inFrame.horizontalFactor : 1,
                    rows: isInterleaved ? inFrame.verticalFactor : 1))
        }
        self.sources = sources
        units = frame.units(of: scan)
        restartInterval = tables.restartInterval
    }

    /// Decodes the scan whose data begins at `start`; answers where the marker after it stands.
    func decode(from file: Span<UInt8>, at start: Int, into planes: inout JPEGPlanes)
        throws(ImageDecodingError) -> Int
    {
        var data = EntropyCodedData(from: start)
        data.load(from: file, at: start)
        var bits = EntropyBits()
        var predictions = InlineArray<4, Int32>(repeating: 0)
        var untilRestart = restartInterval
        var restarts = 0
        for row in 0..<units.height {
            for column in 0..<units.width {
                if restartInterval > 0 {
                    if untilRestart == 0 {
                        try data.checkEnough(bits, file)
                        try data.restart(from: file, expecting: restarts)
                        restarts &+= 1
                        bits = EntropyBits()
                        predictions = InlineArray(repeating: 0)
                        untilRestart = restartInterval
                    }
                    untilRestart &-= 1
                }
                let isSound = decodeUnit(
                    row: row, column: column, &bits, data.bytes.span, &predictions, into: &planes)
                if !isSound {
                    throw data.failure(file, what: "coefficients of a scan", at: data.origin)
                }
            }
            try data.checkEnough(bits, file)
        }
        return data.end
    }

    /// Decodes one minimum coded unit: some blocks of each component, row by row (T.81 A.2). False for a code that
    /// is none, or coefficients past a block's last.
    @inline(__always)
    private func decodeUnit(
        row: Int, column: Int, _ bits: inout EntropyBits, _ data: Span<UInt8>,
        _ predictions: inout InlineArray<4, Int32>, into planes: inout JPEGPlanes
    ) -> Bool {
        // Through a span the tables are read where they lie, without copies or reference counts.
        let sources = sources.span
        for position in sources.indices {
            let plane = sources[position].plane
            let (columns, rows) = (sources[position].columns, sources[position].rows)
            for blockRow in 0..<rows {
                for blockColumn in 0..<columns {
                    var block = CoefficientBlock(repeating: 0)
                    let last = Self.decode(
                        &block, &bits, data, dc: sources[position].dc.entries.span,
                        ac: sources[position].ac.entries.span,
                        prediction: &predictions[position], sources[position].dequantiser.entries.span)
                    guard last >= 0 else { return false }
                    let line = (row &* rows &+ blockRow) &* 8
                    let origin =
                        plane.offset &+ line &* plane.stride &+ (column &* columns &+ blockColumn) &* 8
                    var samples = planes.samples.mutableSpan
                    InverseDCT.transform(block, last: last, into: &samples, at: origin, stride: plane.stride)
                }
            }
        }
        return true
    }

    /// T.81 F.2.2: the difference to the last DC coefficient, then runs of zeros and coefficients. The zigzag place of
    /// the last one, or -1 for a code that is none and for coefficients past the block's last.
    @inline(__always)
    private static func decode(
        _ block: inout CoefficientBlock, _ bits: inout EntropyBits, _ data: Span<UInt8>, dc: Span<Int32>,
        ac: Span<Int32>, prediction: inout Int32, _ dequantiser: Span<UInt32>
    ) -> Int {
        typealias Entry = JPEGHuffmanTable.Entry
        bits.refill(from: data)
        let first = bits.entry(in: dc)
        if first == 0 { return -1 }
        bits.skip(Entry.length(first))
        let size = Entry.symbol(first)
        if size > 0 { prediction &+= bits.takeSigned(size) }
        Dequantiser.store(prediction, at: 0, in: &block, dequantiser)

        var index = 1
        var last = 0
        while index < 64 {
            bits.refill(from: data)
            let entry = bits.entry(in: ac)
            let symbol = Entry.symbol(entry)
            index &+= symbol &>> 4
            if Entry.fusedLength(entry) > 0 {
                guard index < 64 else { return -1 }
                bits.skip(Entry.fusedLength(entry))
                Dequantiser.store(Entry.coefficient(entry), at: index, in: &block, dequantiser)
            } else if symbol & 15 > 0 {
                guard index < 64 else { return -1 }
                bits.skip(Entry.length(entry))
                Dequantiser.store(bits.takeSigned(symbol & 15), at: index, in: &block, dequantiser)
            } else {
                // Sixteen zeros, the end of the block, or no code at all.
                if entry == 0 { return -1 }
                bits.skip(Entry.length(entry))
                if symbol != 0xF0 { break }
            }
            last = index
            index &+= 1
        }
        return last
    }
}
