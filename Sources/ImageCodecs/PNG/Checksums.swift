/// The CRC of a PNG chunk: CRC-32 of ISO 3309 (PNG 5.5), eight bytes at a time.
enum CRC32 {
    static func checksum(of bytes: Span<UInt8>) -> UInt32 {
        let tables = tables.span
        var crc: UInt32 = 0xFFFF_FFFF
        var offset = 0
        while offset &+ 8 <= bytes.count {
            let word = bytes.littleEndianWord(at: offset) ^ UInt64(crc)
            let low =
                tables[Int(truncatingIfNeeded: word & 0xFF) &+ 1792]
                ^ tables[Int(truncatingIfNeeded: word &>> 8 & 0xFF) &+ 1536]
                ^ tables[Int(truncatingIfNeeded: word &>> 16 & 0xFF) &+ 1280]
                ^ tables[Int(truncatingIfNeeded: word &>> 24 & 0xFF) &+ 1024]
            let high =
                tables[Int(truncatingIfNeeded: word &>> 32 & 0xFF) &+ 768]
                ^ tables[Int(truncatingIfNeeded: word &>> 40 & 0xFF) &+ 512]
                ^ tables[Int(truncatingIfNeeded: word &>> 48 & 0xFF) &+ 256]
                ^ tables[Int(truncatingIfNeeded: word &>> 56)]
            crc = low ^ high
            offset &+= 8
        }
        while offset < bytes.count {
            crc = tables[Int((crc ^ UInt32(bytes[offset])) & 0xFF)] ^ crc >> 8
            offset &+= 1
        }
        return ~crc
    }

    /// Eight tables of 256 entries: the effect of a byte followed by 0 to 7 others.
    private static let tables: [UInt32] = {
        var tables = [UInt32](repeating: 0, count: 2048)
        for byte in 0..<256 {
            var crc = UInt32(byte)
            for _ in 0..<8 { crc = crc & 1 == 1 ? 0xEDB8_8320 ^ crc >> 1 : crc >> 1 }
            tables[byte] = crc
        }
        for index in 256..<2048 {
            let previous = tables[index - 256]
            tables[index] = tables[Int(previous & 0xFF)] ^ previous >> 8
        }
        return tables
    }()
}

/// The checksum of a zlib stream (RFC 1950 section 8.2): the sum of all bytes, and the sum of those sums.
struct Adler32 {
    /// The most bytes whose sums fit into 32 bits without reduction, in whole vectors.
    private static let longestRun = 5552
    private static let modulus: UInt32 = 65521

    private var low: UInt32 = 1
    private var high: UInt32 = 0

    var value: UInt32 { high << 16 | low }

    static func checksum(of bytes: Span<UInt8>) -> UInt32 {
        var sum = Adler32()
        sum.update(bytes)
        return sum.value
    }

    mutating func update(_ bytes: Span<UInt8>) {
        var offset = 0
        while offset < bytes.count {
            let end = min(offset &+ Self.longestRun, bytes.count)
            // Eight parallel sums. A byte counts in `high` once for itself and once for each byte after it.
            var sums = SIMD8<UInt32>()
            var sumsOfSums = SIMD8<UInt32>()
            let start = offset
            while offset &+ 8 <= end {
                sumsOfSums &+= sums
                sums &+= SIMD8<UInt32>(truncatingIfNeeded: bytes.vector8(at: offset))
                offset &+= 8
            }
            high &+= low &* UInt32(offset &- start) &+ sumsOfSums.wrappedSum() &* 8
            high &+= (sums &* SIMD8(8, 7, 6, 5, 4, 3, 2, 1)).wrappedSum()
            low &+= sums.wrappedSum()
            while offset < end {
                low &+= UInt32(bytes[offset])
                high &+= low
                offset &+= 1
            }
            low %= Self.modulus
            high %= Self.modulus
        }
    }
}
