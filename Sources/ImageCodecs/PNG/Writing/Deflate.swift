/// Compresses bytes: finds matches by hash chains, and writes blocks with dynamic Huffman codes (RFC 1951).
package struct Deflate {
    /// What stands around the compressed blocks.
    package enum Container: Sendable {
        /// RFC 1950, for PNG.
        case zlib
        /// RFC 1952, for HTTP. Without a name and a time, so that equal bytes give an equal file.
        case gzip
    }

    /// The shortest and longest match, and the greatest distance (RFC 1951 section 3.2.5).
    private static let shortest = 3
    private static let longest = 258
    private static let window = 32_768
    /// How many candidates to try, and the length of match that is good enough.
    private static let candidateLimit = 32
    private static let goodLength = 64
    /// The number of literals and matches in a block.
    private static let blockTokens = 1 << 15
    private static let none: Int32 = -1

    /// The last index with each hash of three bytes, and for each index the previous one with the same hash.
    private var heads = [Int32](repeating: none, count: 1 << 15)
    private var previous = [Int32](repeating: none, count: window)
    private var block = DeflateBlock()
    private var bits = DeflateBits()

    private init() {}

    /// The compressed bytes, in a container. About 30 MB of text a second.
    package static func compress(_ input: Span<UInt8>, as container: Container = .zlib) -> [UInt8] {
        var deflate = Deflate()
        switch container {
        // A window of 32 KiB, default level; as a number the two bytes are a multiple of 31.
        case .zlib: deflate.bits.append(bytes: [0x78, 0x9C])
        // Section 2.3: the magic, deflate, no flags, no time, no extra flags, an unknown system.
        case .gzip: deflate.bits.append(bytes: [0x1F, 0x8B, 8, 0, 0, 0, 0, 0, 0, 255])
        }
        deflate.compressAll(input)
        deflate.block.write(to: &deflate.bits, isLast: true)
        deflate.bits.alignToByte()
        switch container {
        case .zlib:
            deflate.bits.append(bytes: Adler32.checksum(of: input).bigEndianBytes)
        case .gzip:
            let length = UInt32(truncatingIfNeeded: input.count)
            deflate.bits.append(
                bytes: CRC32.checksum(of: input).littleEndianBytes + length.littleEndianBytes)
        }
        return deflate.bits.bytes
    }

    private mutating func compressAll(_ input: Span<UInt8>) {
        var position = 0
        while position < input.count {
            var match = longestMatch(at: position, in: input)
            add(position, of: input)
            // Lazy matching: a longer match at the next byte is worth a literal.
            while match.length >= Self.shortest, match.length < Self.goodLength, position + 1 < input.count {
                let next = longestMatch(at: position + 1, in: input)
                guard next.length > match.length else { break }
                append(literal: input[position])
                position += 1
                add(position, of: input)
                match = next
            }
            if match.length >= Self.shortest {
                block.append(length: match.length, distance: match.distance)
                flushIfFull()
                for index in position + 1..<position + match.length { add(index, of: input) }
                position += match.length
            } else {
                append(literal: input[position])
                position += 1
            }
        }
    }

    private mutating func append(literal: UInt8) {
        block.append(literal: literal)
        flushIfFull()
    }

    private mutating func flushIfFull() {
        guard block.count == Self.blockTokens else { return }
        block.write(to: &bits, isLast: false)
        block = DeflateBlock()
    }

    private func hash(_ input: Span<UInt8>, _ index: Int) -> Int? {
        guard index + 2 < input.count else { return nil }
        let three = UInt32(input[index]) | UInt32(input[index + 1]) << 8 | UInt32(input[index + 2]) << 16
        // The upper 15 bits of Knuth's multiplicative hash.
        return Int((three &* 2_654_435_761) >> 17)
    }

    private mutating func add(_ index: Int, of input: Span<UInt8>) {
        guard let hash = hash(input, index) else { return }
        previous[index & (Self.window - 1)] = heads[hash]
        heads[hash] = Int32(truncatingIfNeeded: index)
    }

    private func longestMatch(at index: Int, in input: Span<UInt8>) -> (length: Int, distance: Int) {
        guard let hash = hash(input, index) else { return (0, 0) }
        let most = min(Self.longest, input.count - index)
        var best = (length: 0, distance: 0)
        var candidate = Int(heads[hash])
        var tries = 0
        while candidate >= 0, index - candidate < Self.window, tries < Self.candidateLimit {
            // A longer match must also agree at the end of the best one.
            if best.length == 0 || input[candidate + best.length] == input[index + best.length] {
                var length = 0
                while length < most, input[candidate + length] == input[index + length] { length += 1 }
                if length > best.length {
                    best = (length, index - candidate)
                    if length == most || length >= Self.longest { break }
                }
            }
            let earlier = Int(previous[candidate & (Self.window - 1)])
            // Entries older than the window were overwritten by newer ones.
            guard earlier < candidate else { break }
            candidate = earlier
            tries += 1
        }
        return best
    }
}

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
            let (base, extraBits) = InflateCodes.range(ofSymbol: distanceSymbol)
            bits.append(distance - base, length: extraBits)
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

/// A Huffman code for the symbols of one block (RFC 1951 section 3.2.2).
struct DeflateCode {
    /// The code length of each symbol; 0 for unused ones.
    let lengths: [UInt8]
    /// The code of each symbol, with bits in the order of writing.
    private let codes: [UInt16]

    /// The optimal code for these frequencies, at most `limit` bits long; nearly optimal if the limit applies.
    init(frequencies: [Int], limit: Int) {
        lengths = Self.lengths(frequencies, limit: limit)
        codes = Self.codes(lengths)
    }

    @inline(__always)
    func write(_ symbol: Int, to bits: inout DeflateBits) {
        bits.append(Int(codes[symbol]), length: Int(lengths[symbol]))
    }

    /// The lengths up to the last used symbol, at least `least` of them.
    func used(atLeast least: Int) -> ArraySlice<UInt8> {
        lengths.prefix(max(least, (lengths.lastIndex { $0 > 0 } ?? 0) + 1))
    }

    private static func lengths(_ frequencies: [Int], limit: Int) -> [UInt8] {
        let used = frequencies.indices.filter { frequencies[$0] > 0 }
            .sorted { (frequencies[$0], $0) < (frequencies[$1], $1) }
        var lengths = [UInt8](repeating: 0, count: frequencies.count)
        guard used.count > 1 else {
            for symbol in used { lengths[symbol] = 1 }
            return lengths
        }
        var counts = limited(depths(of: used.map { frequencies[$0] }), limit: limit)
        // The rarest symbols get the longest codes.
        var length = limit
        for symbol in used {
            while counts[length] == 0 { length -= 1 }
            counts[length] -= 1
            lengths[symbol] = UInt8(length)
        }
        return lengths
    }

    /// The number of leaves at each depth of the Huffman tree, for ascending weights. Two queues suffice: the leaves,
    /// and the nodes merged from the two lightest; both stay sorted.
    private static func depths(of weights: [Int]) -> [Int] {
        var sums: [Int] = []
        // The parent of each node: first the leaves, then the merged nodes.
        var parents = [Int](repeating: 0, count: 2 * weights.count - 1)
        var leaf = 0
        var made = 0
        func takesLeaf() -> Bool {
            made >= sums.count || (leaf < weights.count && weights[leaf] <= sums[made])
        }
        while sums.count < weights.count - 1 {
            var sum = 0
            for _ in 0..<2 {
                let parent = weights.count + sums.count
                if takesLeaf() {
                    parents[leaf] = parent
                    sum += weights[leaf]
                    leaf += 1
                } else {
                    parents[weights.count + made] = parent
                    sum += sums[made]
                    made += 1
                }
            }
            sums.append(sum)
        }
        var depths = [Int](repeating: 0, count: parents.count)
        for node in (0..<parents.count - 1).reversed() { depths[node] = depths[parents[node]] + 1 }
        var counts = [Int](repeating: 0, count: (depths.max() ?? 0) + 1)
        for depth in depths.prefix(weights.count) { counts[depth] += 1 }
        return counts
    }

    /// Shortens codes to `limit` bits. Then there are too many of them: one of the longest is moved beside a shorter
    /// code, both one bit longer than that, until they fit again.
    private static func limited(_ counts: [Int], limit: Int) -> [Int] {
        var limited = [Int](repeating: 0, count: limit + 1)
        for (length, count) in counts.enumerated() { limited[min(length, limit)] += count }
        var taken = (1...limit).reduce(0) { $0 + limited[$1] << (limit - $1) }
        while taken > 1 << limit {
            guard let shorter = (1..<limit).last(where: { limited[$0] > 0 }) else { break }
            limited[limit] -= 1
            limited[shorter] -= 1
            limited[shorter + 1] += 2
            taken -= 1
        }
        return limited
    }

    private static func codes(_ lengths: [UInt8]) -> [UInt16] {
        var counts = [Int](repeating: 0, count: 16)
        for length in lengths where length > 0 { counts[Int(length)] += 1 }
        var next = InflateTable.firstCodes(counts)
        return lengths.map { length in
            guard length > 0 else { return 0 }
            defer { next[Int(length)] += 1 }
            return UInt16(InflateTable.reversed(next[Int(length)], bits: Int(length)))
        }
    }
}

/// Packs bits for DEFLATE, from the lowest bit of each byte (RFC 1951 section 3.1.1).
struct DeflateBits {
    private(set) var bytes: [UInt8] = []
    private var bits: UInt64 = 0
    private var count = 0

    /// Appends the lowest `length` bits of a number, at most 32.
    @inline(__always)
    mutating func append(_ value: Int, length: Int) {
        bits |= UInt64(truncatingIfNeeded: value) &<< UInt64(truncatingIfNeeded: count)
        count &+= length
        while count >= 8 {
            bytes.append(UInt8(truncatingIfNeeded: bits))
            bits &>>= 8
            count &-= 8
        }
    }

    /// Pads the last byte with zeros.
    mutating func alignToByte() {
        if count > 0 { append(0, length: 8 - count) }
    }

    mutating func append(bytes more: some Sequence<UInt8>) { bytes.append(contentsOf: more) }
}
