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

        /// Where the samples of a row begin.
        func start(ofRow row: Int) -> Int { offset &+ row % rows &* stride }
    }

    let planes: [Plane]
    /// With room for one and a half vectors more, which may reach past the end of the last row.
    var samples: [UInt8]

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
                    height: (frame.size.height * down + fullDown - 1) / fullDown))
            planes.append(plane)
            offset += plane.stride * plane.rows
        }
        self.planes = planes
        samples = [UInt8](repeating: Self.unknown, count: offset + 24)
    }
}
