/// Walks the blocks of a scan in the order of its data, for sequential and progressive frames: row by row of MCUs, in
/// each MCU component by component, and row by row of the component's blocks (T.81 A.2).
struct ScanUnits {
    /// A block of an MCU.
    struct Place {
        /// The position of its component in the scan.
        let component: Int
        /// The block's row within its MCU.
        let row: Int
        /// The block's column in the component.
        let column: Int
    }

    /// The number of MCUs in each direction.
    let size: ImageSize
    var reader: EntropyReader
    /// The blocks of an MCU, for each component of the scan.
    private let blocks: [ImageSize]
    /// For each component what a restart sets to zero: the last DC coefficient, or the length of an end-of-band run.
    private var states = States(repeating: 0)

    private typealias States = InlineArray<4, Int32>

    /// Creates the walk of a scan whose data follows `segment`.
    init(_ scan: JPEGScan, of frame: JPEGFrame, tables: JPEGTables, segment: JPEGSegment) {
        size = frame.units(of: scan)
        let isInterleaved = scan.components.count > 1
        blocks = scan.components.map { component in
            let inFrame = frame.components[component.index]
            return isInterleaved
                ? ImageSize(width: inFrame.horizontalFactor, height: inFrame.verticalFactor)
                : ImageSize(width: 1, height: 1)
        }
        reader = EntropyReader(at: segment.body.upperBound, restartInterval: tables.restartInterval)
    }

    /// The rows of blocks in an MCU, for a component of the scan.
    func rows(of component: Int) -> Int { blocks[component].height }

    /// Decodes the next row of MCUs.
    /// - Parameters:
    ///   - output: the samples or coefficients, which `decode` writes.
    ///   - decode: decodes a block, or takes it as missing once the reader is stopped. It gets the component's state, and
    ///     returns false for an invalid code or too many coefficients.
    @inline(__always)
    mutating func decodeRow<Value>(
        from file: Span<UInt8>, into output: inout MutableSpan<Value>,
        decode: (Place, inout EntropyReader, Span<UInt8>, inout Int32, inout MutableSpan<Value>) -> Bool
    ) {
        // Copies stay in registers, and a span needs no reference counting.
        let kept = self.blocks
        let blocks = kept.span
        var reader = reader
        var states = states
        defer {
            self.reader = reader
            self.states = states
        }
        for unit in 0..<size.width {
            if reader.beginUnit(in: file) { states = States(repeating: 0) }
            var isSound = true
            for component in blocks.indices {
                let width = blocks[component].width
                for row in 0..<blocks[component].height {
                    for column in unit &* width..<(unit &+ 1) &* width {
                        let place = Place(component: component, row: row, column: column)
                        let isKnown = decode(place, &reader, file, &states[component], &output)
                        isSound = isSound && isKnown
                    }
                }
            }
            reader.endUnit(isSound: isSound, in: file)
        }
    }
}
