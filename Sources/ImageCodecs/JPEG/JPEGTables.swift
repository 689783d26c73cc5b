/// The tables in force while a file is read: each DQT, DHT or DRI segment replaces some of them.
struct JPEGTables {
    /// The steps of each quantisation table, in zigzag order as they are stored.
    private(set) var quantisation: [[UInt16]?] = Array(repeating: nil, count: 4)
    private(set) var dc: [JPEGHuffmanTable?] = Array(repeating: nil, count: 4)
    private(set) var ac: [JPEGHuffmanTable?] = Array(repeating: nil, count: 4)
    /// Minimum coded units between two restart markers; nought for none.
    private(set) var restartInterval = 0

    /// The DC table `number` for a scan of a sequential frame. Motion JPEG leaves out the tables and means the standard ones
    /// (T.81 K.3): 0 for luminance, 1 for chrominance.
    func sequentialDC(_ number: Int) -> JPEGHuffmanTable? {
        dc[number] ?? (number < 2 ? JPEGStandardTables.dc[number] : nil)
    }

    /// As `sequentialDC`, the AC table.
    func sequentialAC(_ number: Int) -> JPEGHuffmanTable? {
        ac[number] ?? (number < 2 ? JPEGStandardTables.ac[number] : nil)
    }

    /// T.81 B.2.4.1: precision and number, then 64 steps of 8 or 16 bits, as often as fits.
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

    /// T.81 B.2.4.2: class and number, 16 counts, then the symbols, as often as fits.
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

/// The order in which coefficients are stored (T.81 figure A.6): where in the block, row by row, each belongs.
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
