/// A spectral selection: the coefficients `first` to `last` of each block, in zigzag order, in an AC scan of a
/// progressive frame (T.81 G.1.2.2 and G.1.2.3).
struct SpectralSelection {
    let first: Int
    let last: Int
    /// The point transform: how far values are shifted to the left.
    let shift: Int

    private typealias Entry = JPEGHuffmanTable.Entry

    /// Decodes a block as in a sequential scan, but with end-of-band runs over several blocks. The block's coefficients
    /// begin at `start` in `values`; `used` has a bit for each nonzero one. False for invalid data.
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
                    if entry == 0 { return false }
                    if run < 15 {
                        endOfBlockRun = 1 &<< run &+ bits.take(run) &- 1
                        return true
                    }
                    index &+= 1
                    continue
                }
                value = bits.takeSigned(size)
            }
            guard index <= last else { return false }
            values[start &+ index] = Int16(truncatingIfNeeded: value &<< Int32(shift))
            found |= 1 &<< UInt64(truncatingIfNeeded: index)
            index &+= 1
        }
        return true
    }

    /// How many of the next `count` blocks of an end-of-band run take no bits: in a refinement those before the first
    /// with a coefficient of this selection, otherwise all.
    @inline(__always)
    func skippable(_ count: Int, from block: Int, isRefinement: Bool, _ used: Span<UInt64>) -> Int {
        guard isRefinement else { return count }
        let mask = UInt64.max &>> UInt64(truncatingIfNeeded: 63 &- last) & UInt64.max &<< UInt64(first)
        var passed = 0
        while passed < count, used[block &+ passed] & mask == 0 { passed &+= 1 }
        return passed
    }

    /// Refines each nonzero coefficient by one bit, and adds new coefficients of one bit between them.
    @inline(__always)
    func refine(
        _ start: Int, _ endOfBlockRun: inout Int, _ bits: inout EntropyBits, _ file: Span<UInt8>,
        _ table: Span<UInt32>, _ values: inout MutableSpan<Int16>, _ used: inout UInt64
    ) -> Bool {
        let bit = Int16(1) &<< Int16(shift)
        var index = first
        while endOfBlockRun == 0, index <= last {
            bits.refill(from: file)
            let entry = bits.entry(in: table)
            if entry == 0 { return false }
            bits.skip(Entry.length(entry))
            var run = Entry.symbol(entry) &>> 4
            var new: Int16 = 0
            if Entry.hasCoefficient(entry) {
                run = Entry.advance(entry) &- 1
                guard abs(Entry.coefficient(entry)) == 1 else { return false }
                new = Entry.coefficient(entry) > 0 ? bit : -bit
            } else if Entry.symbol(entry) & 15 > 0 {
                guard Entry.symbol(entry) & 15 == 1 else { return false }
                new = bits.take(1) == 1 ? bit : -bit
            } else if run < 15 {
                endOfBlockRun = 1 &<< run &+ bits.take(run)
                break
            }
            index = refine(from: index, skippingZeros: run, start, &bits, file, &values, used)
            if new != 0 {
                guard index <= last else { return false }
                values[start &+ index] = new
                used |= 1 &<< UInt64(truncatingIfNeeded: index)
            }
            index &+= 1
        }
        if endOfBlockRun > 0 {
            _ = refine(from: index, skippingZeros: 64, start, &bits, file, &values, used)
            endOfBlockRun &-= 1
        }
        return true
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
