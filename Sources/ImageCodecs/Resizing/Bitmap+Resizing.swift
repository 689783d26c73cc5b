extension Bitmap {
    /// The picture at another size, each pixel the mean of the area it covers; translucent pixels count by
    /// their alpha. Means are taken of the stored values, without linearising them. Both sides must be positive,
    /// and this picture at most 65,535 rows high.
    /// - Parameter size: the size wanted, in pixels.
    public func resized(to size: ImageSize) -> Bitmap { resized(to: PictureLayout(whole: size)) }

    /// The picture as `sizing` wants it, never enlarged; the picture itself without one.
    package func resized(to sizing: ImageSizing?) -> Bitmap { resized(to: PictureLayout(size, to: sizing)) }

    private func resized(to layout: PictureLayout) -> Bitmap {
        guard layout.scaled != size else { return cropped(to: layout) }
        var averager = AreaAverager(from: size, to: layout, weighingByAlpha: !isOpaque)
        let stride = width * 4
        for row in 0..<height { averager.add(row: pixels.span.extracting(row * stride..<(row + 1) * stride)) }
        return averager.finish(isComplete: isComplete)
    }

    /// The picture at another size, sharper than ``resized(to:)`` makes it: by Lanczos' kernel of three lobes, of the
    /// stored values, without linearising them; translucent pixels count by their alpha. Both sides must be positive.
    /// - Parameter size: the size wanted, in pixels.
    public func resampled(to size: ImageSize) -> Bitmap { resampled(to: PictureLayout(whole: size)) }

    /// The picture as `sizing` wants it, never enlarged, sharper than `resized(to:)` makes it.
    package func resampled(to sizing: ImageSizing?) -> Bitmap {
        resampled(to: PictureLayout(size, to: sizing))
    }

    private func resampled(to layout: PictureLayout) -> Bitmap {
        guard layout.scaled != size else { return cropped(to: layout) }
        let reduced = Self.reduced(size, for: layout.scaled)
        return Resampler(reduced == size ? self : resized(to: reduced), to: layout).resampled()
    }

    /// The size that a picture is first averaged to where it is far larger than wanted: means do as well there, and need fewer
    /// rows at a time. It stays at least four times as large as wanted.
    private static func reduced(_ source: ImageSize, for target: ImageSize) -> ImageSize {
        func side(_ source: Int, _ target: Int) -> Int {
            source < target * 8 ? source : source / (source / (target * 4))
        }
        return ImageSize(
            width: side(source.width, target.width), height: side(source.height, target.height))
    }

    /// Bytes in use at most while a picture is resampled, with the result and without the picture.
    package static func memoryToResample(from source: ImageSize, to target: ImageSize) -> Int {
        guard source != target else { return 0 }
        let reduced = reduced(source, for: target)
        // Averaging takes two sums for each channel of a column.
        let averaging = reduced == source ? 0 : reduced.bitmapBytes + source.width * 2 * 16
        return averaging + Resampler.memory(from: reduced, to: target)
    }

    /// The columns and rows of a layout that does not scale this picture.
    func cropped(to layout: PictureLayout) -> Bitmap {
        guard layout.size != size else { return self }
        let source = pixels.span
        let kept = [UInt8](capacity: layout.size.width * layout.size.height * 4) { output in
            for row in layout.rows {
                let start = row &* width
                for index in (start &+ layout.columns.lowerBound) &* 4..<(start &+ layout.columns.upperBound)
                    &* 4
                {
                    output.append(source[index])
                }
            }
        }
        return Bitmap(
            width: layout.size.width, height: layout.size.height, pixels: kept, isComplete: isComplete)
    }
}

/// How a picture is resized and cropped: all of it would be `scaled` large, and of that these columns and rows are kept.
struct PictureLayout: Equatable {
    let scaled: ImageSize
    let columns: Range<Int>
    let rows: Range<Int>

    /// The size of the result.
    var size: ImageSize { ImageSize(width: columns.count, height: rows.count) }

    private init(scaled: ImageSize, columns: Range<Int>, rows: Range<Int>) {
        self.scaled = scaled
        self.columns = columns
        self.rows = rows
    }

    /// The whole picture at a size.
    init(whole size: ImageSize) {
        self.init(scaled: size, columns: 0..<size.width, rows: 0..<size.height)
    }

    /// A picture of size `source` as `sizing` wants it; as it is without one.
    init(_ source: ImageSize, to sizing: ImageSizing?) {
        let scaled = sizing.map { source.fitted(into: $0.box(for: source)) } ?? source
        guard let sizing, case .fill(let anchor) = sizing.mode else {
            self.init(whole: scaled)
            return
        }
        let wanted = ImageSize(width: max(1, sizing.target.width), height: max(1, sizing.target.height))
        let size = wanted.fitted(into: scaled)
        let left = anchor.horizontal.start(of: size.width, in: scaled.width)
        let top = anchor.vertical.start(of: size.height, in: scaled.height)
        self.init(scaled: scaled, columns: left..<left + size.width, rows: top..<top + size.height)
    }

    /// The same layout for the picture as it is stored, which is turned before it is shown.
    func stored(_ orientation: ExifOrientation) -> PictureLayout {
        // Sides that are swapped twice are as they were.
        let whole = orientation.size(ofStored: scaled)
        let first = orientation.stored(
            column: columns.lowerBound, row: rows.lowerBound, width: whole.width, height: whole.height)
        let last = orientation.stored(
            column: columns.upperBound - 1, row: rows.upperBound - 1, width: whole.width,
            height: whole.height)
        return PictureLayout(
            scaled: whole, columns: min(first.x, last.x)..<max(first.x, last.x) + 1,
            rows: min(first.y, last.y)..<max(first.y, last.y) + 1)
    }
}

/// Where a part of a length is kept.
private enum Alignment {
    case start, middle, end

    func start(of part: Int, in length: Int) -> Int {
        switch self {
        case .start: 0
        case .middle: (length - part) / 2
        case .end: length - part
        }
    }
}

extension ContentMode.Anchor {
    fileprivate var horizontal: Alignment {
        switch self {
        case .left, .topLeft, .bottomLeft: .start
        case .centre, .top, .bottom: .middle
        case .right, .topRight, .bottomRight: .end
        }
    }

    fileprivate var vertical: Alignment {
        switch self {
        case .top, .topLeft, .topRight: .start
        case .centre, .left, .right: .middle
        case .bottom, .bottomLeft, .bottomRight: .end
        }
    }
}
