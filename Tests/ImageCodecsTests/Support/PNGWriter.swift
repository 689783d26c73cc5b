/// Writes PNG files by chunks, valid and invalid. It computes checksums bit by bit, independently of the
/// module under test.
enum PNGWriter {
    static let signature: [UInt8] = [0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A]

    static func chunk(_ type: String, _ body: [UInt8] = []) -> [UInt8] {
        let checked = Array(type.utf8) + body
        return bigEndian(body.count) + checked + bigEndian(Int(crc(checked)))
    }

    static func header(
        width: Int = 2, height: Int = 2, depth: UInt8 = 8, colourType: UInt8 = 0, interlace: UInt8 = 0
    ) -> [UInt8] {
        chunk("IHDR", bigEndian(width) + bigEndian(height) + [depth, colourType, 0, 0, interlace])
    }

    /// A zlib stream of one stored block.
    static func stored(_ data: [UInt8]) -> [UInt8] {
        let length = data.count
        let block = [
            1, UInt8(length & 255), UInt8(length >> 8), UInt8(~length & 255), UInt8(~length >> 8 & 255),
        ]
        return zlib(block + data, of: data)
    }

    /// A zlib stream of these DEFLATE blocks, with the checksum of `data`.
    static func zlib(_ blocks: [UInt8], of data: [UInt8]) -> [UInt8] {
        [0x78, 0x01] + blocks + bigEndian(Int(adler(data)))
    }

    /// Grey, 2 x 2, 8 bits: four values without a filter.
    static let rows: [UInt8] = [0, 10, 20, 0, 30, 40]

    /// A file of these chunks after the signature.
    static func file(_ chunks: [UInt8]...) -> [UInt8] { signature + chunks.flatMap(\.self) }

    /// A grey picture of 2 x 2 with this image data.
    static func file(imageData: [UInt8]) -> [UInt8] {
        file(header(), chunk("IDAT", imageData), chunk("IEND"))
    }

    static func bigEndian(_ value: Int) -> [UInt8] {
        [24, 16, 8, 0].map { UInt8(truncatingIfNeeded: value >> $0) }
    }

    private static func crc(_ bytes: [UInt8]) -> UInt32 {
        var crc: UInt32 = 0xFFFF_FFFF
        for byte in bytes {
            crc ^= UInt32(byte)
            for _ in 0..<8 { crc = crc & 1 == 1 ? 0xEDB8_8320 ^ crc >> 1 : crc >> 1 }
        }
        return ~crc
    }

    private static func adler(_ bytes: [UInt8]) -> UInt32 {
        var low: UInt32 = 1
        var high: UInt32 = 0
        for byte in bytes {
            low = (low + UInt32(byte)) % 65521
            high = (high + low) % 65521
        }
        return high << 16 | low
    }
}

/// Packs bits as DEFLATE does: numbers from their lowest bit, Huffman codes from their highest.
struct DeflateBits {
    private(set) var bytes: [UInt8] = []
    private var used = 0

    mutating func number(_ value: Int, bits: Int) {
        for bit in 0..<bits {
            if used % 8 == 0 { bytes.append(0) }
            bytes[bytes.count - 1] |= UInt8(value >> bit & 1) << UInt8(used % 8)
            used += 1
        }
    }

    mutating func code(_ value: Int, bits: Int) {
        for bit in (0..<bits).reversed() { number(value >> bit, bits: 1) }
    }

    /// A literal byte below 144 in the fixed code.
    mutating func literal(_ byte: UInt8) { code(0x30 + Int(byte), bits: 8) }
}
