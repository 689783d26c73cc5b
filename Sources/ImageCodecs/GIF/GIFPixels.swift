/// The colour indices of a GIF image, decompressed from its LZW data (GIF89a, appendix F).
///
/// Each code stands for a string that the output already has, followed by one more index: the string before it and the
/// first index after that. So the table keeps only where a string lies in the output, and its length; a string is
/// copied from there. Literals lie before the output.
struct GIFPixels {
    /// The literals, then the indices in the order of the file.
    private(set) var output: [UInt8]
    private let literals: Int
    private let image: GIFImage
    /// The number of decoded pixels.
    private var decoded = 0
    /// An undefined code, where decoding ends; an index past the colour table; or the end of the file.
    private(set) var damage: ImageDecodingError?

    private static let longestCode = 12
    private static let tableSize = 1 << longestCode

    /// Throws `corrupt` for an impossible code size.
    init(_ image: GIFImage, of bytes: Span<UInt8>) throws(ImageDecodingError) {
        self.image = image
        let codeSize = Int(bytes[image.dataOffset])
        guard (1...11).contains(codeSize) else {
            throw .corrupt(segment: "LZW code size", offset: image.dataOffset)
        }
        literals = 1 << codeSize
        let count = image.size.width * image.size.height
        // Strings are copied eight bytes at a time, past the end too.
        output = [UInt8](repeating: 0, count: literals + count + 8)
        for literal in 0..<literals { output[literal] = UInt8(truncatingIfNeeded: literal) }
        let (data, isCut) = Self.joined(bytes, from: image.dataOffset + 1)
        let isSound: Bool
        (decoded, isSound) = Self.decompress(data.span, codeSize: codeSize, count: count, into: &output)
        if !isSound {
            damage = .corrupt(segment: "LZW code", offset: image.dataOffset)
        } else if isCut, !isFull {
            damage = .truncated(offset: bytes.count)
        } else if !hasColours {
            damage = .corrupt(segment: "image data points past the colour table", offset: image.dataOffset)
        }
    }

    /// Whether every pixel was decoded.
    var isFull: Bool { decoded == image.size.width * image.size.height }

    /// The place in `output` of a row of the image, as many of its pixels as there are. In place of a missing row of an
    /// interlaced image there is one above it, of an earlier pass.
    func range(ofRow row: Int) -> Range<Int> {
        let width = image.size.width
        var start = (image.isInterlaced ? storedRow(row) : row) &* width
        if image.isInterlaced, start &+ width > decoded {
            for step in [2, 4, 8] where start &+ width > decoded {
                start = storedRow(row &- row % step) &* width
            }
        }
        return literals &+ min(start, decoded)..<literals &+ min(start &+ width, decoded)
    }

    /// GIF89a, appendix E: every eighth row, the rows between, every second between, and the odd ones.
    private func storedRow(_ row: Int) -> Int {
        let height = image.size.height
        let (eighths, quarters) = ((height &+ 7) / 8, (height &+ 3) / 4)
        if row % 8 == 0 { return row / 8 }
        if row % 8 == 4 { return eighths &+ row / 8 }
        if row % 4 == 2 { return quarters &+ row / 4 }
        return (height &+ 1) / 2 &+ row / 2
    }

    /// The data without the lengths of its blocks, and whether the file ends before the empty block.
    private static func joined(_ bytes: Span<UInt8>, from start: Int) -> (data: [UInt8], isCut: Bool) {
        var offset = start
        var total = 0
        while let length = bytes.byte(at: offset), length > 0 {
            offset += 1 + Int(length)
            total += Int(length)
        }
        let end = min(offset, bytes.count)
        let data = [UInt8](capacity: total) { output in
            var offset = start
            while offset < end {
                let next = min(offset &+ 1 &+ Int(bytes[offset]), end)
                for index in offset &+ 1..<next { output.append(bytes[index]) }
                offset = next
            }
        }
        return (data, offset >= bytes.count)
    }

    /// Returns the number of pixels, and whether all codes up to there are defined.
    private static func decompress(
        _ data: Span<UInt8>, codeSize: Int, count: Int, into output: inout [UInt8]
    ) -> (pixels: Int, isSound: Bool) {
        let clear = 1 << codeSize
        let end = clear + count
        var output = output.mutableSpan
        // The start of each string in the output, and its length in the low bits.
        var strings = [UInt64](repeating: 0, count: tableSize)
        var table = strings.mutableSpan
        for literal in 0..<clear { table[literal] = UInt64(literal) << 16 | 1 }
        var bits = InflateBits(position: 0)
        var width = codeSize + 1
        var next = clear + 2
        // The string of the last code; of length 0 after a clear code.
        var last: UInt64 = 0
        var position = clear
        while position < end {
            bits.refill(from: data)
            let code = bits.take(width)
            if bits.count < 0 { break }
            if code == clear {
                width = codeSize + 1
                next = clear + 2
                last = 0
                continue
            }
            if code == clear + 1 { break }
            let isNewest = last != 0 && code == next && next < tableSize
            if last != 0, next < tableSize {
                table[next] = last &+ 1
                next &+= 1
                if next == 1 &<< width, width < longestCode { width &+= 1 }
            }
            guard code < next, last != 0 || code < clear else { return (position - clear, false) }
            let string = table[code]
            let start = Int(truncatingIfNeeded: string &>> 16)
            let whole = Int(truncatingIfNeeded: string & 0xFFFF)
            let length = min(whole, end &- position)
            var copied = 0
            repeat {
                output.copyEight(from: start &+ copied, to: position &+ copied)
                copied &+= 8
            } while copied < length
            // The newest string ends with its own first index, which was not yet there.
            if isNewest, length == whole { output[position &+ length &- 1] = output[start] }
            last = UInt64(position) &<< 16 | UInt64(length)
            position &+= length
        }
        return (position - clear, true)
    }

    /// Whether the colour table, if there is one, has each pixel that is not transparent.
    private var hasColours: Bool {
        let colours = image.colourTable.count / 3
        guard colours > 0, colours < literals else { return true }
        let pixels = output.span.extracting(literals..<literals + decoded)
        for index in 0..<pixels.count where Int(pixels[index]) >= colours {
            if Int(pixels[index]) != image.control.transparentIndex { return false }
        }
        return true
    }
}
