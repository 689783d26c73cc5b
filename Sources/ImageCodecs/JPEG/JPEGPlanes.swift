/// The samples of all components, whole blocks each, behind one another in one array: of the whole picture, or of a
/// window of two rows of minimum coded units, of which each new row takes the place of the one before the last.
struct JPEGPlanes {
    /// Where one component's samples lie.
    struct Plane {
        let offset: Int
        /// Samples from one row to the next.
        let stride: Int
        /// Rows there is room for: the row `y` is kept in the place `y % rows`.
        let rows: Int
        /// The samples of a block, each way.
        let blockSize: Int
        /// The samples that belong to the picture.
        let size: ImageSize
        /// The blocks that hold any of them.
        let blocks: ImageSize

        /// Where the samples of a row begin.
        func start(ofRow row: Int) -> Int { offset &+ row % rows &* stride }
    }

    let planes: [Plane]
    /// How many of its `Plane.blocks` each component has been given so far, which come row by row: what the picture's
    /// completeness is judged by.
    private(set) var decodedBlocks: [Int]
    /// With room for one and a half vectors more, which may reach past the end of the last row.
    var samples: [UInt8]

    /// Room for one and a half vectors.
    static let slack = 24
    /// The level of samples that are not known.
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

    /// Counts the blocks of a component that were decoded into its samples: the first `columns` of each of these rows.
    /// Blocks that reach past the picture do not count.
    mutating func countDecoded(_ component: Int, rows: Range<Int>, columns: Int) {
        let blocks = planes[component].blocks
        let ownRows = rows.clamped(to: 0..<blocks.height).count
        decodedBlocks[component] += ownRows * min(columns, blocks.width)
    }
}
