/// Decodes PNG (ISO 15948): all colour types, bit depths and interlacing, with tRNS transparency and verified
/// checksums. An animation gives its first frame. Ignores colour chunks (gAMA, cHRM, iCCP, sRGB, sBIT) and the
/// background.
public struct PNGDecoder: ResizingDecoder {
    /// Creates a decoder; it keeps no state.
    public init() {}

    /// Only PNG.
    public let formats: Set<ImageFormat> = [.png]

    /// Decodes a PNG; see ``ImageDecoding``. Runs on the caller's thread.
    ///
    /// Throws `tooLarge` before any allocation, `.truncated(offset:)`, `corrupt`, and `unsupported` for unknown
    /// critical chunks.
    /// - Parameters:
    ///   - bytes: the whole file.
    ///   - sizing: the size and the content mode; nil for the image's own size.
    ///   - limits: the limits for the file.
    public func decode(
        _ bytes: Span<UInt8>, sizing: ImageSizing?, limits: DecodingLimits
    ) throws(ImageDecodingError) -> Bitmap {
        let structure = try PNGStructure(parsing: bytes, limits: limits)
        let rows = try Self.decompress(structure, in: bytes)
        if let (frame, size) = structure.frame {
            let bitmap = try Self.bitmap(of: rows, structure, sizing: nil)
            return bitmap.placed(column: frame.column, row: frame.row, in: size).resized(to: sizing)
        }
        return try Self.bitmap(of: rows, structure, sizing: sizing)
    }

    private static func bitmap(
        of rows: [UInt8], _ structure: PNGStructure, sizing: ImageSizing?
    ) throws(ImageDecodingError) -> Bitmap {
        structure.header.isInterlaced
            ? try weave(rows, of: structure, sizing: sizing)
            : try expand(rows, of: structure, sizing: sizing)
    }

    /// The filtered rows of all passes.
    private static func decompress(
        _ structure: PNGStructure, in bytes: Span<UInt8>
    ) throws(ImageDecodingError) -> [UInt8] {
        let size = structure.header.filteredSize
        let origin = structure.imageData.first?.lowerBound ?? 0
        if structure.imageData.count == 1, let only = structure.imageData.first {
            return try Inflate.decompress(bytes.extracting(only), outputSize: size, origin: origin)
        }
        let total = structure.imageData.reduce(0) { $0 + $1.count }
        let stream = [UInt8](capacity: total) { output in
            for range in structure.imageData {
                for index in range { output.append(bytes[index]) }
            }
        }
        return try Inflate.decompress(stream.span, outputSize: size, origin: origin)
    }

    /// Decodes an image without interlacing.
    private static func expand(
        _ filtered: [UInt8], of structure: PNGStructure, sizing: ImageSizing?
    ) throws(ImageDecodingError) -> Bitmap {
        let header = structure.header
        let expander = PNGRowExpander(structure)
        var builder = BitmapBuilder(
            source: header.size, layout: PictureLayout(header.size, to: sizing),
            isOpaque: structure.isOpaque)
        var start = 0
        try undoFilters(filtered, from: &start, of: structure, header.size) {
            _, samples throws(ImageDecodingError) in
            try builder.addRow { pixels, range throws(ImageDecodingError) in
                guard expander.expand(samples, into: &pixels, range) else {
                    throw corrupt("image data points past the palette", structure)
                }
            }
        }
        return builder.finish()
    }

    /// Decodes an image stored in the seven passes of Adam7.
    private static func weave(
        _ filtered: [UInt8], of structure: PNGStructure, sizing: ImageSizing?
    ) throws(ImageDecodingError) -> Bitmap {
        let header = structure.header
        let expander = PNGRowExpander(structure)
        var pixels = [UInt8](repeating: 0, count: header.size.width * header.size.height * 4)
        var passRow = [UInt8](repeating: 0, count: header.size.width * 4)
        var start = 0
        for pass in header.passes {
            try undoFilters(filtered, from: &start, of: structure, pass.size) {
                row, samples throws(ImageDecodingError) in
                var part = passRow.mutableSpan
                guard expander.expand(samples, into: &part, 0..<pass.size.width &* 4) else {
                    throw corrupt("image data points past the palette", structure)
                }
                let rowStart = (pass.firstRow &+ row &* pass.rowStep) &* header.size.width
                let expanded = passRow.span
                var output = pixels.mutableSpan
                for column in 0..<pass.size.width {
                    let to = (rowStart &+ pass.firstColumn &+ column &* pass.columnStep) &* 4
                    output.store(expanded.vector4(at: column &* 4), at: to)
                }
            }
        }
        return Bitmap(width: header.size.width, height: header.size.height, pixels: pixels)
            .resized(to: sizing)
    }

    /// Calls `body` with the samples of each row of an image or a pass, whose filtered rows begin at `start`; moves
    /// `start` behind them.
    private static func undoFilters(
        _ filtered: [UInt8], from start: inout Int, of structure: PNGStructure, _ size: ImageSize,
        _ body: (_ row: Int, Span<UInt8>) throws(ImageDecodingError) -> Void
    ) throws(ImageDecodingError) {
        let rowBytes = structure.header.rowBytes(width: size.width)
        var filters = PNGFilters(rowBytes: rowBytes, distance: structure.header.filterDistance)
        for row in 0..<size.height {
            let stored = filtered.span.extracting(start..<start &+ rowBytes &+ 1)
            let isKnown = try filters.undo(stored) { samples throws(ImageDecodingError) in
                try body(row, samples)
            }
            guard isKnown else { throw corrupt("filter type in row data", structure) }
            start &+= rowBytes &+ 1
        }
    }

    private static func corrupt(_ segment: String, _ structure: PNGStructure) -> ImageDecodingError {
        .corrupt(segment: segment, offset: structure.imageData.first?.lowerBound ?? 0)
    }
}
