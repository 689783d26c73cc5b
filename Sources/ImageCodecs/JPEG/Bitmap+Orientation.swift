extension Bitmap {
    /// The picture turned as `orientation` says, so that it shows upright.
    func turned(_ orientation: ExifOrientation) -> Bitmap {
        guard orientation != .upright else { return self }
        let size = orientation.size(ofStored: self.size)
        let source = pixels.span
        var result = [UInt8](repeating: 0, count: pixels.count)
        var output = result.mutableSpan
        var target = 0
        for row in 0..<size.height {
            for column in 0..<size.width {
                let (x, y) = orientation.stored(column: column, row: row, width: width, height: height)
                let from = (y &* width &+ x) &* 4
                for channel in 0..<4 { output[target &+ channel] = source[from &+ channel] }
                target &+= 4
            }
        }
        return Bitmap(width: size.width, height: size.height, pixels: result, isComplete: isComplete)
    }
}

extension ExifOrientation {
    /// Where the pixel shown in `column` and `row` is in the stored picture of these sides.
    @inline(__always)
    func stored(column: Int, row: Int, width: Int, height: Int) -> (x: Int, y: Int) {
        switch self {
        case .upright: (column, row)
        case .mirrored: (width &- 1 &- column, row)
        case .turnedHalf: (width &- 1 &- column, height &- 1 &- row)
        case .flipped: (column, height &- 1 &- row)
        case .transposed: (row, column)
        case .turnedRight: (row, height &- 1 &- column)
        case .transversed: (width &- 1 &- row, height &- 1 &- column)
        case .turnedLeft: (width &- 1 &- row, column)
        }
    }
}
