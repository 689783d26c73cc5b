/// The segments before a file's only scan:
///
///     FF D8
///     FF E0 00 10 "JFIF" 00  01 01  00 00 01 00 01  00 00       version 1.1, square pixels, no thumbnail
///     FF DB 00 43 00 …  FF DB 00 43 01 …                        steps of luma, of colour
///     FF C0 00 11 08 02 EE 01 F4 03  01 22 00  02 11 01  03 11 01
///     FF C4 … 00 …  FF C4 … 10 …  FF C4 … 01 …  FF C4 … 11 …    codes: DC and AC of luma, of colour
///     FF DA 00 0C 03  01 00  02 11  03 11  00 3F 00
enum JPEGHeader {
    /// - Parameters:
    ///   - steps: the quantisation steps of luma and chroma.
    ///   - codes: the DC and AC codes of luma, then of chroma.
    static func bytes(
        of size: ImageSize, _ layout: JPEGSamples.Layout, steps: [[UInt8]], codes: [JPEGHuffmanCode]
    ) -> [UInt8] {
        var file: [UInt8] = [0xFF, 0xD8]
        append(0xE0, Array("JFIF".utf8) + [0, 1, 1, 0, 0, 1, 0, 1, 0, 0], to: &file)
        // A grey image has no chroma tables.
        let tables = layout == .grey ? 1 : 2
        for (number, steps) in steps.prefix(tables).enumerated() {
            let zigzag = (0..<64).map { steps[Int(Zigzag.natural[$0])] }
            append(0xDB, [UInt8(number)] + zigzag, to: &file)
        }
        let components: [UInt8] = layout == .grey ? [1] : [1, 2, 3]
        let lumaSampling: UInt8 = layout == .quarter ? 0x22 : 0x11
        append(
            0xC0,
            [8] + bigEndian(size.height) + bigEndian(size.width) + [UInt8(components.count)]
                + components.flatMap { $0 == 1 ? [1, lumaSampling, 0] : [$0, 0x11, 1] },
            to: &file)
        for (index, code) in codes.prefix(tables * 2).enumerated() {
            let number = UInt8((index % 2) << 4 | index / 2)
            append(0xC4, [number] + code.counts + code.symbols, to: &file)
        }
        append(
            0xDA,
            [UInt8(components.count)] + components.flatMap { $0 == 1 ? [1, 0] : [$0, 0x11] } + [0, 63, 0],
            to: &file)
        return file
    }

    /// A segment: marker, length and body (T.81 B.1.1.4). The body has at most 65,533 bytes.
    static func append(_ marker: UInt8, _ body: [UInt8], to file: inout [UInt8]) {
        file += [0xFF, marker] + bigEndian(body.count + 2) + body
    }

    private static func bigEndian(_ value: Int) -> [UInt8] {
        [UInt8(truncatingIfNeeded: value >> 8), UInt8(truncatingIfNeeded: value)]
    }
}
