/// Decodes PNG (ISO 15948): all colour types, bit depths and interlacing, with tRNS transparency and verified
/// checksums, and converts its colours to sRGB. An animation gives its first frame. Applies the Exif orientation; ignores
/// the background.
public struct PNGDecoder: ResizingDecoder {
    /// Creates a decoder; it keeps no state.
    public init() {}

    /// Only PNG.
    public let formats: Set<ImageFormat> = [.png]

    /// Decodes a PNG; see ``ImageDecoding``. Runs on the caller's thread.
    ///
    /// A file that is cut or damaged gives its rows before that, with `damage`; the others are transparent.
    ///
    /// Throws `tooLarge` before any allocation, `.truncated(offset:)` or `corrupt` for damage before the first row, and
    /// `unsupported` for unknown critical chunks.
    /// - Parameters:
    ///   - bytes: the whole file.
    ///   - sizing: the size and the content mode; nil for the image's own size.
    ///   - limits: the limits for the file.
    public func decode(
        _ bytes: Span<UInt8>, sizing: ImageSizing?, limits: DecodingLimits
    ) throws(ImageDecodingError) -> Bitmap {
        let structure = try PNGStructure(parsing: bytes, limits: limits)
        if structure.imageData.count == 1, let only = structure.imageData.first {
            return try Self.decode(structure, bytes.extracting(only), of: bytes, sizing)
        }
        let total = structure.imageData.reduce(0) { $0 + $1.count }
        let stream = [UInt8](capacity: total) { output in
            for range in structure.imageData {
                for index in range { output.append(bytes[index]) }
            }
        }
        return try Self.decode(structure, stream.span, of: bytes, sizing)
    }

    /// - Parameter stream: the compressed rows.
    private static func decode(
        _ structure: PNGStructure, _ stream: Span<UInt8>, of bytes: Span<UInt8>, _ sizing: ImageSizing?
    ) throws(ImageDecodingError) -> Bitmap {
        var rows = try PNGRows(stream, of: structure)
        let orientation = ExifOrientation(ofPNG: bytes) ?? .upright
        let isGrey = [.grey, .greyAlpha].contains(structure.header.colourType)
        let canvas = structure.frame?.in ?? structure.header.size
        let layout = PictureLayout(orientation.size(ofStored: canvas), to: sizing)
        let presentation = Presentation(
            layout: layout.stored(orientation),
            transform: structure.colour.transform(isGrey: isGrey, in: bytes), orientation: orientation)
        guard let (frame, size) = structure.frame else {
            return try bitmap(of: &rows, stream, structure, presentation)
        }
        let whole = Presentation(layout: PictureLayout(whole: structure.header.size))
        return try bitmap(of: &rows, stream, structure, whole)
            .placed(column: frame.column, row: frame.row, in: size).presented(presentation)
    }

    /// Throws the damage if the first row has it.
    private static func bitmap(
        of rows: inout PNGRows, _ stream: Span<UInt8>, _ structure: PNGStructure, _ presentation: Presentation
    ) throws(ImageDecodingError) -> Bitmap {
        let bitmap =
            structure.header.isInterlaced
            ? weave(&rows, stream, of: structure).presented(presentation)
            : expand(&rows, stream, of: structure, presentation)
        if rows.count == 0, let damage = rows.damage { throw damage }
        return bitmap
    }

    /// Decodes an image without interlacing. Missing rows are transparent.
    private static func expand(
        _ rows: inout PNGRows, _ stream: Span<UInt8>, of structure: PNGStructure, _ presentation: Presentation
    ) -> Bitmap {
        let header = structure.header
        let expander = PNGRowExpander(structure)
        var builder = BitmapBuilder(source: header.size, isOpaque: structure.isOpaque, presentation)
        rows.read(header.size, from: stream) { _, samples in
            var isInside = true
            builder.addRow { pixels, range in
                isInside = expander.expand(samples, into: &pixels, range)
            }
            return isInside
        }
        for _ in rows.count..<header.size.height { builder.addMissingRow() }
        return builder.finish(damage: rows.damage)
    }

    /// Decodes an image stored in the seven passes of Adam7. While later passes are missing, a pixel stands for its
    /// neighbours too.
    private static func weave(
        _ rows: inout PNGRows, _ stream: Span<UInt8>, of structure: PNGStructure
    ) -> Bitmap {
        let size = structure.header.size
        let expander = PNGRowExpander(structure)
        var pixels = [UInt8](repeating: 0, count: size.width * size.height * 4)
        var passRow = [UInt8](repeating: 0, count: size.width * 4)
        for pass in structure.header.passes {
            let block = rows.damage == nil ? ImageSize(width: 1, height: 1) : pass.block
            rows.read(pass.size, from: stream) { row, samples in
                var part = passRow.mutableSpan
                let isInside = expander.expand(samples, into: &part, 0..<pass.size.width &* 4)
                let expanded = passRow.span
                var output = pixels.mutableSpan
                let top = pass.firstRow &+ row &* pass.rowStep
                for line in top..<min(top &+ block.height, size.height) {
                    for column in 0..<pass.size.width {
                        let left = pass.firstColumn &+ column &* pass.columnStep
                        let pixel = expanded.vector4(at: column &* 4)
                        for place in left..<min(left &+ block.width, size.width) {
                            output.store(pixel, at: (line &* size.width &+ place) &* 4)
                        }
                    }
                }
                return isInside
            }
        }
        return Bitmap(width: size.width, height: size.height, pixels: pixels, damage: rows.damage)
    }
}

/// The rows of a PNG's image data, pass by pass, as far as they came. Of an image without interlacing only the last few
/// are in memory.
private struct PNGRows {
    private let header: PNGHeader
    private var inflate: Inflate
    private let origin: Int
    /// The next row in the buffer of `inflate`.
    private var start = 0
    private var hasEnded = false
    /// The rows read so far.
    private(set) var count = 0
    private(set) var damage: ImageDecodingError?

    /// Throws the damage if there is no row before it.
    init(_ stream: Span<UInt8>, of structure: PNGStructure) throws(ImageDecodingError) {
        let header = structure.header
        self.header = header
        origin = structure.imageData.first?.lowerBound ?? 0
        let first = header.passes.first.map { header.rowBytes(width: $0.size.width) + 1 } ?? 0
        damage = structure.damage
        do throws(ImageDecodingError) {
            inflate = try Inflate(
                stream, size: header.filteredSize, piece: header.isInterlaced ? nil : first, origin: origin)
        } catch { throw structure.damage ?? error }
        if !hasNext(first, in: stream), let damage { throw damage }
        // Of an interlaced image the whole is known at once: pixels stand for those of missing passes.
        if header.isInterlaced { finish(stream) }
    }

    /// Calls `body` with the samples of each row of an image or a pass of this size. It returns whether all of them are
    /// in the palette.
    mutating func read(
        _ size: ImageSize, from stream: Span<UInt8>, _ body: (_ row: Int, Span<UInt8>) -> Bool
    ) {
        let rowBytes = header.rowBytes(width: size.width) + 1
        var filters = PNGFilters(rowBytes: rowBytes - 1, distance: header.filterDistance)
        var isInside = true
        for row in 0..<size.height where hasNext(rowBytes, in: stream) {
            let isKnown = filters.undo(inflate.buffer.span.extracting(start..<start &+ rowBytes)) { samples in
                isInside = body(row, samples) && isInside
            }
            guard isKnown else {
                note("filter type in row data")
                (start, hasEnded) = (inflate.produced, true)
                return
            }
            start &+= rowBytes
            count &+= 1
        }
        if !isInside { note("image data points past the palette") }
        if !header.isInterlaced { finish(stream) }
    }

    private mutating func hasNext(_ rowBytes: Int, in stream: Span<UInt8>) -> Bool {
        if inflate.produced &- start >= rowBytes { return true }
        if hasEnded { return false }
        start &-= inflate.drop(start)
        do throws(ImageDecodingError) {
            try inflate.fill(from: stream)
            hasEnded = inflate.isAtEnd
        } catch {
            damage = damage ?? error
            hasEnded = true
        }
        return inflate.produced &- start >= rowBytes
    }

    /// Notes what is missing behind the rows, or wrong.
    private mutating func finish(_ stream: Span<UInt8>) {
        if damage != nil { return }
        start &-= inflate.drop(start)
        damage = inflate.finish(header.filteredSize, from: stream)
    }

    private mutating func note(_ segment: String) {
        damage = damage ?? .corrupt(segment: segment, offset: origin)
    }
}
