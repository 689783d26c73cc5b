package import ImageCodecs

/// A picture as it is sent to a terminal that shows pixels: fitted into whole cells, undistorted, at their top left.
///
/// Only pixels that were decoded go to a terminal, encoded anew; never the bytes of a file from somewhere.
package struct TerminalPicture: Sendable {
    /// The pixels: as many as the cells have. What the picture does not cover is transparent.
    package let bitmap: Bitmap
    /// The cells that the picture takes.
    package let cells: CellSize

    /// Fits a picture into a room of cells, enlarging it where it is smaller. Runs for milliseconds on the caller's thread.
    /// - Parameters:
    ///   - image: the decoded pixels.
    ///   - shape: the proportions to keep; those of the pixels by default.
    ///   - room: the cells there are, at least one.
    ///   - cell: the pixels of a cell.
    ///   - step: the picture's height may be at most a multiple of so many pixels that the room has.
    package init(
        _ image: Bitmap, shape: ImageSize? = nil, within room: CellSize, cell: ImageSize, step: Int = 1
    ) {
        let box = Self.box(of: room, cell: cell, step: step)
        let size = Self.fitted(shape ?? image.size, into: box)
        cells = CellSize(
            columns: (size.width + cell.width - 1) / cell.width,
            rows: (size.height + cell.height - 1) / cell.height)
        bitmap = Self.scaled(image, to: size).padded(
            to: ImageSize(width: cells.columns * cell.width, height: cells.rows * cell.height))
    }

    /// The pixels that a picture has in a room.
    package static func box(of room: CellSize, cell: ImageSize, step: Int = 1) -> ImageSize {
        ImageSize(
            width: max(1, room.columns) * cell.width,
            height: max(step, max(1, room.rows) * cell.height / step * step))
    }

    private static func fitted(_ shape: ImageSize, into box: ImageSize) -> ImageSize {
        let scale = min(Double(box.width) / Double(shape.width), Double(box.height) / Double(shape.height))
        func side(_ length: Int, within limit: Int) -> Int {
            max(1, min(Int((Double(length) * scale).rounded()), limit))
        }
        return ImageSize(
            width: side(shape.width, within: box.width), height: side(shape.height, within: box.height))
    }

    /// Means where the picture gets smaller: they keep flat colours flat, which compress well.
    private static func scaled(_ image: Bitmap, to size: ImageSize) -> Bitmap {
        let isSmaller = size.width <= image.width && size.height <= image.height
        return isSmaller ? image.resized(to: size) : image.resampled(to: size)
    }
}

extension Bitmap {
    /// The bitmap at the top left of a larger one that is transparent.
    fileprivate func padded(to size: ImageSize) -> Bitmap {
        guard size != self.size else { return self }
        var padded: [UInt8] = []
        padded.reserveCapacity(size.width * size.height * 4)
        for row in 0..<height {
            padded += pixels[row * width * 4..<(row + 1) * width * 4]
            padded += repeatElement(0, count: (size.width - width) * 4)
        }
        padded += repeatElement(0, count: (size.height - height) * size.width * 4)
        return Bitmap(width: size.width, height: size.height, pixels: padded, isComplete: isComplete)
    }
}
