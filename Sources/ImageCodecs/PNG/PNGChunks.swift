/// One chunk of a PNG (PNG 5.3).
struct PNGChunk: Equatable {
    /// The four letters.
    let type: String
    /// Where the chunk begins.
    let offset: Int
    let body: Range<Int>

    /// Whether the picture cannot be shown without understanding the chunk: its first letter is a capital.
    var isCritical: Bool { type.utf8.first.map { $0 & 0x20 == 0 } ?? true }
}

/// Walks the chunks of a PNG, checking each one's CRC:
///
///     00 00 00 0D  49 48 44 52  ...  C4 90 8E 3F     length of the body, "IHDR", body, CRC of type and body
struct PNGChunks {
    var offset: Int

    mutating func next(in bytes: Span<UInt8>) throws(ImageDecodingError) -> PNGChunk {
        let start = offset
        guard let length = bytes.bigEndian32(at: start), start + 8 <= bytes.count else {
            throw .truncated(offset: bytes.count)
        }
        var letters: [UInt8] = []
        for index in start + 4..<start + 8 {
            let isLetter = (0x41...0x5A).contains(bytes[index] & 0xDF)
            guard isLetter else { throw .corrupt(segment: "type of a PNG chunk", offset: start) }
            letters.append(bytes[index])
        }
        let type = String(decoding: letters, as: UTF8.self)
        guard length <= Int(Int32.max) else {
            throw .corrupt(segment: "length of \(type) chunk", offset: start)
        }
        let end = start + 8 + length
        guard let check = bytes.bigEndian32(at: end) else { throw .truncated(offset: bytes.count) }
        guard CRC32.checksum(of: bytes.extracting(start + 4..<end)) == UInt32(check) else {
            throw .corrupt(segment: "CRC of \(type) chunk", offset: start)
        }
        offset = end + 4
        return PNGChunk(type: type, offset: start, body: start + 8..<end)
    }
}
