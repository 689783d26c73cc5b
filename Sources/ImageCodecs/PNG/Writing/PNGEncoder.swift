/// Encodes PNG files (ISO 15948) with 8 bits per sample and without interlacing.
public struct PNGEncoder: Sendable {
    /// The colour types for encoding.
    public enum Colors: Sendable, Hashable, CaseIterable {
        /// Three bytes per pixel, without alpha.
        case rgb
        /// Four bytes per pixel, as in ``Bitmap``.
        case rgba
        /// One byte per pixel: at most 256 colours. A bitmap with more gets the means of similar colours, and alpha
        /// becomes 0 or 255 (threshold 127).
        case palette
    }

    /// The colour type; `rgba` by default.
    public var colors: Colors

    /// Creates an encoder; it keeps no state.
    /// - Parameter colors: the colour type. Default: `rgba`.
    public init(colors: Colors = .rgba) { self.colors = colors }

    /// Encodes a bitmap as a PNG file. Takes milliseconds on the caller's thread.
    /// - Parameter bitmap: the image.
    public func encode(_ bitmap: Bitmap) -> [UInt8] {
        var file = PNGSignature.magic.bytes
        switch colors {
        case .rgb, .rgba:
            let channels = colors == .rgb ? 3 : 4
            Self.append("IHDR", header(bitmap, colourType: channels == 3 ? .rgb : .rgba), to: &file)
            let rows = PNGFilterChooser.filteredRows(of: bitmap, channels: channels)
            Self.append("IDAT", Deflate.compress(rows.span), to: &file)
        case .palette:
            let palette = AdaptivePalette(of: bitmap)
            Self.append("IHDR", header(bitmap, colourType: .palette), to: &file)
            Self.append("PLTE", palette.colours.flatMap { [$0.x, $0.y, $0.z] }, to: &file)
            // The alphas of the first colours; the rest are opaque (PNG 11.3.2.1).
            let translucent = palette.colours.lastIndex { $0.w < 255 }
            if let translucent {
                Self.append("tRNS", palette.colours.prefix(translucent + 1).map(\.w), to: &file)
            }
            Self.append("IDAT", Deflate.compress(palette.rows(of: bitmap).span), to: &file)
        }
        Self.append("IEND", [], to: &file)
        return file
    }

    private func header(_ bitmap: Bitmap, colourType: PNGHeader.ColourType) -> [UInt8] {
        [bitmap.width, bitmap.height].flatMap { UInt32(truncatingIfNeeded: $0).bigEndianBytes }
            + [8, colourType.rawValue, 0, 0, 0]
    }

    /// A chunk: length, type, body, and the CRC of the last two (PNG 5.3).
    static func append(_ type: String, _ body: [UInt8], to file: inout [UInt8]) {
        let checked = Array(type.utf8) + body
        file += UInt32(truncatingIfNeeded: body.count).bigEndianBytes + checked
        file += CRC32.checksum(of: checked.span).bigEndianBytes
    }
}

/// Filters the rows of an image (PNG 9.2), each by the filter with the least sum of absolute differences, which
/// compresses best (PNG 12.7).
enum PNGFilterChooser {
    private static let filterCount = 5

    /// All rows, each after its filter type. `channels` is 3, without alpha, or 4.
    fileprivate static func filteredRows(of bitmap: Bitmap, channels: Int) -> [UInt8] {
        let rowBytes = bitmap.width * channels
        var output: [UInt8] = []
        output.reserveCapacity(bitmap.height * (rowBytes + 1))
        var above = [UInt8](repeating: 0, count: rowBytes)
        var candidates = [[UInt8]](repeating: above, count: filterCount)
        for row in 0..<bitmap.height {
            let samples = samples(ofRow: row, of: bitmap, channels: channels)
            var chosen = 0
            var least = Int.max
            for filter in 0..<filterCount {
                apply(filter, to: samples, above, distance: channels, into: &candidates[filter])
                let magnitude = magnitude(candidates[filter])
                if magnitude < least { (chosen, least) = (filter, magnitude) }
            }
            output.append(UInt8(chosen))
            output += candidates[chosen]
            above = samples
        }
        return output
    }

    private static func samples(ofRow row: Int, of bitmap: Bitmap, channels: Int) -> [UInt8] {
        let start = row * bitmap.width * 4
        let pixels = bitmap.pixels.span.extracting(start..<start + bitmap.width * 4)
        return [UInt8](capacity: bitmap.width * channels) { output in
            for index in 0..<pixels.count where index & 3 < channels { output.append(pixels[index]) }
        }
    }

    private static func apply(
        _ filter: Int, to row: [UInt8], _ above: [UInt8], distance: Int, into output: inout [UInt8]
    ) {
        let (row, above) = (row.span, above.span)
        var output = output.mutableSpan
        for index in 0..<row.count {
            let left = index < distance ? 0 : Int(row[index - distance])
            let up = Int(above[index])
            let corner = index < distance ? 0 : Int(above[index - distance])
            let guess =
                switch filter {
                case 0: 0
                case 1: left
                case 2: up
                case 3: (left + up) / 2
                default: nearest(left, up, corner)
                }
            output[index] = row[index] &- UInt8(truncatingIfNeeded: guess)
        }
    }

    /// The Paeth predictor (PNG 9.4).
    private static func nearest(_ left: Int, _ up: Int, _ corner: Int) -> Int {
        let (toLeft, toUp, toCorner) = (abs(up - corner), abs(left - corner), abs(left + up - 2 * corner))
        if toLeft <= toUp, toLeft <= toCorner { return left }
        return toUp <= toCorner ? up : corner
    }

    private static func magnitude(_ row: [UInt8]) -> Int {
        let row = row.span
        var sum = 0
        for index in 0..<row.count { sum += Int(Int8(bitPattern: row[index]).magnitude) }
        return sum
    }
}
