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
        var counts = [Int](repeating: 0, count: 17)
        for length in lengths where length > 0 { counts[Int(length)] += 1 }
        var next = [Int](repeating: 0, count: 17)
        for length in 1...16 { next[length] = (next[length - 1] + counts[length - 1]) << 1 }
        return lengths.map { length in
            guard length > 0 else { return 0 }
            defer { next[Int(length)] += 1 }
            return reversed(next[Int(length)], bits: Int(length))
        }
    }

    private static func reversed(_ code: Int, bits: Int) -> UInt16 {
        (0..<bits).reduce(0) { $0 << 1 | UInt16(code >> $1 & 1) }
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
