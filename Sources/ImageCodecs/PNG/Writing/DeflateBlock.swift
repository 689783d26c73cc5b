/// The literals and matches of one block, and their encoding (RFC 1951 section 3.2.7).
struct DeflateBlock {
    /// A literal, or a match with its length from bit 16 on and its distance below.
    private var tokens: [UInt32] = []
    private var literalCounts = [Int](repeating: 0, count: 286)
    private var distanceCounts = [Int](repeating: 0, count: 30)

    var count: Int { tokens.count }

    mutating func append(literal: UInt8) {
        tokens.append(UInt32(literal))
        literalCounts[Int(literal)] += 1
    }

    mutating func append(length: Int, distance: Int) {
        tokens.append(UInt32(length) << 16 | UInt32(distance))
        literalCounts[Self.lengthSymbol(length)] += 1
        distanceCounts[Self.distanceSymbol(distance)] += 1
    }

    mutating func write(to bits: inout DeflateBits, isLast: Bool) {
        literalCounts[InflateCodes.endOfBlock] += 1
        let literals = DeflateCode(frequencies: literalCounts, limit: 15)
        let distances = DeflateCode(frequencies: distanceCounts, limit: 15)
        bits.append(isLast ? 1 : 0, length: 1)
        bits.append(2, length: 2)
        Self.writeCodes(literals, distances, to: &bits)
        for token in tokens {
            let length = Int(token >> 16)
            if length == 0 {
                literals.write(Int(token), to: &bits)
                continue
            }
            let distance = Int(token & 0xFFFF)
            let symbol = Self.lengthSymbol(length)
            literals.write(symbol, to: &bits)
            let entry = symbol - InflateCodes.endOfBlock - 1
            bits.append(
                length - InflateCodes.lengthBases[entry], length: InflateCodes.lengthExtraBits[entry])
            let distanceSymbol = Self.distanceSymbol(distance)
            distances.write(distanceSymbol, to: &bits)
            bits.append(
                distance - InflateCodes.distanceBases[distanceSymbol],
                length: InflateCodes.distanceExtraBits[distanceSymbol])
        }
        literals.write(InflateCodes.endOfBlock, to: &bits)
    }

    private static func writeCodes(
        _ literals: DeflateCode, _ distances: DeflateCode, to bits: inout DeflateBits
    ) {
        let (literalLengths, distanceLengths) = (literals.used(atLeast: 257), distances.used(atLeast: 1))
        let runs = runs(in: Array(literalLengths + distanceLengths))
        var frequencies = [Int](repeating: 0, count: 19)
        for run in runs { frequencies[run.symbol] += 1 }
        let code = DeflateCode(frequencies: frequencies, limit: 7)
        let order = InflateCodes.orderOfLengthCodes
        let lastUsed = order.lastIndex { code.lengths[$0] > 0 } ?? 0
        let orderCount = max(4, lastUsed + 1)
        bits.append(literalLengths.count - 257, length: 5)
        bits.append(distanceLengths.count - 1, length: 5)
        bits.append(orderCount - 4, length: 4)
        for symbol in order.prefix(orderCount) { bits.append(Int(code.lengths[symbol]), length: 3) }
        for run in runs {
            code.write(run.symbol, to: &bits)
            bits.append(run.extra, length: run.extraBits)
        }
    }

    /// A length by itself, or a run: 16 repeats the last length 3 to 6 times, 17 and 18 mean 3 to 10 and 11 to 138
    /// zeros.
    private static func runs(in lengths: [UInt8]) -> [(symbol: Int, extra: Int, extraBits: Int)] {
        var runs: [(symbol: Int, extra: Int, extraBits: Int)] = []
        var index = 0
        while index < lengths.count {
            let length = lengths[index]
            var count = 1
            while index + count < lengths.count, lengths[index + count] == length { count += 1 }
            index += count
            if length > 0 {
                runs.append((Int(length), 0, 0))
                count -= 1
            }
            while count >= 3 {
                let most = length > 0 ? 6 : 138
                let part = min(count, most)
                if length > 0 {
                    runs.append((16, part - 3, 2))
                } else if part <= 10 {
                    runs.append((17, part - 3, 3))
                } else {
                    runs.append((18, part - 11, 7))
                }
                count -= part
            }
            for _ in 0..<count { runs.append((Int(length), 0, 0)) }
        }
        return runs
    }

    private static func lengthSymbol(_ length: Int) -> Int { Int(lengthSymbols[length]) }

    /// The symbol of each length.
    private static let lengthSymbols: [UInt16] = (0...258).map { length in
        let entry = InflateCodes.lengthBases.lastIndex { $0 <= length } ?? 0
        return UInt16(InflateCodes.endOfBlock + 1 + entry)
    }

    /// From distance 5 on, each power of two has two symbols.
    private static func distanceSymbol(_ distance: Int) -> Int {
        if distance <= 4 { return distance - 1 }
        let exponent = Int.bitWidth - 1 - (distance - 1).leadingZeroBitCount
        return exponent * 2 + (distance - 1) >> (exponent - 1) & 1
    }
}
