/// The two codes of a DEFLATE block: literals with lengths, and distances (RFC 1951 section 3.2.5).
struct InflateCodes {
    let literals: InflateTable
    let distances: InflateTable

    static let endOfBlock = 256

    /// So many bits decode most codes of a photograph at one look.
    static let literalRootBits = 11
    static let distanceRootBits = 8

    /// The order in which the lengths of the code of code lengths are stored (RFC 1951 section 3.2.7).
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

    /// The codes that need not be sent (RFC 1951 section 3.2.6).
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
