/// Writes small JPEG files by segments, valid and invalid. By default they are grey, 8 x 8, and uniform.
enum JPEGWriter {
    static let start: [UInt8] = [0xFF, 0xD8]
    static let end: [UInt8] = [0xFF, 0xD9]

    static func segment(_ marker: UInt8, _ body: [UInt8]) -> [UInt8] {
        [0xFF, marker, UInt8((body.count + 2) >> 8), UInt8((body.count + 2) & 255)] + body
    }

    /// Table 0 with all steps 1.
    static let quantisation = segment(0xDB, [0] + Array(repeating: 1, count: 64))

    struct Component {
        var identifier: UInt8 = 1
        var sampling: UInt8 = 0x11
        var table: UInt8 = 0
    }

    static func frame(
        marker: UInt8 = 0xC0, precision: UInt8 = 8, width: Int = 8, height: Int = 8,
        components: [Component] = [Component()]
    ) -> [UInt8] {
        segment(
            marker,
            [precision, UInt8(height >> 8), UInt8(height & 255), UInt8(width >> 8), UInt8(width & 255)]
                + [UInt8(components.count)] + components.flatMap { [$0.identifier, $0.sampling, $0.table] })
    }

    /// A Huffman table with this class and number, and the symbols of each code length.
    static func huffman(_ table: UInt8, _ symbols: [Int: [UInt8]]) -> [UInt8] {
        let lengths = 1...16
        return segment(
            0xC4,
            [table] + lengths.map { UInt8(symbols[$0]?.count ?? 0) } + lengths.flatMap { symbols[$0] ?? [] })
    }

    /// DC: 0 is no difference, 10 a difference of one bit. AC: 0 is the end of block, 10 is fifteen zeros and
    /// a coefficient of one bit.
    static let tables = huffman(0x00, [1: [0], 2: [1]]) + huffman(0x10, [1: [0x00], 2: [0xF1]])

    static func scan(
        components: [(identifier: UInt8, tables: UInt8)] = [(1, 0)], spectrum: (UInt8, UInt8) = (0, 63),
        approximation: UInt8 = 0
    ) -> [UInt8] {
        segment(
            0xDA,
            [UInt8(components.count)] + components.flatMap { [$0.identifier, $0.tables] }
                + [spectrum.0, spectrum.1, approximation])
    }

    /// One block: no difference, end of block, padded with ones.
    static let greyBlock: [UInt8] = [0x3F]

    /// A file of these segments between SOI and EOI.
    static func file(_ segments: [UInt8]...) -> [UInt8] { start + segments.flatMap(\.self) + end }

    static let grey = file(quantisation, frame(), tables, scan(), greyBlock)

    /// An APP1 segment whose Exif directory has only the orientation.
    static func exif(orientation: UInt8, isBigEndian: Bool = true) -> [UInt8] {
        let identifier: [UInt8] = [0x45, 0x78, 0x69, 0x66, 0, 0]
        let bigEndian: [UInt8] = [
            0x4D, 0x4D, 0, 0x2A, 0, 0, 0, 8, 0, 1, 1, 0x12, 0, 3, 0, 0, 0, 1, 0, orientation, 0, 0, 0, 0, 0,
            0,
        ]
        let littleEndian: [UInt8] = [
            0x49, 0x49, 0x2A, 0, 8, 0, 0, 0, 1, 0, 0x12, 1, 3, 0, 1, 0, 0, 0, orientation, 0, 0, 0, 0, 0, 0,
            0,
        ]
        return segment(0xE1, identifier + (isBigEndian ? bigEndian : littleEndian))
    }
}
