/// Encodes the tokens of a scan as bits (T.81 F.1.2).
enum JPEGEntropyWriter {
    /// Assembles a file: the header, the scan with padding ones and a zero stuffed after each 0xFF (T.81 F.1.2.3), and
    /// EOI.
    ///
    /// - Parameter codes: the code of each table, in table order.
    static func file(
        _ header: [UInt8], _ symbols: borrowing JPEGSymbols, codes: [JPEGHuffmanCode]
    ) -> [UInt8] {
        // For each symbol its code, shifted for the bits that follow it, and the total number of bits.
        var entries = [UInt32](repeating: 0, count: codes.count * 256)
        var lengths = [UInt8](repeating: 0, count: codes.count * 256)
        let frequencies = symbols.frequencies
        var bits = 0
        for (table, code) in codes.enumerated() {
            code.forEach { symbol, code, length in
                let (index, following) = (table * 256 + symbol, UInt32(symbol & 15))
                entries[index] = code << following
                lengths[index] = UInt8(length + following)
                bits += Int(frequencies[index]) * Int(length + following)
            }
        }
        var bytes = [UInt8](repeating: 0, count: bits / 8 + 16)
        var output = bytes.mutableSpan
        let end = write(
            symbols.tokens.span.extracting(first: symbols.count), entries.span, lengths.span, into: &output)
        return file(header, bytes.span.extracting(first: end))
    }

    /// Writes the bits and returns the number of bytes.
    private static func write(
        _ tokens: Span<UInt32>, _ entries: Span<UInt32>, _ lengths: Span<UInt8>,
        into bytes: inout MutableSpan<UInt8>
    ) -> Int {
        precondition(entries.count == 1024 && lengths.count == 1024)
        // The lowest `count` bits of `bits` are not stored yet.
        var bits: UInt64 = 0
        var count: UInt64 = 0
        var position = 0
        // Two tokens at a time have at most 54 bits, beside fewer than 8 from before.
        for pair in 0..<tokens.count &>> 1 {
            let two = tokens.extracting(pair &<< 1..<pair &<< 1 &+ 2)
            append(two[0], entries, lengths, &bits, &count)
            append(two[1], entries, lengths, &bits, &count)
            bytes.storeBigEndian(bits &<< (64 &- count), at: position)
            position &+= Int(truncatingIfNeeded: count &>> 3)
            count &= 7
        }
        if tokens.count % 2 == 1 { append(tokens[tokens.count - 1], entries, lengths, &bits, &count) }
        // Pad the last byte with ones.
        bits = bits << (64 - count) | UInt64.max >> count
        bytes.storeBigEndian(bits, at: position)
        return position + Int(count + 7) / 8
    }

    @inline(__always)
    private static func append(
        _ token: UInt32, _ entries: Span<UInt32>, _ lengths: Span<UInt8>, _ bits: inout UInt64,
        _ count: inout UInt64
    ) {
        let symbol = JPEGSymbols.symbol(token)
        let length = UInt64(lengths[symbol])
        bits = bits &<< length | UInt64(entries[symbol] | token & 0xFFFF)
        count &+= length
    }

    @inline(never)
    private static func file(_ header: [UInt8], _ bytes: Span<UInt8>) -> [UInt8] {
        let start = header.count
        var file = header
        file.append(contentsOf: repeatElement(0, count: bytes.count + bytesAllOnes(bytes) + 2))
        var output = file.mutableSpan
        var target = start
        let words = bytes.count / 8
        for index in 0..<words {
            let word = bytes.bigEndianWord(at: index &* 8)
            if !EntropyBits.hasMarkerByte(word) {
                output.storeBigEndian(word, at: target)
                target &+= 8
                continue
            }
            for lane in 0..<8 {
                let byte = UInt8(truncatingIfNeeded: word &>> UInt64(56 &- 8 &* lane))
                output[target] = byte
                target &+= byte == 255 ? 2 : 1
            }
        }
        for index in words * 8..<bytes.count {
            output[target] = bytes[index]
            target += bytes[index] == 255 ? 2 : 1
        }
        output[target] = 0xFF
        output[target + 1] = 0xD9
        return file
    }

    /// The number of bytes that are 0xFF.
    private static func bytesAllOnes(_ bytes: Span<UInt8>) -> Int {
        var total = 0
        let words = bytes.count / 8
        for index in 0..<words {
            let word = bytes.littleEndianWord(at: index &* 8)
            guard EntropyBits.hasMarkerByte(word) else { continue }
            for lane in 0..<8 where word &>> UInt64(8 &* lane) & 255 == 255 { total &+= 1 }
        }
        for index in words * 8..<bytes.count where bytes[index] == 255 { total += 1 }
        return total
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
