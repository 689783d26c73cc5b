/// The size a frame is decoded to. Each block of 8 x 8 coefficients becomes 8, 4, 2 or 1 samples each way, so that a
/// small picture never exists at its full size.
struct JPEGScale {
    /// What an eight by eight block of the picture as a whole becomes, each way: 1, 2, 4 or 8 pixels.
    let blockSize: Int
    /// The picture's size at that scale, rounded up.
    let size: ImageSize
    /// What a block of each component becomes. A component of fewer samples is reduced less, where that saves
    /// enlarging it afterwards.
    let componentBlockSizes: [Int]

    /// The smallest of the scales whose picture is not below `target`; the full size without one.
    init(_ frame: JPEGFrame, target: ImageSize?) {
        var blockSize = 8
        if let target {
            blockSize = 1
            while blockSize < 8 {
                let size = Self.scaled(frame.size, blockSize)
                if size.width >= target.width, size.height >= target.height { break }
                blockSize *= 2
            }
        }
        self.blockSize = blockSize
        size = Self.scaled(frame.size, blockSize)
        componentBlockSizes = frame.components.map { component in
            var own = blockSize
            while own < 8,
                frame.horizontalMaximum * blockSize % (component.horizontalFactor * own * 2) == 0,
                frame.verticalMaximum * blockSize % (component.verticalFactor * own * 2) == 0
            {
                own *= 2
            }
            return own
        }
    }

    private static func scaled(_ size: ImageSize, _ blockSize: Int) -> ImageSize {
        ImageSize(width: (size.width * blockSize + 7) / 8, height: (size.height * blockSize + 7) / 8)
    }
}
