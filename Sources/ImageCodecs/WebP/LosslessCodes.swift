/// The prefix codes of a lossless image (RFC 9649 section 5.2 and 6.2): groups of five codes, and which group each tile
/// of the image uses.
struct LosslessCodes {
    /// A code's place among `tables`.
    struct Code {
        var start = 0
        var rootBits = 0
    }

    /// The codes of a tile.
    struct Group {
        /// Green values, then lengths of copies, then indices of the colour cache.
        var green = Code()
        var red = Code()
        var blue = Code()
        var alpha = Code()
        var distance = Code()
        /// The red, blue and alpha of every pixel, if these three codes have one symbol each and so take no bits.
        var rest: UInt32?
    }

    /// The tables of all codes, one after the other; see `InflateTable`.
    private(set) var tables: [UInt32] = []
    private(set) var groups: [Group] = []
    /// The group of each tile, row by row; empty if there is only one.
    private(set) var tiles: [UInt16] = []
    /// The sides of a tile are 2 to the power of this; 30 for a single tile.
    private(set) var tileBits = 30
    private(set) var tilesAcross = 1
    /// The colour cache has 2 to the power of this entries; 0 without a cache.
    private(set) var cacheBits = 0

    /// The kinds of a green symbol are those of a literal, a base with extra bits, and this one for the cache.
    static let cacheKind = InflateTable.Kind.end
    private static let lengthCodes = 24
    private static let distanceCodes = 40
    private static let rootBits = 8
    /// The most entries of all tables. An encoder writes at most about 3,000 groups of 3,000 entries.
    private static let mostEntries = 16 << 20
    static let mostMemory = mostEntries * 4

    /// Reads the codes of an image of a size. Only the image itself, and not the images of its transforms, has tiles.
    init(
        _ size: ImageSize, hasTiles: Bool, _ input: inout LosslessInput, in bytes: Span<UInt8>
    ) throws(ImageDecodingError) {
        if try input.read(1, in: bytes) == 1 {
            cacheBits = try input.read(4, in: bytes)
            guard (1...11).contains(cacheBits) else { throw input.corrupt("bits of the WebP colour cache") }
        }
        if hasTiles, try input.read(1, in: bytes) == 1 { try readTiles(of: size, &input, in: bytes) }
        try readGroups(&input, in: bytes)
    }

    private mutating func readTiles(
        of size: ImageSize, _ input: inout LosslessInput, in bytes: Span<UInt8>
    ) throws(ImageDecodingError) {
        tileBits = try input.read(3, in: bytes) + 2
        let count = size.divided(byPowerOfTwo: tileBits)
        tilesAcross = count.width
        let image = try LosslessPixels.image(count, &input, in: bytes)
        tiles = image.map { UInt16(truncatingIfNeeded: $0 >> 8) }
    }

    /// Reads all groups, and keeps those that a tile uses.
    private mutating func readGroups(
        _ input: inout LosslessInput, in bytes: Span<UInt8>
    ) throws(ImageDecodingError) {
        let count = tiles.isEmpty ? 1 : Int(tiles.max() ?? 0) + 1
        var isUsed = [Bool](repeating: tiles.isEmpty, count: count)
        for tile in tiles { isUsed[Int(tile)] = true }
        var newNumbers = [UInt16](repeating: 0, count: count)
        for number in 0..<count {
            let group = try readGroup(isUsed: isUsed[number], &input, in: bytes)
            guard isUsed[number] else { continue }
            newNumbers[number] = UInt16(groups.count)
            groups.append(group)
        }
        for index in tiles.indices { tiles[index] = newNumbers[Int(tiles[index])] }
    }

    private mutating func readGroup(
        isUsed: Bool, _ input: inout LosslessInput, in bytes: Span<UInt8>
    ) throws(ImageDecodingError) -> Group {
        let firstCacheCode = 256 + Self.lengthCodes
        let greens = firstCacheCode + (cacheBits > 0 ? 1 << cacheBits : 0)
        var group = Group()
        group.green = try readCode(greens, isUsed: isUsed, &input, in: bytes) { symbol in
            if symbol < 256 { return InflateTable.literal(symbol) }
            if symbol >= firstCacheCode { return (Self.cacheKind, symbol - firstCacheCode, 0) }
            let (base, extraBits) = InflateCodes.range(ofSymbol: symbol - 256)
            return (InflateTable.Kind.base, base, extraBits)
        }
        group.red = try readCode(256, isUsed: isUsed, &input, in: bytes)
        group.blue = try readCode(256, isUsed: isUsed, &input, in: bytes)
        group.alpha = try readCode(256, isUsed: isUsed, &input, in: bytes)
        group.distance = try readCode(Self.distanceCodes, isUsed: isUsed, &input, in: bytes)
        if isUsed, [group.red, group.blue, group.alpha].allSatisfy({ $0.rootBits == 0 }) {
            group.rest =
                tables[group.alpha.start] << 8 & 0xFF00_0000 | tables[group.red.start] & 0x00FF_0000
                | tables[group.blue.start] >> 16
        }
        return group
    }

    /// Reads one code. A code of a single symbol takes no bits, and its table has one entry.
    private mutating func readCode(
        _ alphabet: Int, isUsed: Bool, _ input: inout LosslessInput, in bytes: Span<UInt8>,
        meaning: (Int) -> InflateTable.Meaning = InflateTable.literal
    ) throws(ImageDecodingError) -> Code {
        let lengths = try Self.readLengths(alphabet, &input, in: bytes)
        guard let table = Self.table(lengths.span, rootBits: Self.rootBits, meaning: meaning) else {
            throw input.corrupt("WebP prefix code")
        }
        guard isUsed else { return Code() }
        let code = Code(start: tables.count, rootBits: table.rootBits)
        guard tables.count + table.entries.count <= Self.mostEntries else {
            throw input.corrupt("number of WebP prefix codes")
        }
        tables += table.entries
        return code
    }

    private static func table(
        _ lengths: Span<UInt8>, rootBits: Int, meaning: (Int) -> InflateTable.Meaning
    ) -> InflateTable? {
        var longest = 0
        var used = 0
        var last = 0
        for symbol in 0..<lengths.count where lengths[symbol] > 0 {
            longest = max(longest, Int(lengths[symbol]))
            used += 1
            last = symbol
        }
        if used == 1 { return InflateTable(only: meaning(last)) }
        return used == 0
            ? nil : InflateTable(lengths: lengths, rootBits: min(rootBits, longest), meaning: meaning)
    }

    /// The length of each symbol's code (RFC 9649 section 6.2.1).
    private static func readLengths(
        _ alphabet: Int, _ input: inout LosslessInput, in bytes: Span<UInt8>
    ) throws(ImageDecodingError) -> [UInt8] {
        var lengths = [UInt8](repeating: 0, count: alphabet)
        guard try input.read(1, in: bytes) == 0 else {
            let hasTwo = try input.read(1, in: bytes) == 1
            let first = try input.read(1, in: bytes) == 1 ? 8 : 1
            var symbols = [try input.read(first, in: bytes)]
            if hasTwo { symbols.append(try input.read(8, in: bytes)) }
            for symbol in symbols where symbol < alphabet { lengths[symbol] = 1 }
            return lengths
        }
        var lengthCodeLengths = [UInt8](repeating: 0, count: 19)
        let order = [17, 18, 0, 1, 2, 3, 4, 5, 16, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15]
        for index in 0..<4 + (try input.read(4, in: bytes)) {
            lengthCodeLengths[order[index]] = UInt8(try input.read(3, in: bytes))
        }
        guard let lengthCode = table(lengthCodeLengths.span, rootBits: 7, meaning: InflateTable.literal)
        else {
            throw input.corrupt("WebP code of code lengths")
        }
        // How many code lengths follow.
        var left = alphabet
        if try input.read(1, in: bytes) == 1 {
            left = 2 + (try input.read(2 + 2 * (try input.read(3, in: bytes)), in: bytes))
            guard left <= alphabet else { throw input.corrupt("number of WebP code lengths") }
        }
        var symbol = 0
        var previous: UInt8 = 8
        while symbol < alphabet, left > 0 {
            left -= 1
            let value = try input.symbol(lengthCode, in: bytes)
            guard value >= 16 else {
                lengths[symbol] = UInt8(value)
                if value > 0 { previous = UInt8(value) }
                symbol += 1
                continue
            }
            let count =
                switch value {
                case 16: 3 + (try input.read(2, in: bytes))
                case 17: 3 + (try input.read(3, in: bytes))
                default: 11 + (try input.read(7, in: bytes))
                }
            guard count <= alphabet - symbol else { throw input.corrupt("WebP code lengths") }
            if value == 16 {
                for index in symbol..<symbol + count { lengths[index] = previous }
            }
            symbol += count
        }
        return lengths
    }
}

/// The bits of a lossless stream, and where it lies in the file.
struct LosslessInput {
    var bits: InflateBits
    /// The offset of the stream in its file, for errors.
    private let origin: Int

    init(origin: Int) {
        bits = InflateBits(position: 0)
        self.origin = origin
    }

    /// Reads a number of at most 16 bits.
    mutating func read(_ count: Int, in bytes: Span<UInt8>) throws(ImageDecodingError) -> Int {
        bits.refill(from: bytes)
        let value = bits.take(count)
        guard bits.count >= 0 else { throw .truncated(offset: origin + bytes.count) }
        return value
    }

    /// Reads a symbol of a code whose entries are literals.
    mutating func symbol(_ code: InflateTable, in bytes: Span<UInt8>) throws(ImageDecodingError) -> Int {
        bits.refill(from: bytes)
        let entry = bits.entry(in: code.entries.span, rootBits: code.rootBits)
        guard bits.count >= 0 else { throw .truncated(offset: origin + bytes.count) }
        return Int(entry >> 16)
    }

    func corrupt(_ segment: String) -> ImageDecodingError {
        .corrupt(segment: segment, offset: origin + bits.position)
    }

    func truncated(_ bytes: Span<UInt8>) -> ImageDecodingError { .truncated(offset: origin + bytes.count) }
}

extension ImageSize {
    /// The number of tiles with sides of 2 to the power of `bits` that cover the image.
    func divided(byPowerOfTwo bits: Int) -> ImageSize {
        ImageSize(width: (width + 1 << bits - 1) >> bits, height: (height + 1 << bits - 1) >> bits)
    }
}
