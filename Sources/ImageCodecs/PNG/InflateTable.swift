/// A Huffman code of DEFLATE (RFC 1951 section 3.2.2), or of lossless WebP, as a two-level table: the next `rootBits` bits select an entry,
/// which decodes a short code or refers to a table for longer codes.
struct InflateTable {
    /// The kind of an entry. An entry has, from the lowest bit: 4 bits for the code's length in this level, 4 for the
    /// number of extra bits, 4 for the kind, then 16 for the value (a literal, the base of a length or distance, or the
    /// start of the second level, whose width is in the extra bits).
    enum Kind {
        static let invalid: UInt32 = 0
        static let literal: UInt32 = 1
        static let base: UInt32 = 2
        static let end: UInt32 = 3
        static let secondLevel: UInt32 = 4
    }

    @inline(__always)
    static func isLiteral(_ entry: UInt32) -> Bool { entry & 0xF00 == Kind.literal << 8 }

    let entries: [UInt32]
    let rootBits: Int

    /// Builds the table from the code length of each symbol; `meaning` gives a symbol's kind, value and extra bits.
    ///
    /// Nil if the lengths are not a prefix code: over-subscribed, or incomplete. As in zlib, a single code of one bit
    /// is allowed, and also no code at all, for the distances of a block without matches.
    init?(lengths: Span<UInt8>, rootBits: Int, meaning: (Int) -> (kind: UInt32, value: Int, extraBits: Int)) {
        let longestCode = 15
        var counts = [Int](repeating: 0, count: longestCode + 1)
        for index in 0..<lengths.count { counts[Int(lengths[index] & 15)] += 1 }
        counts[0] = 0
        var remaining = 1
        for length in 1...longestCode {
            remaining = remaining << 1 - counts[length]
            if remaining < 0 { return nil }
        }
        let longest = counts.lastIndex { $0 > 0 } ?? 0
        if remaining > 0, longest > 1 { return nil }

        self.rootBits = rootBits
        var entries = [UInt32](repeating: 0, count: 1 << rootBits)
        var nextCode = Self.firstCodes(counts)
        // A second level is created for its first code, so it is as wide as the longest code needs.
        let secondBits = max(0, longest - rootBits)
        for symbol in 0..<lengths.count {
            let length = Int(lengths[symbol])
            if length == 0 { continue }
            let code = Self.reversed(nextCode[length], bits: length)
            nextCode[length] += 1
            let (kind, value, extraBits) = meaning(symbol)
            var table = 0
            var size = 1 << rootBits
            var index = code
            var levelLength = length
            if length > rootBits {
                let root = code & (size - 1)
                if entries[root] == 0 {
                    entries[root] = Self.entry(rootBits, Kind.secondLevel, entries.count, secondBits)
                    entries.append(contentsOf: repeatElement(0, count: 1 << secondBits))
                }
                table = Int(entries[root] >> 16)
                size = 1 << secondBits
                index = code >> rootBits
                levelLength = length - rootBits
            }
            let entry = Self.entry(levelLength, kind, value, extraBits)
            while index < size {
                entries[table + index] = entry
                index += 1 << levelLength
            }
        }
        self.entries = entries
    }

    /// A code of a single symbol, which takes no bits.
    init(only meaning: (kind: UInt32, value: Int, extraBits: Int)) {
        entries = [Self.entry(0, meaning.kind, meaning.value, meaning.extraBits)]
        rootBits = 0
    }

    private static func entry(_ length: Int, _ kind: UInt32, _ value: Int, _ extraBits: Int) -> UInt32 {
        UInt32(value) << 16 | kind << 8 | UInt32(extraBits) << 4 | UInt32(length)
    }

    private static func firstCodes(_ counts: [Int]) -> [Int] {
        var codes = [Int](repeating: 0, count: counts.count)
        for length in 1..<counts.count { codes[length] = (codes[length - 1] + counts[length - 1]) << 1 }
        return codes
    }

    /// Huffman codes are packed from their highest bit, all other values from the lowest (RFC 1951 section 3.1.1).
    private static func reversed(_ code: Int, bits: Int) -> Int {
        var code = code
        var result = 0
        for _ in 0..<bits {
            result = result << 1 | code & 1
            code >>= 1
        }
        return result
    }
}

/// The two codes of a DEFLATE block: literals and lengths, and distances (RFC 1951 section 3.2.5).
struct InflateCodes {
    let literals: InflateTable
    let distances: InflateTable

    static let endOfBlock = 256

    /// Wide enough to decode most codes of a photograph in one step.
    static let literalRootBits = 11
    static let distanceRootBits = 8

    /// The order of the lengths of the code length code (RFC 1951 section 3.2.7).
    static let orderOfLengthCodes = [16, 17, 18, 0, 8, 7, 9, 6, 10, 5, 11, 4, 12, 3, 13, 2, 14, 1, 15]

    init?(literalLengths: Span<UInt8>, distanceLengths: Span<UInt8>) {
        let literals = InflateTable(lengths: literalLengths, rootBits: Self.literalRootBits) { symbol in
            if symbol < Self.endOfBlock { return (InflateTable.Kind.literal, symbol, 0) }
            if symbol == Self.endOfBlock { return (InflateTable.Kind.end, 0, 0) }
            let index = symbol - Self.endOfBlock - 1
            guard index < Self.lengthBases.count else { return (InflateTable.Kind.invalid, 0, 0) }
            return (InflateTable.Kind.base, Self.lengthBases[index], Self.lengthExtraBits[index])
        }
        let distances = InflateTable(lengths: distanceLengths, rootBits: Self.distanceRootBits) { symbol in
            guard symbol < Self.distanceBases.count else { return (InflateTable.Kind.invalid, 0, 0) }
            return (InflateTable.Kind.base, Self.distanceBases[symbol], Self.distanceExtraBits[symbol])
        }
        guard let literals, let distances else { return nil }
        self.literals = literals
        self.distances = distances
    }

    /// The fixed Huffman codes (RFC 1951 section 3.2.6).
    static let fixed: InflateCodes = {
        var lengths = [UInt8](repeating: 8, count: 288)
        for symbol in 144..<256 { lengths[symbol] = 9 }
        for symbol in 256..<280 { lengths[symbol] = 7 }
        let distances = [UInt8](repeating: 5, count: 32)
        guard let codes = InflateCodes(literalLengths: lengths.span, distanceLengths: distances.span) else {
            preconditionFailure("the fixed codes of the standard are prefix codes")
        }
        return codes
    }()

    static let lengthExtraBits = [
        0, 0, 0, 0, 0, 0, 0, 0, 1, 1, 1, 1, 2, 2, 2, 2, 3, 3, 3, 3, 4, 4, 4, 4, 5, 5, 5, 5, 0,
    ]
    static let lengthBases = [
        3, 4, 5, 6, 7, 8, 9, 10, 11, 13, 15, 17, 19, 23, 27, 31, 35, 43, 51, 59, 67, 83, 99, 115, 131, 163,
        195,
        227, 258,
    ]
    static let distanceExtraBits = [
        0, 0, 0, 0, 1, 1, 2, 2, 3, 3, 4, 4, 5, 5, 6, 6, 7, 7, 8, 8, 9, 9, 10, 10, 11, 11, 12, 12, 13, 13,
    ]
    static let distanceBases = [
        1, 2, 3, 4, 5, 7, 9, 13, 17, 25, 33, 49, 65, 97, 129, 193, 257, 385, 513, 769, 1025, 1537, 2049, 3073,
        4097, 6145, 8193, 12289, 16385, 24577,
    ]
}
