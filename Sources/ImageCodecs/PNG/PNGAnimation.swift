/// The first frame of an animated PNG (PNG third edition, 11.3.6), if it is not the image in IDAT: that is then only a
/// fallback for decoders without animation.
///     acTL    00 00 00 02  00 00 00 00    frames, times to play; ahead of IDAT
///     fcTL    00 00 00 00                 number among all fcTL and fdAT chunks
///             00 00 00 20  00 00 00 10    width, height
///             00 00 00 00  00 00 00 08    its place in the picture: columns, rows
///             00 01 00 0A  00 00          delay, disposal, blending
///     fdAT    00 00 00 01  ...            number, then data as in IDAT
///
/// An fcTL before IDAT makes the IDAT image the first frame. Malformed chunks are ignored, because the IDAT image
/// remains.
struct PNGAnimation {
    /// The size of a frame and its position in the image.
    struct Frame: Equatable {
        let size: ImageSize
        let column: Int
        let row: Int
    }

    private var isAnimated = false
    private var hasData = false
    private var controls = 0
    private var frame: Frame?
    private var data: [Range<Int>] = []

    /// The first frame and the ranges of its data; nil if it is the IDAT image.
    var firstFrame: (frame: Frame, data: [Range<Int>])? {
        guard let frame, !data.isEmpty else { return nil }
        return (frame, data)
    }

    /// Reads the next chunk of the file.
    mutating func read(_ chunk: PNGChunk, of bytes: Span<UInt8>, pictureSize: ImageSize) {
        switch chunk.type {
        case "acTL":
            let frames = bytes.extracting(chunk.body).bigEndian32(at: 0) ?? 0
            if !hasData, chunk.body.count == 8, frames > 0 { isAnimated = true }
        case "IDAT": hasData = true
        case "fcTL":
            controls += 1
            if isAnimated, hasData, controls == 1 {
                frame = Frame(bytes.extracting(chunk.body), pictureSize: pictureSize)
            }
        case "fdAT":
            if frame != nil, controls == 1, chunk.body.count >= 4 {
                data.append(chunk.body.lowerBound + 4..<chunk.body.upperBound)
            }
        default: break
        }
    }
}

extension PNGAnimation.Frame {
    /// Nil for a frame that extends past the image.
    fileprivate init?(_ body: Span<UInt8>, pictureSize: ImageSize) {
        guard body.count == 26, let width = body.bigEndian32(at: 4), let height = body.bigEndian32(at: 8),
            let column = body.bigEndian32(at: 12), let row = body.bigEndian32(at: 16),
            width > 0, height > 0, column + width <= pictureSize.width, row + height <= pictureSize.height
        else { return nil }
        self.init(size: ImageSize(width: width, height: height), column: column, row: row)
    }
}

extension Bitmap {
    /// The image at a place on a transparent canvas, with which an animation begins.
    func placed(column: Int, row: Int, in size: ImageSize) -> Bitmap {
        guard self.size != size else { return self }
        var canvas = [UInt8](repeating: 0, count: size.width * size.height * 4)
        for line in 0..<height {
            let target = ((row + line) * size.width + column) * 4
            canvas.replaceSubrange(
                target..<target + width * 4, with: pixels[line * width * 4..<(line + 1) * width * 4])
        }
        return Bitmap(width: size.width, height: size.height, pixels: canvas, isComplete: isComplete)
    }
}
