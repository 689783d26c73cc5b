/// Decodes a scan of a sequential frame: each block's coefficients in one go, straight to samples (T.81 F.2).
struct SequentialScan {
    /// What one component of the scan needs.
    private struct Source {
        /// The component's position in the frame.
        let component: Int
        let plane: JPEGPlanes.Plane
        let coding: SequentialBlock.Coding
        /// Blocks of one minimum coded unit.
        let columns: Int
        let rows: Int
        /// Samples of one, downwards.
        var height: Int { rows &* plane.blockSize }
    }

    /// Minimum coded units of the scan.
    let units: ImageSize
    private let sources: [Source]
    private var reader: EntropyReader
    private var predictions = Predictions(repeating: 0)

    private typealias Predictions = InlineArray<4, Int32>
    /// Where in the samples the row of units begins, of each component.
    private typealias Lines = InlineArray<4, Int>

    /// A scan whose data begins at `start`.
    init(
        _ scan: JPEGScan, of frame: JPEGFrame, tables: JPEGTables, planes: [JPEGPlanes.Plane],
        segment: JPEGSegment
    ) throws(ImageDecodingError) {
        var sources: [Source] = []
        let isInterleaved = scan.components.count > 1
        for component in scan.components {
            let inFrame = frame.components[component.index]
            guard let dc = tables.sequentialDC(component.dcTable),
                let ac = tables.sequentialAC(component.acTable),
                let steps = tables.quantisation[inFrame.quantisationTable]
            else { throw .corrupt(segment: "scan without its tables", offset: segment.offset) }
            sources.append(
                Source(
                    component: component.index,
                    plane: planes[component.index],
                    coding: SequentialBlock.Coding(dc: dc, ac: ac, dequantiser: Dequantiser(steps: steps)),
                    columns: isInterleaved ? inFrame.horizontalFactor : 1,
                    rows: isInterleaved ? inFrame.verticalFactor : 1))
        }
        self.sources = sources
        units = frame.units(of: scan)
        reader = EntropyReader(at: segment.body.upperBound, restartInterval: tables.restartInterval)
    }

    /// Whether the data ended before the scan did.
    var isCut: Bool { reader.isCut }

    /// Where the search for the marker behind the scan begins.
    var end: Int { reader.bits.position }

    /// Decodes the next row of units, `row`; what was cut off comes out as an even grey.
    mutating func decodeRow(
        _ row: Int, from file: Span<UInt8>, into planes: inout JPEGPlanes
    ) throws(ImageDecodingError) {
        // Through a span the tables are read where they lie, without copies or reference counts.
        let kept = self.sources
        let sources = kept.span
        var samples = planes.samples.mutableSpan
        var reader = reader
        var predictions = predictions
        defer {
            self.reader = reader
            self.predictions = predictions
        }
        var lines = Lines(repeating: 0)
        for position in sources.indices {
            lines[position] = sources[position].plane.start(ofRow: row &* sources[position].height)
        }
        var decoded = 0
        for column in 0..<units.width {
            if reader.isCut {
                Self.blank(sources, row: row, column: column, &samples)
                continue
            }
            if try reader.beginUnit(in: file) { predictions = Predictions(repeating: 0) }
            let isSound = Self.decodeUnit(
                sources, lines, column: column, &reader.bits, file, &predictions, into: &samples)
            try reader.endUnit(isSound: isSound)
            if !reader.isCut { decoded &+= 1 }
        }
        for position in sources.indices {
            let rows = sources[position].rows
            planes.countDecoded(
                sources[position].component, rows: row &* rows..<(row &+ 1) &* rows,
                columns: decoded &* sources[position].columns)
        }
    }

    /// Decodes one minimum coded unit: some blocks of each component, row by row (T.81 A.2). False for a code that
    /// is none, or coefficients past a block's last.
    @inline(__always)
    private static func decodeUnit(
        _ sources: Span<Source>, _ lines: Lines, column: Int, _ bits: inout EntropyBits, _ file: Span<UInt8>,
        _ predictions: inout Predictions, into samples: inout MutableSpan<UInt8>
    ) -> Bool {
        for position in sources.indices {
            let plane = sources[position].plane
            var line = lines[position] &+ column &* sources[position].columns &* plane.blockSize
            for _ in 0..<sources[position].rows {
                var origin = line
                line &+= plane.stride &* plane.blockSize
                for _ in 0..<sources[position].columns {
                    var block = CoefficientBlock(repeating: 0)
                    let positions =
                        plane.blockSize > 1
                        ? SequentialBlock.decode(
                            &block, &bits, file, sources[position].coding, &predictions[position])
                        : SequentialBlock.decodeFirst(
                            &block, &bits, file, sources[position].coding, &predictions[position])
                    guard positions >= 0 else { return false }
                    InverseDCT.transform(
                        block, positions: positions, size: plane.blockSize, into: &samples, at: origin,
                        stride: plane.stride)
                    origin &+= plane.blockSize
                }
            }
        }
        return true
    }

    private static func blank(
        _ sources: Span<Source>, row: Int, column: Int, _ samples: inout MutableSpan<UInt8>
    ) {
        for position in sources.indices {
            let plane = sources[position].plane
            let (columns, rows) = (sources[position].columns, sources[position].rows)
            let (width, height) = (columns &* plane.blockSize, rows &* plane.blockSize)
            for line in 0..<height {
                let start = plane.start(ofRow: row &* height &+ line) &+ column &* width
                for index in start..<start &+ width { samples[index] = JPEGPlanes.unknown }
            }
        }
    }
}
