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
            deflate.bits.append(bytes: Self.littleEndian(Adler32.checksum(of: input)).reversed())
        case .gzip:
            let length = UInt32(truncatingIfNeeded: input.count)
            deflate.bits.append(
                bytes: Self.littleEndian(CRC32.checksum(of: input)) + Self.littleEndian(length))
        }
        return deflate.bits.bytes
    }

    private static func littleEndian(_ number: UInt32) -> [UInt8] {
        [0, 8, 16, 24].map { UInt8(truncatingIfNeeded: number >> UInt32($0)) }
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
