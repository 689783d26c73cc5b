/// The check of a PNG chunk: CRC-32 of ISO 3309, as PNG 5.5 has it, four bytes at a step.
enum CRC32 {
    static func checksum(of bytes: Span<UInt8>) -> UInt32 {
        let tables = tables.span
        var crc: UInt32 = 0xFFFF_FFFF
        var offset = 0
        while offset &+ 4 <= bytes.count {
            let word = bytes.extracting(offset..<offset &+ 4)
            crc ^= UInt32(word[0]) | UInt32(word[1]) << 8 | UInt32(word[2]) << 16 | UInt32(word[3]) << 24
            crc =
                tables[Int(crc & 0xFF) &+ 768] ^ tables[Int(crc >> 8 & 0xFF) &+ 512]
                ^ tables[Int(crc >> 16 & 0xFF) &+ 256] ^ tables[Int(crc >> 24)]
            offset &+= 4
        }
        while offset < bytes.count {
            crc = tables[Int((crc ^ UInt32(bytes[offset])) & 0xFF)] ^ crc >> 8
            offset &+= 1
        }
        return ~crc
    }

    /// Four tables of 256: the effect of a byte that is followed by none, one, two or three others.
    private static let tables: [UInt32] = {
        var tables = [UInt32](repeating: 0, count: 1024)
        for byte in 0..<256 {
            var crc = UInt32(byte)
            for _ in 0..<8 { crc = crc & 1 == 1 ? 0xEDB8_8320 ^ crc >> 1 : crc >> 1 }
            tables[byte] = crc
        }
        for index in 256..<1024 {
            let previous = tables[index - 256]
            tables[index] = tables[Int(previous & 0xFF)] ^ previous >> 8
        }
        return tables
    }()
}

/// The check of a zlib stream (RFC 1950 section 8.2).
enum Adler32 {
    /// The most bytes whose sums fit into 32 bits before they are reduced.
    private static let longestRun = 5552
    private static let modulus: UInt32 = 65521

    static func checksum(of bytes: Span<UInt8>) -> UInt32 {
        var low: UInt32 = 1
        var high: UInt32 = 0
        var offset = 0
        while offset < bytes.count {
            let run = bytes.extracting(offset..<min(offset &+ longestRun, bytes.count))
            for index in 0..<run.count {
                low &+= UInt32(run[index])
                high &+= low
            }
            low %= modulus
            high %= modulus
            offset &+= longestRun
        }
        return high << 16 | low
    }
}
