/// Decompresses a zlib stream (RFC 1950) of DEFLATE blocks (RFC 1951), piece by piece.
///
///     78 9C             compression method and window, flags (RFC 1950 section 2.2)
///     ...               blocks: 1 bit last, 2 bits kind, data
///     00 62 00 62       Adler-32 of the output
///
/// The output is a buffer. `fill` writes up to its end, and `drop` makes room again; the last 32 KiB stay, because
/// matches repeat them. Of a damaged stream the bytes before the damage are given.
struct Inflate {
    /// The output of a stream.
    struct Output {
        var bytes: [UInt8]
        /// Why there are fewer bytes than wanted, or why they may be wrong.
        var damage: ImageDecodingError?
    }

    /// What `fill` goes on with.
    private enum Block {
        case none
        /// The bytes of a stored block that are left.
        case stored(Int)
        case compressed(InflateCodes)
    }

    private var input: InflateBits
    /// The output, of which `produced` bytes are valid.
    private(set) var buffer: [UInt8]
    private(set) var produced = 0
    /// How many bytes were dropped before the buffer.
    private var dropped = 0
    private var block = Block.none
    private var isLast = false
    /// What is left of a match that met the end of the buffer.
    private var rest = (length: 0, distance: 0)
    /// Whether the last block is read to its end.
    private(set) var isAtEnd = false
    private var codesRead = 0
    private var checksum = Adler32()
    /// The offset of the stream in its file, for errors.
    private let origin: Int

    /// The greatest expansion of a byte: four matches of 258 bytes, each coded in two bits.
    private static let largestExpansion = 1032
    /// The greatest distance of a match (RFC 1951 section 3.2.5).
    private static let window = 32 << 10

    /// A limit for blocks with their own codes, whose tables are slow to build: this many, and one more for each
    /// `bytesForCodes` bytes of output. Encoders write one for some thousands of bytes.
    private static let freeCodes = 1024
    private static let bytesForCodes = 128

    /// Begins with the blocks at an offset.
    private init(blocksAt position: Int, capacity: Int, origin: Int) {
        input = InflateBits(position: position)
        buffer = [UInt8](repeating: 0, count: capacity)
        self.origin = origin
    }

    /// Reads the header of a zlib stream.
    /// - Parameter piece: how many bytes the caller wants together. Nil: the buffer has room for `size` and one more.
    init(
        _ stream: Span<UInt8>, size: Int, piece: Int? = nil, origin: Int
    ) throws(ImageDecodingError) {
        guard stream.count >= 2 else { throw .truncated(offset: origin + stream.count) }
        let header = Int(stream[0]) << 8 | Int(stream[1])
        guard stream[0] & 0x0F == 8, stream[0] >> 4 <= 7, header % 31 == 0, stream[1] & 0x20 == 0 else {
            throw .corrupt(segment: "zlib header", offset: origin)
        }
        // A short stream cannot fill a large picture.
        let most = min(size, stream.count * Self.largestExpansion) + 1
        self.init(blocksAt: 2, capacity: min(most, piece.map(Self.memory) ?? most), origin: origin)
    }

    /// The bytes of the buffer for a caller that wants so many together.
    static func memory(forPieces piece: Int) -> Int { window + max(2 * window, 2 * piece) }

    /// The first `outputSize` bytes of a zlib stream. Data past them is ignored, as in libpng, and then also the
    /// checksum.
    static func decompress(_ stream: Span<UInt8>, outputSize: Int, origin: Int) -> Output {
        do throws(ImageDecodingError) {
            var inflate = try Inflate(stream, size: outputSize, origin: origin)
            let damage = inflate.finish(outputSize, from: stream)
            inflate.buffer.removeLast(inflate.buffer.count - min(inflate.produced, outputSize))
            return Output(bytes: inflate.buffer, damage: damage)
        } catch {
            return Output(bytes: [], damage: error)
        }
    }

    /// The output of blocks that begin at an offset of a file, without a zlib header; nil if they are damaged, or do
    /// not fill it exactly.
    static func decompressBlocks(_ file: Span<UInt8>, from offset: Int, outputSize: Int) -> [UInt8]? {
        guard outputSize <= file.count * largestExpansion else { return nil }
        var inflate = Inflate(blocksAt: offset, capacity: outputSize + 1, origin: 0)
        // Ignored: the caller needs no place.
        guard (try? inflate.fill(from: file)) != nil, inflate.produced == outputSize else { return nil }
        inflate.buffer.removeLast()
        return inflate.buffer
    }

    /// Reads the rest of the stream, once `wanted` bytes are all that there should be.
    /// - Returns: why there are fewer, or why they may be wrong; nil if the stream has more.
    mutating func finish(_ wanted: Int, from stream: Span<UInt8>) -> ImageDecodingError? {
        do throws(ImageDecodingError) {
            if !isAtEnd, dropped + produced <= wanted { try fill(from: stream) }
            if dropped + produced > wanted { return nil }
            guard dropped + produced == wanted else {
                throw .corrupt(segment: "image data is too short", offset: origin)
            }
            input.alignToByte()
            guard let check = stream.bigEndian32(at: input.position) else {
                throw .truncated(offset: origin + stream.count)
            }
            guard checksum.value == UInt32(check) else {
                throw .corrupt(segment: "Adler-32 of the image data", offset: origin)
            }
            return nil
        } catch {
            return error
        }
    }

    /// Drops the first bytes of the buffer, as far as matches do not need them.
    /// - Parameter count: how many the caller has used.
    /// - Returns: how many are dropped.
    mutating func drop(_ count: Int) -> Int {
        let gone = max(0, min(count, produced - Self.window))
        if gone > 0 {
            let kept = produced - gone
            var bytes = buffer.mutableSpan
            for index in 0..<kept { bytes[index] = bytes[index &+ gone] }
            produced = kept
            dropped += gone
        }
        return gone
    }

    /// Writes output until the buffer is full or the stream ends. After an error the bytes before it are valid.
    mutating func fill(from stream: Span<UInt8>) throws(ImageDecodingError) {
        let start = produced
        // The buffer moves out while it is written.
        var output: [UInt8] = []
        swap(&output, &buffer)
        defer {
            checksum.update(output.span.extracting(start..<produced))
            buffer = output
        }
        while produced < output.count, !isAtEnd {
            switch block {
            case .none: try readHeader(from: stream)
            case .stored(let count): try copyStored(count, from: stream, into: &output)
            case .compressed(let codes): try readCompressed(from: stream, into: &output, codes)
            }
        }
    }

    private mutating func readHeader(from stream: Span<UInt8>) throws(ImageDecodingError) {
        if isLast {
            isAtEnd = true
            return
        }
        input.refill(from: stream)
        isLast = input.take(1) == 1
        let kind = input.take(2)
        guard input.count >= 0 else { throw .truncated(offset: origin + stream.count) }
        switch kind {
        case 0: block = .stored(try readStoredLength(from: stream))
        case 1: block = .compressed(.fixed)
        case 2: block = .compressed(try readCodes(from: stream))
        default: throw corrupt("DEFLATE block type")
        }
    }

    private func corrupt(_ segment: String) -> ImageDecodingError {
        .corrupt(segment: segment, offset: origin + input.position)
    }

    /// RFC 1951 section 3.2.4: the length and its complement, before the bytes.
    private mutating func readStoredLength(from stream: Span<UInt8>) throws(ImageDecodingError) -> Int {
        input.alignToByte()
        guard let length = stream.littleEndian16(at: input.position),
            let complement = stream.littleEndian16(at: input.position + 2)
        else { throw .truncated(offset: origin + stream.count) }
        guard length ^ complement == 0xFFFF else { throw corrupt("stored block") }
        input.advance(by: 4)
        return length
    }

    private mutating func copyStored(
        _ length: Int, from stream: Span<UInt8>, into output: inout [UInt8]
    ) throws(ImageDecodingError) {
        let room = min(length, output.count - produced)
        let source = stream.extracting(input.position..<min(input.position + room, stream.count))
        var target = output.mutableSpan
        for index in 0..<source.count { target[produced &+ index] = source[index] }
        produced += source.count
        input.advance(by: source.count)
        block = room < length ? .stored(length - room) : .none
        guard source.count == room else { throw .truncated(offset: origin + stream.count) }
    }

    /// RFC 1951 section 3.2.3: literals and pairs of length and distance, up to the end of the block or of the buffer.
    private mutating func readCompressed(
        from stream: Span<UInt8>, into output: inout [UInt8], _ codes: InflateCodes
    ) throws(ImageDecodingError) {
        let literals = codes.literals.entries.span
        let distances = codes.distances.entries.span
        var bits = input
        var position = produced
        var (length, distance) = rest
        defer {
            input = bits
            produced = position
            rest = (length, distance)
        }
        var output = output.mutableSpan
        while true {
            if length > 0 {
                let part = min(length, output.count &- position)
                Self.copy(part, from: distance, to: position, in: &output)
                position &+= part
                length &-= part
            }
            if position == output.count { return }
            bits.refill(from: stream)
            var entry = bits.entry(in: literals, rootBits: InflateCodes.literalRootBits)
            // If there is room, decode up to three literals per refill, which holds three of the longest codes.
            if InflateTable.isLiteral(entry), position &+ 3 <= output.count {
                output[position] = UInt8(truncatingIfNeeded: entry >> 16)
                position &+= 1
                entry = bits.entry(in: literals, rootBits: InflateCodes.literalRootBits)
                if InflateTable.isLiteral(entry) {
                    output[position] = UInt8(truncatingIfNeeded: entry >> 16)
                    position &+= 1
                    entry = bits.entry(in: literals, rootBits: InflateCodes.literalRootBits)
                }
                if !InflateTable.isLiteral(entry) { bits.refill(from: stream) }
            }
            switch entry >> 8 & 15 {
            case InflateTable.Kind.literal:
                output[position] = UInt8(truncatingIfNeeded: entry >> 16)
                position &+= 1
            case InflateTable.Kind.base:
                let wanted = Int(entry >> 16) &+ bits.take(Int(entry >> 4 & 15))
                let distanceEntry = bits.entry(in: distances, rootBits: InflateCodes.distanceRootBits)
                guard distanceEntry >> 8 & 15 == InflateTable.Kind.base else {
                    throw corrupt("DEFLATE distance code")
                }
                distance = Int(distanceEntry >> 16) &+ bits.take(Int(distanceEntry >> 4 & 15))
                guard distance <= position else { throw corrupt("DEFLATE distance") }
                length = wanted
            case InflateTable.Kind.end:
                guard bits.count >= 0 else { throw .truncated(offset: origin + stream.count) }
                block = .none
                return
            default:
                guard bits.count >= 0 else { throw .truncated(offset: origin + stream.count) }
                throw corrupt("DEFLATE code")
            }
            guard bits.count >= 0 else {
                length = 0
                throw .truncated(offset: origin + stream.count)
            }
        }
    }

    /// Copies `length` bytes from `distance` before `position`. The ranges may overlap, as DEFLATE requires.
    @inline(__always)
    private static func copy(
        _ length: Int, from distance: Int, to position: Int, in output: inout MutableSpan<UInt8>
    ) {
        let end = position &+ length
        var target = position
        // Eight bytes at a time, past the end if there is room: later output overwrites the excess. A shorter pattern
        // repeats itself, so a multiple of its distance gives the same bytes, once so many of them are there.
        var step = distance
        while step < 8 { step &+= distance }
        let isWide = end &+ 8 <= output.count
        let first = isWide ? min(end, position &+ step &- distance) : end
        while target < first {
            output[target] = output[target &- distance]
            target &+= 1
        }
        while target < end {
            output.copyEight(from: target &- step, to: target)
            target &+= 8
        }
    }

    /// RFC 1951 section 3.2.7: the lengths of both codes, run-length and Huffman coded.
    private mutating func readCodes(from stream: Span<UInt8>) throws(ImageDecodingError) -> InflateCodes {
        codesRead += 1
        guard codesRead <= Self.freeCodes + (dropped + produced) / Self.bytesForCodes else {
            throw corrupt("number of DEFLATE blocks")
        }
        input.refill(from: stream)
        let literalCount = input.take(5) + 257
        let distanceCount = input.take(5) + 1
        let lengthCodeCount = input.take(4) + 4
        guard literalCount <= 286, distanceCount <= 30 else { throw corrupt("number of DEFLATE codes") }
        var lengthCodeLengths = [UInt8](repeating: 0, count: 19)
        for index in 0..<lengthCodeCount {
            input.refill(from: stream)
            lengthCodeLengths[InflateCodes.orderOfLengthCodes[index]] = UInt8(input.take(3))
        }
        let lengthCode = InflateTable(
            lengths: lengthCodeLengths.span, rootBits: 7, meaning: InflateTable.literal)
        guard let lengthCode else { throw corrupt("DEFLATE code of code lengths") }

        var lengths: [UInt8] = []
        let total = literalCount + distanceCount
        while lengths.count < total {
            input.refill(from: stream)
            let entry = input.entry(in: lengthCode.entries.span, rootBits: lengthCode.rootBits)
            guard entry >> 8 & 15 == InflateTable.Kind.literal else { throw corrupt("DEFLATE code lengths") }
            let repeated: UInt8
            let count: Int
            switch entry >> 16 {
            case 16:
                guard let last = lengths.last else { throw corrupt("DEFLATE code lengths") }
                (repeated, count) = (last, 3 + input.take(2))
            case 17: (repeated, count) = (0, 3 + input.take(3))
            case 18: (repeated, count) = (0, 11 + input.take(7))
            case let length: (repeated, count) = (UInt8(truncatingIfNeeded: length), 1)
            }
            guard input.count >= 0 else { throw .truncated(offset: origin + stream.count) }
            guard count <= total - lengths.count else { throw corrupt("DEFLATE code lengths") }
            lengths.append(contentsOf: repeatElement(repeated, count: count))
        }
        let literalLengths = lengths.span.extracting(0..<literalCount)
        guard literalLengths[InflateCodes.endOfBlock] > 0,
            let codes = InflateCodes(
                literalLengths: literalLengths, distanceLengths: lengths.span.extracting(literalCount..<total)
            )
        else { throw corrupt("DEFLATE codes") }
        return codes
    }
}

/// The bits of a DEFLATE stream, lowest bit of each byte first (RFC 1951 section 3.1.1). GIF and lossless WebP order them
/// in the same way.
struct InflateBits {
    private(set) var bits: UInt64 = 0
    /// The number of valid `bits`. Past the end of the input further bits read as 0 and the count turns negative, which
    /// callers check.
    private(set) var count = 0
    private(set) var position: Int

    init(position: Int) { self.position = position }

    /// Makes at least 48 bits available, for a length and a distance with all extra bits.
    @inline(__always)
    mutating func refill(from input: Span<UInt8>) {
        if count >= 48 { return }
        if position &+ 8 <= input.count {
            bits |= input.littleEndianWord(at: position) &<< UInt64(truncatingIfNeeded: count)
            position &+= (63 &- count) &>> 3
            count |= 56
        } else {
            while count <= 56, position < input.count {
                if count >= 0 { bits |= UInt64(input[position]) &<< UInt64(truncatingIfNeeded: count) }
                position &+= 1
                count &+= 8
            }
        }
    }

    @inline(__always)
    mutating func skip(_ length: Int) {
        bits &>>= UInt64(truncatingIfNeeded: length)
        count &-= length
    }

    @inline(__always)
    mutating func take(_ length: Int) -> Int {
        let value = Int(truncatingIfNeeded: bits) & (1 &<< length &- 1)
        skip(length)
        return value
    }

    /// Drops the rest of the current byte, and returns bytes that were read ahead to the input.
    mutating func alignToByte() {
        position &-= max(0, count) &>> 3
        bits = 0
        count = 0
    }

    /// Skips bytes that were read elsewhere.
    mutating func advance(by length: Int) { position &+= length }

    /// The entry of the next symbol, in the table that begins at `start`. Consumes its code, but not its extra bits.
    @inline(__always)
    mutating func entry(in table: Span<UInt32>, from start: Int = 0, rootBits: Int) -> UInt32 {
        var entry = table[start &+ Int(truncatingIfNeeded: bits) & (1 &<< rootBits &- 1)]
        skip(Int(entry & 15))
        if InflateTable.isLiteral(entry) { return entry }
        if entry >> 8 & 15 == InflateTable.Kind.secondLevel {
            let width = Int(entry >> 4 & 15)
            entry =
                table[
                    start &+ Int(entry >> 16) &+ Int(truncatingIfNeeded: bits) & (1 &<< width &- 1)]
            skip(Int(entry & 15))
        }
        return entry
    }
}

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

    typealias Meaning = (kind: UInt32, value: Int, extraBits: Int)

    /// The meaning of a symbol that stands for itself.
    static func literal(_ symbol: Int) -> Meaning { (Kind.literal, symbol, 0) }

    /// Builds the table from the code length of each symbol; `meaning` gives a symbol's kind, value and extra bits.
    ///
    /// Nil if the lengths are not a prefix code: over-subscribed, or incomplete. As in zlib, a single code of one bit
    /// is allowed, and also no code at all, for the distances of a block without matches.
    init?(lengths: Span<UInt8>, rootBits: Int, meaning: (Int) -> Meaning) {
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
    init(only meaning: Meaning) {
        entries = [Self.entry(0, meaning.kind, meaning.value, meaning.extraBits)]
        rootBits = 0
    }

    private static func entry(_ length: Int, _ kind: UInt32, _ value: Int, _ extraBits: Int) -> UInt32 {
        UInt32(value) << 16 | kind << 8 | UInt32(extraBits) << 4 | UInt32(length)
    }

    /// The first code of each length, for the number of codes of each length.
    static func firstCodes(_ counts: [Int]) -> [Int] {
        var codes = [Int](repeating: 0, count: counts.count)
        for length in 1..<counts.count { codes[length] = (codes[length - 1] + counts[length - 1]) << 1 }
        return codes
    }

    /// Huffman codes are packed from their highest bit, all other values from the lowest (RFC 1951 section 3.1.1).
    static func reversed(_ code: Int, bits: Int) -> Int {
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
    fileprivate static let literalRootBits = 11
    fileprivate static let distanceRootBits = 8

    /// The order of the lengths of the code length code (RFC 1951 section 3.2.7).
    static let orderOfLengthCodes = [16, 17, 18, 0, 8, 7, 9, 6, 10, 5, 11, 4, 12, 3, 13, 2, 14, 1, 15]

    init?(literalLengths: Span<UInt8>, distanceLengths: Span<UInt8>) {
        let literals = InflateTable(lengths: literalLengths, rootBits: Self.literalRootBits) { symbol in
            if symbol < Self.endOfBlock { return InflateTable.literal(symbol) }
            if symbol == Self.endOfBlock { return (InflateTable.Kind.end, 0, 0) }
            let index = symbol - Self.endOfBlock - 1
            guard index < Self.lengthBases.count else { return (InflateTable.Kind.invalid, 0, 0) }
            return (InflateTable.Kind.base, Self.lengthBases[index], Self.lengthExtraBits[index])
        }
        let distances = InflateTable(lengths: distanceLengths, rootBits: Self.distanceRootBits) { symbol in
            guard symbol < Self.distanceCount else { return (InflateTable.Kind.invalid, 0, 0) }
            let (base, extraBits) = Self.range(ofSymbol: symbol)
            return (InflateTable.Kind.base, base, extraBits)
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
    /// The number of symbols for distances.
    private static let distanceCount = 30

    /// The least value of a symbol for a distance, and the number of its extra bits. Lossless WebP has the same for
    /// distances and lengths, with more symbols (RFC 9649 section 5.2.2).
    @inline(__always)
    static func range(ofSymbol symbol: Int) -> (base: Int, extraBits: Int) {
        if symbol < 4 { return (symbol &+ 1, 0) }
        let extraBits = (symbol &- 2) &>> 1
        return ((2 &+ symbol & 1) &<< extraBits &+ 1, extraBits)
    }
}
