/// Writes the tokens of a scan as bits (T.81 F.1.2).
enum JPEGEntropyWriter {
    /// The scan's bytes, filled up with ones, a zero after each 0xFF (T.81 F.1.2.3).
    ///
    /// - Parameter codes: of each table, in the tables' order.
    static func bytes(of symbols: borrowing JPEGSymbols, codes: [JPEGHuffmanCode]) -> [UInt8] {
        // Of each symbol: its code with room for the bits that follow, above five bits that say how many all these are.
        var entries: [UInt32] = []
        for code in codes {
            for (symbol, (code, length)) in code.codes.enumerated() {
                let following = UInt32(symbol & 15)
                entries.append(code << (following + 5) | (length + following))
            }
        }
        let frequencies = symbols.frequencies
        let bits = zip(frequencies, entries).reduce(0) { $0 + Int($1.0) * Int($1.1 & 31) }
        var bytes = [UInt8](repeating: 0, count: bits / 8 + 16)
        var output = bytes.mutableSpan
        let end = write(
            symbols.tokens.span.extracting(first: symbols.count), entries.span, into: &output)
        return stuffed(bytes.span.extracting(first: end))
    }

    /// Answers how many bytes they are.
    private static func write(
        _ tokens: Span<UInt32>, _ entries: Span<UInt32>, into bytes: inout MutableSpan<UInt8>
    ) -> Int {
        precondition(entries.count == 1024)
        // The bits that are no whole byte yet, from the highest on.
        var waiting: UInt64 = 0
        var waitingCount: UInt64 = 0
        var position = 0
        // Of two tokens at once: 54 bits at most.
        for pair in 0..<tokens.count / 2 {
            let (first, second) = (tokens[pair &* 2], tokens[pair &* 2 &+ 1])
            let firstEntry = entries[Int(truncatingIfNeeded: first & 1023)]
            let secondEntry = entries[Int(truncatingIfNeeded: second & 1023)]
            let secondLength = UInt64(secondEntry & 31)
            let length = UInt64(firstEntry & 31) &+ secondLength
            let bits =
                UInt64(firstEntry &>> 5 | first &>> 16) &<< secondLength
                | UInt64(secondEntry &>> 5 | second &>> 16)
            waiting |= bits &<< (64 &- waitingCount &- length)
            waitingCount &+= length
            bytes.storeBigEndian(waiting, at: position)
            position &+= Int(truncatingIfNeeded: waitingCount &>> 3)
            waiting &<<= waitingCount & ~7
            waitingCount &= 7
        }
        if tokens.count % 2 == 1 {
            let token = tokens[tokens.count - 1]
            let entry = entries[Int(token & 1023)]
            waiting |= UInt64(entry >> 5 | token >> 16) << (64 - waitingCount - UInt64(entry & 31))
            waitingCount += UInt64(entry & 31)
        }
        // The last byte is filled up with ones.
        waiting |= UInt64.max >> waitingCount
        bytes.storeBigEndian(waiting, at: position)
        return position + Int(waitingCount + 7) / 8
    }

    private static func stuffed(_ bytes: Span<UInt8>) -> [UInt8] {
        var zeros = 0
        for index in 0..<bytes.count where bytes[index] == 255 { zeros &+= 1 }
        var result = [UInt8](repeating: 0, count: bytes.count + zeros)
        var output = result.mutableSpan
        var target = 0
        var index = 0
        while index < bytes.count {
            if index &+ 8 <= bytes.count {
                let word = bytes.bigEndianWord(at: index)
                if !EntropyBits.hasMarkerByte(word) {
                    output.storeBigEndian(word, at: target)
                    index &+= 8
                    target &+= 8
                    continue
                }
            }
            output[target] = bytes[index]
            target &+= bytes[index] == 255 ? 2 : 1
            index &+= 1
        }
        return result
    }
}

extension MutableSpan<UInt8> {
    @inline(__always)
    fileprivate mutating func storeBigEndian(_ word: UInt64, at index: Int) {
        precondition(index >= 0 && index <= count - 8)
        for lane in 0..<8 {
            let shift = UInt64(truncatingIfNeeded: 56 &- 8 &* lane)
            self[index &+ lane] = UInt8(truncatingIfNeeded: word &>> shift)
        }
    }
}
