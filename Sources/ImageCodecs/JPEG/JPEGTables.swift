/// The current tables: each DQT, DHT or DRI segment replaces some of them.
struct JPEGTables {
    /// The steps of each quantisation table, in zigzag order.
    private(set) var quantisation: [[UInt16]?] = Array(repeating: nil, count: 4)
    private(set) var dc: [JPEGHuffmanTable?] = Array(repeating: nil, count: 4)
    private(set) var ac: [JPEGHuffmanTable?] = Array(repeating: nil, count: 4)
    /// The MCUs between two restart markers; 0 for no restarts.
    private(set) var restartInterval = 0

    /// The DC table `number` for a scan of a sequential frame. Motion JPEG omits the standard tables (T.81 K.3): 0 for
    /// luminance, 1 for chrominance.
    func sequentialDC(_ number: Int) -> JPEGHuffmanTable? {
        dc[number] ?? (number < 2 ? JPEGStandardTables.dc[number] : nil)
    }

    /// The AC table; see `sequentialDC`.
    func sequentialAC(_ number: Int) -> JPEGHuffmanTable? {
        ac[number] ?? (number < 2 ? JPEGStandardTables.ac[number] : nil)
    }

    /// T.81 B.2.4.1: precision and number, then 64 steps of 8 or 16 bits; repeated.
    mutating func readQuantisation(_ body: Span<UInt8>, offset: Int) throws(ImageDecodingError) {
        let corrupt = ImageDecodingError.corrupt(segment: "quantisation table", offset: offset)
        var position = 0
        while position < body.count {
            let isWide = body[position] >> 4 == 1
            let number = Int(body[position] & 15)
            let stepBytes = isWide ? 2 : 1
            guard body[position] >> 4 <= 1, number < 4, position + 1 + 64 * stepBytes <= body.count else {
                throw corrupt
            }
            position += 1
            var steps: [UInt16] = []
            for index in 0..<64 {
                let at = position + index * stepBytes
                let step = isWide ? UInt16(body[at]) << 8 | UInt16(body[at + 1]) : UInt16(body[at])
                steps.append(step)
            }
            quantisation[number] = steps
            position += 64 * stepBytes
        }
    }

    /// T.81 B.2.4.2: class and number, 16 counts, then the symbols; repeated.
    mutating func readHuffman(_ body: Span<UInt8>, offset: Int) throws(ImageDecodingError) {
        let corrupt = ImageDecodingError.corrupt(segment: "Huffman table", offset: offset)
        var position = 0
        while position < body.count {
            let tableClass = body[position] >> 4
            let number = Int(body[position] & 15)
            guard tableClass <= 1, number < 4, position + 17 <= body.count else { throw corrupt }
            let counts = body.extracting(position + 1..<position + 17)
            var total = 0
            for index in 0..<16 { total += Int(counts[index]) }
            position += 17
            guard total <= 256, position + total <= body.count else { throw corrupt }
            let symbols = body.extracting(position..<position + total)
            guard let table = JPEGHuffmanTable(counts: counts, symbols: symbols) else { throw corrupt }
            if tableClass == 0 {
                // A DC symbol is a number of bits (T.81 F.1.2.1.1).
                for index in 0..<total where symbols[index] > 15 { throw corrupt }
                dc[number] = table
            } else {
                ac[number] = table
            }
            position += total
        }
    }

    /// T.81 B.2.4.4.
    mutating func readRestartInterval(_ body: Span<UInt8>, offset: Int) throws(ImageDecodingError) {
        guard body.count == 2, let interval = body.bigEndian16(at: 0) else {
            throw .corrupt(segment: "restart interval", offset: offset)
        }
        restartInterval = interval
    }
}

/// The zigzag order of coefficients (T.81 figure A.6): the index in the block, row by row.
enum Zigzag {
    static let natural: InlineArray<64, UInt8> = [
        0, 1, 8, 16, 9, 2, 3, 10,
        17, 24, 32, 25, 18, 11, 4, 5,
        12, 19, 26, 33, 40, 48, 41, 34,
        27, 20, 13, 6, 7, 14, 21, 28,
        35, 42, 49, 56, 57, 50, 43, 36,
        29, 22, 15, 23, 30, 37, 44, 51,
        58, 59, 52, 45, 38, 31, 39, 46,
        53, 60, 61, 54, 47, 55, 62, 63,
    ]
}

/// The typical Huffman tables of T.81 K.3, for files without tables: luminance, then chrominance. As in a DHT segment:
/// the number of codes of each length from 1 to 16, and the symbols in code order.
enum JPEGStandardTables {
    /// Tables K.3 and K.4.
    static let dc: [JPEGHuffmanTable?] = [
        table([0, 1, 5, 1, 1, 1, 1, 1, 1, 0, 0, 0, 0, 0, 0, 0], Array(0...11)),
        table([0, 3, 1, 1, 1, 1, 1, 1, 1, 1, 1, 0, 0, 0, 0, 0], Array(0...11)),
    ]

    /// Tables K.5 and K.6.
    static let ac: [JPEGHuffmanTable?] = [
        table([0, 2, 1, 3, 3, 2, 4, 3, 5, 5, 4, 4, 0, 0, 1, 0x7D], luminance),
        table([0, 2, 1, 2, 4, 4, 3, 4, 7, 5, 4, 4, 0, 1, 2, 0x77], chrominance),
    ]

    private static func table(_ counts: [UInt8], _ symbols: [UInt8]) -> JPEGHuffmanTable? {
        JPEGHuffmanTable(counts: counts.span, symbols: symbols.span)
    }

    private static let luminance: [UInt8] = [
        0x01, 0x02, 0x03, 0x00, 0x04, 0x11, 0x05, 0x12, 0x21, 0x31, 0x41, 0x06, 0x13, 0x51, 0x61, 0x07,
        0x22, 0x71, 0x14, 0x32, 0x81, 0x91, 0xA1, 0x08, 0x23, 0x42, 0xB1, 0xC1, 0x15, 0x52, 0xD1, 0xF0,
        0x24, 0x33, 0x62, 0x72, 0x82, 0x09, 0x0A, 0x16, 0x17, 0x18, 0x19, 0x1A, 0x25, 0x26, 0x27, 0x28,
        0x29, 0x2A, 0x34, 0x35, 0x36, 0x37, 0x38, 0x39, 0x3A, 0x43, 0x44, 0x45, 0x46, 0x47, 0x48, 0x49,
        0x4A, 0x53, 0x54, 0x55, 0x56, 0x57, 0x58, 0x59, 0x5A, 0x63, 0x64, 0x65, 0x66, 0x67, 0x68, 0x69,
        0x6A, 0x73, 0x74, 0x75, 0x76, 0x77, 0x78, 0x79, 0x7A, 0x83, 0x84, 0x85, 0x86, 0x87, 0x88, 0x89,
        0x8A, 0x92, 0x93, 0x94, 0x95, 0x96, 0x97, 0x98, 0x99, 0x9A, 0xA2, 0xA3, 0xA4, 0xA5, 0xA6, 0xA7,
        0xA8, 0xA9, 0xAA, 0xB2, 0xB3, 0xB4, 0xB5, 0xB6, 0xB7, 0xB8, 0xB9, 0xBA, 0xC2, 0xC3, 0xC4, 0xC5,
        0xC6, 0xC7, 0xC8, 0xC9, 0xCA, 0xD2, 0xD3, 0xD4, 0xD5, 0xD6, 0xD7, 0xD8, 0xD9, 0xDA, 0xE1, 0xE2,
        0xE3, 0xE4, 0xE5, 0xE6, 0xE7, 0xE8, 0xE9, 0xEA, 0xF1, 0xF2, 0xF3, 0xF4, 0xF5, 0xF6, 0xF7, 0xF8,
        0xF9, 0xFA,
    ]

    private static let chrominance: [UInt8] = [
        0x00, 0x01, 0x02, 0x03, 0x11, 0x04, 0x05, 0x21, 0x31, 0x06, 0x12, 0x41, 0x51, 0x07, 0x61, 0x71,
        0x13, 0x22, 0x32, 0x81, 0x08, 0x14, 0x42, 0x91, 0xA1, 0xB1, 0xC1, 0x09, 0x23, 0x33, 0x52, 0xF0,
        0x15, 0x62, 0x72, 0xD1, 0x0A, 0x16, 0x24, 0x34, 0xE1, 0x25, 0xF1, 0x17, 0x18, 0x19, 0x1A, 0x26,
        0x27, 0x28, 0x29, 0x2A, 0x35, 0x36, 0x37, 0x38, 0x39, 0x3A, 0x43, 0x44, 0x45, 0x46, 0x47, 0x48,
        0x49, 0x4A, 0x53, 0x54, 0x55, 0x56, 0x57, 0x58, 0x59, 0x5A, 0x63, 0x64, 0x65, 0x66, 0x67, 0x68,
        0x69, 0x6A, 0x73, 0x74, 0x75, 0x76, 0x77, 0x78, 0x79, 0x7A, 0x82, 0x83, 0x84, 0x85, 0x86, 0x87,
        0x88, 0x89, 0x8A, 0x92, 0x93, 0x94, 0x95, 0x96, 0x97, 0x98, 0x99, 0x9A, 0xA2, 0xA3, 0xA4, 0xA5,
        0xA6, 0xA7, 0xA8, 0xA9, 0xAA, 0xB2, 0xB3, 0xB4, 0xB5, 0xB6, 0xB7, 0xB8, 0xB9, 0xBA, 0xC2, 0xC3,
        0xC4, 0xC5, 0xC6, 0xC7, 0xC8, 0xC9, 0xCA, 0xD2, 0xD3, 0xD4, 0xD5, 0xD6, 0xD7, 0xD8, 0xD9, 0xDA,
        0xE2, 0xE3, 0xE4, 0xE5, 0xE6, 0xE7, 0xE8, 0xE9, 0xEA, 0xF2, 0xF3, 0xF4, 0xF5, 0xF6, 0xF7, 0xF8,
        0xF9, 0xFA,
    ]
}

/// A Huffman code (T.81 annex C) as a two-level table: the next nine bits select an entry, which has the symbol or
/// refers to a second-level table for longer codes.
///
/// If a coefficient's code and magnitude bits (T.81 F.2.2.1) fit into nine bits, a first-level entry has the
/// coefficient itself.
struct JPEGHuffmanTable {
    static let rootBits = 9
    static let longestCode = 16
    static let secondBits = longestCode - rootBits

    /// Three kinds of entries, from the lowest bit:
    ///
    ///     8 bits of length   8 bits     16 bits
    ///     code, magnitude    advance    coefficient, signed, never 0
    ///     code               symbol     0
    ///     255                number     0, the second-level table
    ///
    /// The advance counts the coefficient and the zeros before it.
    let entries: [UInt32]

    enum Entry {
        static let secondLevel: UInt32 = 255
        /// A code that the table does not have: as in libjpeg the symbol 0, after 17 bits.
        static let invalid: UInt32 = 17
        @inline(__always)
        static func length(_ entry: UInt32) -> Int { Int(entry & 0xFF) }
        @inline(__always)
        static func symbol(_ entry: UInt32) -> Int { Int(entry &>> 8 & 0xFF) }
        @inline(__always)
        static func hasCoefficient(_ entry: UInt32) -> Bool { entry > 0xFFFF }
        @inline(__always)
        static func advance(_ entry: UInt32) -> Int { Int(entry &>> 8 & 0xFF) }
        @inline(__always)
        static func coefficient(_ entry: UInt32) -> Int32 { Int32(bitPattern: entry) &>> 16 }
    }

    /// Builds the table from the number of codes of each length and the symbols in code order. Nil if there are too
    /// many codes of a length. Accepts the code of all ones, which T.81 C.2 reserves, as other decoders do.
    init?(counts: Span<UInt8>, symbols: Span<UInt8>) {
        var entries = [UInt32](repeating: Entry.invalid, count: 1 << Self.rootBits)
        var code = 0
        var next = 0
        for length in 1...Self.longestCode {
            for _ in 0..<Int(counts[length - 1]) {
                guard code < 1 << length, next < symbols.count else { return nil }
                Self.add(symbols[next], code: code, length: length, to: &entries)
                code += 1
                next += 1
            }
            code <<= 1
        }
        self.entries = entries
    }

    /// The start of the second-level table that `entry` refers to.
    @inline(__always)
    static func start(ofSecondLevel entry: UInt32) -> Int {
        1 &<< rootBits &+ Entry.symbol(entry) &<< secondBits
    }

    private static func add(_ symbol: UInt8, code: Int, length: Int, to entries: inout [UInt32]) {
        let entry = UInt32(symbol) << 8 | UInt32(length)
        if length <= rootBits {
            let free = rootBits - length
            for rest in 0..<1 << free {
                entries[code << free | rest] =
                    withCoefficient(symbol, length: length, rest: rest, restBits: free) ?? entry
            }
            return
        }
        let root = code >> (length - rootBits)
        if entries[root] == Entry.invalid {
            let number = (entries.count - 1 << rootBits) >> secondBits
            entries[root] = UInt32(number) << 8 | Entry.secondLevel
            entries.append(contentsOf: repeatElement(Entry.invalid, count: 1 << secondBits))
        }
        let free = longestCode - length
        let first = start(ofSecondLevel: entries[root]) + (code << free & (1 << secondBits - 1))
        for index in first..<first + 1 << free { entries[index] = entry }
    }

    /// The entry with the coefficient, if its magnitude bits are among the `restBits` after the code.
    private static func withCoefficient(_ symbol: UInt8, length: Int, rest: Int, restBits: Int) -> UInt32? {
        let magnitudeBits = Int(symbol & 15)
        guard magnitudeBits > 0, magnitudeBits <= restBits else { return nil }
        let bits = rest >> (restBits - magnitudeBits)
        let value = bits < 1 << (magnitudeBits - 1) ? bits - (1 << magnitudeBits - 1) : bits
        return UInt32(bitPattern: Int32(value)) << 16 | UInt32(symbol >> 4 + 1) << 8
            | UInt32(length + magnitudeBits)
    }
}
