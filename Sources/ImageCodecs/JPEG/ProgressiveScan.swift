/// Decodes a scan of a progressive frame (T.81 G.2): some coefficients of all blocks, or one more bit of them.
struct ProgressiveScan {
    private let scan: JPEGScan
    private let frame: JPEGFrame
    private let dc: [JPEGHuffmanTable]
    private let ac: JPEGHuffmanTable?
    private let restartInterval: Int
    private let units: ImageSize

    init(_ scan: JPEGScan, frame: JPEGFrame, tables: JPEGTables, offset: Int) throws(ImageDecodingError) {
        self.scan = scan
        self.frame = frame
        let missing = ImageDecodingError.corrupt(segment: "scan without its tables", offset: offset)
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
        restartInterval = tables.restartInterval
        units = frame.units(of: scan)
    }

    /// What carries over from block to block.
    private struct State {
        var bits = EntropyBits()
        var predictions = InlineArray<4, Int32>(repeating: 0)
        /// Blocks still to come without new coefficients in this scan.
        var endOfBlockRun = 0
    }

    /// Decodes the scan whose data begins at `start`; answers where the marker after it stands.
    func decode(
        from file: Span<UInt8>, at start: Int, into coefficients: inout JPEGCoefficients
    ) throws(ImageDecodingError) -> Int {
        var data = EntropyCodedData(from: start)
        data.load(from: file, at: start)
        var state = State()
        var untilRestart = restartInterval
        var restarts = 0
        for row in 0..<units.height {
            for column in 0..<units.width {
                if restartInterval > 0 {
                    if untilRestart == 0 {
                        try data.checkEnough(state.bits, file)
                        try data.restart(from: file, expecting: restarts)
                        restarts &+= 1
                        state = State()
                        untilRestart = restartInterval
                    }
                    untilRestart &-= 1
                }
                guard decodeUnit(row: row, column: column, &state, data.bytes.span, into: &coefficients)
                else {
                    throw data.failure(file, what: "coefficients of a scan", at: data.origin)
                }
            }
            try data.checkEnough(state.bits, file)
        }
        return data.end
    }

    @inline(__always)
    private func decodeUnit(
        row: Int, column: Int, _ state: inout State, _ data: Span<UInt8>,
        into coefficients: inout JPEGCoefficients
    ) -> Bool {
        guard scan.components.count > 1 else {
            let component = scan.components[0].index
            let block = coefficients.block(of: component, row: row, column: column)
            return decode(block, position: 0, &state, data, &coefficients)
        }
        for position in scan.components.indices {
            let index = scan.components[position].index
            let component = frame.components[index]
            for blockRow in 0..<component.verticalFactor {
                for blockColumn in 0..<component.horizontalFactor {
                    let block = coefficients.block(
                        of: index, row: row &* component.verticalFactor &+ blockRow,
                        column: column &* component.horizontalFactor &+ blockColumn)
                    guard decode(block, position: position, &state, data, &coefficients) else { return false }
                }
            }
        }
        return true
    }

    private typealias Block = JPEGCoefficients.Block

    @inline(__always)
    private func decode(
        _ block: Block, position: Int, _ state: inout State, _ data: Span<UInt8>,
        _ coefficients: inout JPEGCoefficients
    ) -> Bool {
        var used = coefficients.used[block.index]
        defer { coefficients.used[block.index] = used }
        var values = coefficients.values.mutableSpan
        switch (scan.isDC, scan.isRefinement) {
        case (true, false):
            used |= 1
            return decodeDC(block, position: position, &state, data, &values)
        case (true, true):
            state.bits.refill(from: data)
            if state.bits.take(1) == 1 {
                values[block.start] |= 1 &<< Int16(scan.approximationLow)
                used |= 1
            }
            return true
        case (false, false): return decodeAC(block, &state, data, &values, &used)
        case (false, true): return refineAC(block, &state, data, &values, &used)
        }
    }

    private func decodeDC(
        _ block: Block, position: Int, _ state: inout State, _ data: Span<UInt8>,
        _ values: inout MutableSpan<Int16>
    ) -> Bool {
        state.bits.refill(from: data)
        let table = dc[position]
        let entry = state.bits.entry(in: table.entries.span)
        if entry == 0 { return false }
        state.bits.skip(JPEGHuffmanTable.Entry.length(entry))
        let size = JPEGHuffmanTable.Entry.symbol(entry)
        if size > 0 { state.predictions[position] &+= state.bits.takeSigned(size) }
        values[block.start] = Int16(
            truncatingIfNeeded: state.predictions[position] &<< Int32(scan.approximationLow))
        return true
    }

    /// T.81 G.1.2.2: as in a sequential scan, but a block's end may stand for many.
    @inline(__always)
    private func decodeAC(
        _ block: Block, _ state: inout State, _ data: Span<UInt8>, _ values: inout MutableSpan<Int16>,
        _ used: inout UInt64
    ) -> Bool {
        if state.endOfBlockRun > 0 {
            state.endOfBlockRun &-= 1
            return true
        }
        guard let ac else { return false }
        let table = ac.entries.span
        let last = scan.spectrum.upperBound
        var bits = state.bits
        defer { state.bits = bits }
        var index = scan.spectrum.lowerBound
        while index <= last {
            bits.refill(from: data)
            let entry = bits.entry(in: table)
            if entry == 0 { return false }
            bits.skip(JPEGHuffmanTable.Entry.length(entry))
            let symbol = JPEGHuffmanTable.Entry.symbol(entry)
            let (run, size) = (symbol &>> 4, symbol & 15)
            if size == 0, run < 15 {
                state.endOfBlockRun = 1 &<< run &+ bits.take(run) &- 1
                return true
            }
            index &+= run
            if size > 0 {
                guard index <= last else { return false }
                let value = bits.takeSigned(size) &<< Int32(scan.approximationLow)
                values[block.start &+ index] = Int16(truncatingIfNeeded: value)
                used |= 1 &<< UInt64(truncatingIfNeeded: index)
            }
            index &+= 1
        }
        return true
    }

    /// T.81 G.1.2.3: one more bit for every coefficient that is not zero, and new ones of one bit between them.
    @inline(__always)
    private func refineAC(
        _ block: Block, _ state: inout State, _ data: Span<UInt8>, _ values: inout MutableSpan<Int16>,
        _ used: inout UInt64
    ) -> Bool {
        guard let ac else { return false }
        let table = ac.entries.span
        let bit = Int16(1) &<< Int16(scan.approximationLow)
        let last = scan.spectrum.upperBound
        var bits = state.bits
        defer { state.bits = bits }
        var index = scan.spectrum.lowerBound
        while state.endOfBlockRun == 0, index <= last {
            bits.refill(from: data)
            let entry = bits.entry(in: table)
            if entry == 0 { return false }
            bits.skip(JPEGHuffmanTable.Entry.length(entry))
            let symbol = JPEGHuffmanTable.Entry.symbol(entry)
            let (run, size) = (symbol &>> 4, symbol & 15)
            if size == 0, run < 15 {
                state.endOfBlockRun = 1 &<< run &+ bits.take(run)
                break
            }
            guard size <= 1 else { return false }
            let new = size == 0 ? 0 : bits.take(1) == 1 ? bit : -bit
            index = refine(from: index, skippingZeros: run, bit: bit, block, &bits, data, &values, used)
            if new != 0 {
                guard index <= last else { return false }
                values[block.start &+ index] = new
                used |= 1 &<< UInt64(truncatingIfNeeded: index)
            }
            index &+= 1
        }
        if state.endOfBlockRun > 0 {
            _ = refine(from: index, skippingZeros: 64, bit: bit, block, &bits, data, &values, used)
            state.endOfBlockRun &-= 1
        }
        return true
    }

    /// Gives each coefficient that is not zero its next bit, up to the zero after `skippingZeros` of them; answers
    /// that zero's index, or the one past the scan's last.
    @inline(__always)
    private func refine(
        from start: Int, skippingZeros: Int, bit: Int16, _ block: Block, _ bits: inout EntropyBits,
        _ data: Span<UInt8>, _ values: inout MutableSpan<Int16>, _ used: UInt64
    ) -> Int {
        let last = scan.spectrum.upperBound
        var index = start
        var zeros = skippingZeros
        while index <= last {
            let gap = (used &>> UInt64(truncatingIfNeeded: index)).trailingZeroBitCount
            if gap > zeros { return min(index &+ zeros, last &+ 1) }
            zeros &-= gap
            index &+= gap
            if index > last { break }
            bits.refill(from: data)
            if bits.take(1) == 1 {
                let value = values[block.start &+ index]
                if value & bit == 0 { values[block.start &+ index] = value > 0 ? value &+ bit : value &- bit }
            }
            index &+= 1
        }
        return last &+ 1
    }
}
