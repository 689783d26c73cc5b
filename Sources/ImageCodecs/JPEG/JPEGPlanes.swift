/// The samples of all components in one array, as whole blocks: of the whole image, or of a window of two rows of MCUs,
/// where each new row replaces the one before the last.
struct JPEGPlanes {
    /// The position of one component's samples.
    struct Plane {
        let offset: Int
        /// The distance between rows, in samples.
        let stride: Int
        /// The number of stored rows: row `y` is stored at `y % rows`.
        let rows: Int
        /// The samples of a block in each direction.
        let blockSize: Int
        /// The size of the component in samples.
        let size: ImageSize
        /// The blocks with samples of the image.
        let blocks: ImageSize

        /// The offset of a row's first sample.
        func start(ofRow row: Int) -> Int { offset &+ row % rows &* stride }
    }

    let planes: [Plane]
    /// The number of each component's `Plane.blocks` decoded so far, in row order. It shows whether the image is
    /// complete.
    private(set) var decodedBlocks: [Int]
    /// With 1.5 vectors of padding, because vectors may extend past the end of the last row.
    var samples: [UInt8]

    /// Padding for 1.5 vectors, in bytes.
    static let slack = 24
    /// The level of unknown samples.
    static let unknown: UInt8 = 128

    init(_ frame: JPEGFrame, scale: JPEGScale, isWindow: Bool) {
        var offset = 0
        var planes: [Plane] = []
        let unitRows = isWindow ? min(2, frame.unitRows) : frame.unitRows
        for (component, blockSize) in zip(frame.components, scale.componentBlockSizes) {
            let across = component.horizontalFactor * blockSize
            let down = component.verticalFactor * blockSize
            let (fullAcross, fullDown) = (8 * frame.horizontalMaximum, 8 * frame.verticalMaximum)
            let plane = Plane(
                offset: offset, stride: component.blockColumns * blockSize, rows: unitRows * down,
                blockSize: blockSize,
                size: ImageSize(
                    width: (frame.size.width * across + fullAcross - 1) / fullAcross,
                    height: (frame.size.height * down + fullDown - 1) / fullDown),
                blocks: ImageSize(width: component.ownBlockColumns, height: component.ownBlockRows))
            planes.append(plane)
            offset += plane.stride * plane.rows
        }
        self.planes = planes
        decodedBlocks = Array(repeating: 0, count: planes.count)
        samples = [UInt8](repeating: Self.unknown, count: offset + Self.slack)
    }

    /// Counts the decoded blocks of a component: the first `columns` of each of these rows. Blocks outside the image do
    /// not count.
    mutating func countDecoded(_ component: Int, rows: Range<Int>, columns: Int) {
        let blocks = planes[component].blocks
        let ownRows = rows.clamped(to: 0..<blocks.height).count
        decodedBlocks[component] += ownRows * min(columns, blocks.width)
    }
}
