package import ImageCodecs

/// A picture scaled for a terminal with pixels: undistorted, at the top left of whole cells.
///
/// Only decoded pixels are sent to a terminal, encoded again; never the bytes of a foreign file.
package struct TerminalPicture: Sendable {
    /// The pixels of all cells; transparent outside the picture.
    package let bitmap: Bitmap
    /// The size of the picture in cells.
    package let cells: CellSize

    /// Scales a picture to fit into `room`, also enlarging it. Takes milliseconds on the caller's thread.
    /// - Parameters:
    ///   - image: the decoded pixels.
    ///   - shape: the proportions to keep; by default the image's.
    ///   - room: the available cells, at least one.
    ///   - cell: the size of a cell in pixels.
    ///   - step: the greatest height is the room's, rounded down to a multiple of this, in pixels.
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

    /// The greatest size of a picture in a room, in pixels.
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

    /// Averages when reducing: flat colours stay flat and compress well.
    private static func scaled(_ image: Bitmap, to size: ImageSize) -> Bitmap {
        let isSmaller = size.width <= image.width && size.height <= image.height
        return isSmaller ? image.resized(to: size) : image.resampled(to: size)
    }
}

extension Bitmap {
    /// The bitmap at the top left of a larger transparent one.
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
