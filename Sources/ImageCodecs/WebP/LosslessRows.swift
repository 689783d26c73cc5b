/// Decodes the rows of a lossless image one by one, from a VP8L stream (RFC 9649 section 3):
///
///     2F                  signature, in a chunk of its own; ALPH has neither it nor the size
///     3F 81 12 10         14 bits width - 1, 14 bits height - 1, 1 bit whether alpha is used, 3 bits version
///     ...                 transforms, codes, pixels
struct LosslessRows {
    let size: ImageSize
    /// Whether pixels may be transparent, as the encoder says. Their alpha counts in any case.
    let hasAlpha: Bool
    private var pixels: LosslessPixels
    /// In the order of the file; they are undone from the last.
    private var transforms: [LosslessTransform] = []
    private var nextRow = 0
    /// The pixels of the last row, as ARGB numbers.
    private(set) var row: [UInt32]

    /// Reads the header, the transforms and the codes of a VP8L chunk.
    /// - Parameter stream: the chunk's body.
    /// - Parameter origin: its offset in the file, for errors.
    /// - Parameter size: the size that the container has; the stream must have the same.
    init(_ stream: Span<UInt8>, origin: Int, size: ImageSize) throws(ImageDecodingError) {
        var input = LosslessInput(origin: origin)
        guard try input.read(8, in: stream) == 0x2F else { throw input.corrupt("signature of VP8L") }
        let width = try input.read(14, in: stream) + 1
        let height = try input.read(14, in: stream) + 1
        let hasAlpha = try input.read(1, in: stream) == 1
        guard try input.read(3, in: stream) == 0 else { throw input.corrupt("version of VP8L") }
        guard size == ImageSize(width: width, height: height) else { throw input.corrupt("size of VP8L") }
        try self.init(size, hasAlpha: hasAlpha, &input, in: stream)
    }

    /// Reads the transforms and codes of a stream without header.
    init(
        alpha stream: Span<UInt8>, origin: Int, size: ImageSize
    ) throws(ImageDecodingError) {
        var input = LosslessInput(origin: origin)
        try self.init(size, hasAlpha: false, &input, in: stream)
    }

    private init(
        _ size: ImageSize, hasAlpha: Bool, _ input: inout LosslessInput, in stream: Span<UInt8>
    ) throws(ImageDecodingError) {
        self.size = size
        self.hasAlpha = hasAlpha
        var packed = size
        var kinds: Set<Int> = []
        while try input.read(1, in: stream) == 1 {
            let kind = try input.read(2, in: stream)
            guard kinds.insert(kind).inserted else { throw input.corrupt("second WebP transform of a kind") }
            transforms.append(try LosslessTransform(kind: kind, &packed, &input, in: stream))
        }
        let codes = try LosslessCodes(packed, hasTiles: true, &input, in: stream)
        pixels = LosslessPixels(packed, codes: codes, input: input)
        row = [UInt32](repeating: 0, count: size.width)
    }

    /// Decodes the next row to `row`. There are `size.height` of them.
    mutating func readRow(_ stream: Span<UInt8>) throws(ImageDecodingError) {
        try pixels.readRow(nextRow, into: &row, in: stream)
        for index in transforms.indices.reversed() { transforms[index].undo(nextRow, &row) }
        nextRow += 1
    }
}
