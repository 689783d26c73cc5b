/// Reads a JPEG file marker by marker (T.81 B.2) and decodes its scans.
struct JPEGFile {
    /// The frame header, the scale, and the requested part and size of the stored image.
    private typealias Frame = (header: JPEGFrame, scale: JPEGScale, layout: PictureLayout)

    private let limits: DecodingLimits
    /// The requested size of the upright image.
    private let sizing: ImageSizing?
    /// Without a sizing, the lower bound for the size of the upright image.
    private let least: ImageSize?
    /// Whether to decode to planes.
    private let isPlanar: Bool
    private var segments = JPEGSegments(offset: 2)
    private var tables = JPEGTables()
    /// Nil before the frame header.
    private var frame: Frame?
    private var application = JPEGApplicationData()
    private var transform: ColourTransform?
    private(set) var scanCount = 0
    /// The first damage since the first scan: what comes before it must be sound.
    private var damage: ImageDecodingError?
    /// How far a scan's data was searched for its end, for a file that arrives in pieces.
    private var searched = 0
    /// The quantisation steps of each component at its first scan; nil before that.
    private var steps: [[UInt16]?] = []
    /// The finished rows of a sequential frame with one scan, the samples of one with several scans, or the
    /// coefficients of a progressive frame.
    private var rows: JPEGRows?
    private var planes: JPEGPlanes?
    private var coefficients: JPEGCoefficients?

    init(
        sizing: ImageSizing?, notBelow least: ImageSize? = nil, isPlanar: Bool = false, limits: DecodingLimits
    ) {
        self.limits = limits
        self.isPlanar = isPlanar
        self.sizing = sizing
        self.least = least
    }

    /// Reads the whole file or, once a scan has begun, as much as is sound. Checks the limits at the frame header, before
    /// allocating samples.
    init(
        reading bytes: Span<UInt8>, sizing: ImageSizing? = nil, notBelow least: ImageSize? = nil,
        isPlanar: Bool = false, limits: DecodingLimits
    ) throws(ImageDecodingError) {
        self.init(sizing: sizing, notBelow: least, isPlanar: isPlanar, limits: limits)
        try limits.check(inputBytes: bytes.count)
        guard ImageFormat(detecting: bytes) == .jpeg else { throw .unrecognized }
        do throws(ImageDecodingError) {
            while try readSegment(bytes) {}
            if steps.contains(nil), scanCount > 0 {
                throw .corrupt(segment: "component without a scan", offset: segments.offset)
            }
        } catch {
            guard scanCount > 0, error.isDamage else { throw error }
            damage = damage ?? error
        }
    }

    /// Reads all complete segments and scans at the beginning of a file that is still arriving. Returns true at the end
    /// of the image.
    mutating func readWholeParts(of bytes: Span<UInt8>) throws(ImageDecodingError) -> Bool {
        while true {
            var ahead = segments
            do throws(ImageDecodingError) {
                let next = try ahead.next(in: bytes)
                if next.marker == .startOfScan {
                    ahead.offset = max(ahead.offset, searched)
                    ahead.skipEntropyCodedData(in: bytes)
                    // The last byte may be the first of a marker.
                    searched = max(ahead.offset - 1, 0)
                    if ahead.offset >= bytes.count { return false }
                }
                if next.marker.isStartOfFrame {
                    if try next.height(in: bytes) == nil { return false }
                    // With the frame header all segments up to the first scan are read.
                    while try ahead.next(in: bytes).marker != .startOfScan {}
                }
            } catch .truncated { return false }
            guard try readSegment(bytes) else { return true }
        }
    }

    /// Reads the next segment, with the scan that it may begin. Returns false at the end of the image.
    private mutating func readSegment(_ bytes: Span<UInt8>) throws(ImageDecodingError) -> Bool {
        let segment = try segments.next(in: bytes)
        let body = bytes.extracting(segment.body)
        switch segment.marker {
        case .endOfImage: return false
        case .quantisationTables: try tables.readQuantisation(body, offset: segment.offset)
        case .huffmanTables: try tables.readHuffman(body, offset: segment.offset)
        case .restartInterval: try tables.readRestartInterval(body, offset: segment.offset)
        case .startOfScan: try readScan(segment, bytes)
        case .arithmeticConditioning: throw .unsupported(feature: "JPEG with arithmetic coding")
        case .hierarchicalProgression: throw .unsupported(feature: "hierarchical JPEG")
        case .startOfImage: throw .corrupt(segment: "second SOI", offset: segment.offset)
        case let marker where marker.isStartOfFrame: try readFrame(segment, bytes)
        // Those behind the frame header were read with it.
        default: if frame == nil { application.read(segment, of: bytes) }
        }
        return true
    }

    private mutating func readFrame(
        _ segment: JPEGSegment, _ bytes: Span<UInt8>
    ) throws(ImageDecodingError) {
        guard frame == nil else { throw .corrupt(segment: "second frame header", offset: segment.offset) }
        let frame = try JPEGFrame(segment, of: bytes)
        try limits.check(frame.size)
        steps = Array(repeating: nil, count: frame.components.count)
        application.readAhead(from: segments, of: bytes)
        transform = application.transform(for: frame, in: bytes)
        let upright = application.orientation ?? .upright
        if sizing == nil, let least {
            let scale = JPEGScale(frame, target: upright.size(ofStored: least), isPlanar: isPlanar)
            self.frame = (frame, scale, PictureLayout(whole: scale.size))
            return
        }
        let layout = PictureLayout(upright.size(ofStored: frame.size), to: sizing).stored(upright)
        let scale = JPEGScale(frame, target: sizing == nil ? nil : layout.scaled, isPlanar: isPlanar)
        self.frame = (frame, scale, layout)
    }

    private mutating func readScan(
        _ segment: JPEGSegment, _ bytes: Span<UInt8>
    ) throws(ImageDecodingError) {
        guard let known = self.frame else {
            throw .corrupt(segment: "scan ahead of the frame header", offset: segment.offset)
        }
        guard scanCount < limits.scans else {
            throw .tooLarge(.scans, value: scanCount + 1, maximum: limits.scans)
        }
        let frame = known.header
        let scan = try JPEGScan(bytes.extracting(segment.body), frame: frame, offset: segment.offset)
        for component in scan.components {
            if steps[component.index] == nil {
                let table = tables.quantisation[frame.components[component.index].quantisationTable]
                guard let table else {
                    throw .corrupt(segment: "scan without its tables", offset: segment.offset)
                }
                steps[component.index] = table
            } else if !frame.isProgressive {
                throw .corrupt(segment: "second scan of a component", offset: segment.offset)
            }
        }
        scanCount += 1
        if frame.isProgressive {
            var decoder = try ProgressiveScan(scan, of: frame, tables: tables, segment: segment)
            var coefficients = self.coefficients.take() ?? JPEGCoefficients(frame)
            defer { self.coefficients = coefficients }
            if !coefficients.follows(scan) {
                damage = damage ?? .corrupt(segment: "order of the scans", offset: segment.offset)
            }
            decoder.decode(from: bytes, into: &coefficients)
            segments.offset = decoder.units.reader.bits.position
            damage = damage ?? decoder.units.reader.damage
        } else {
            try readSequential(scan, known, segment, bytes)
        }
    }

    /// A scan of all components gives finished rows at once, so only a few rows of samples are kept; not when decoding
    /// to planes.
    private mutating func readSequential(
        _ scan: JPEGScan, _ frame: Frame, _ segment: JPEGSegment, _ bytes: Span<UInt8>
    ) throws(ImageDecodingError) {
        let givesRows = scan.components.count == frame.header.components.count && !isPlanar
        var planes = self.planes.take() ?? JPEGPlanes(frame.header, scale: frame.scale, isWindow: givesRows)
        var decoder = try SequentialScan(
            scan, of: frame.header, tables: tables, planes: planes.planes, segment: segment)
        var rows = givesRows ? makeRows(frame, planes.planes) : nil
        for row in 0..<decoder.units.size.height {
            decoder.decodeRow(row, from: bytes, into: &planes)
            try rows?.add(upToUnitRow: row, of: planes)
        }
        segments.offset = decoder.units.reader.bits.position
        damage = damage ?? decoder.units.reader.damage
        self.rows = rows
        if !givesRows { self.planes = planes }
    }

    private func makeRows(_ frame: Frame, _ planes: [JPEGPlanes.Plane]) -> JPEGRows {
        JPEGRows(
            frame.header, scale: frame.scale, colour: JPEGColour(frame: frame.header, application),
            planes: planes,
            Presentation(
                layout: frame.layout, transform: transform, orientation: application.orientation ?? .upright))
    }

    /// The planes of the image so far; at least one scan must have been read.
    func planarPicture() throws(ImageDecodingError) -> PlanarPicture {
        let (frame, scale, _) = try readableFrame()
        var planes = planes ?? JPEGPlanes(frame, scale: scale, isWindow: false)
        let dequantisers = dequantisers
        for row in 0..<frame.unitRows { transformCoefficients(row, of: frame, dequantisers, into: &planes) }
        return PlanarPicture(frame, scale: scale, planes: planes, damage: damage)
    }

    /// The frame; at least one scan must have been read.
    private func readableFrame() throws(ImageDecodingError) -> Frame {
        guard let frame else {
            throw .corrupt(segment: "JPEG without a frame header", offset: segments.offset)
        }
        guard scanCount > 0 else {
            throw .corrupt(segment: "JPEG without a scan", offset: segments.offset)
        }
        return frame
    }

    /// The dequantiser of each component. A component without a scan has no coefficients, so any steps will do.
    private var dequantisers: [Dequantiser] {
        steps.map { Dequantiser(steps: $0 ?? Array(repeating: 1, count: 64)) }
    }

    /// Transforms a row of MCUs of a progressive frame.
    private func transformCoefficients(
        _ row: Int, of frame: JPEGFrame, _ dequantisers: [Dequantiser], into planes: inout JPEGPlanes
    ) {
        guard let coefficients else { return }
        for index in frame.components.indices {
            coefficients.transform(
                index, unitRow: row, of: frame, dequantiser: dequantisers[index], into: &planes)
        }
    }

    /// The upright image so far; at least one scan must have been read.
    /// - Parameter offset: for a file that is still arriving, how much of it there is.
    func picture(cutAt offset: Int? = nil) throws(ImageDecodingError) -> Bitmap {
        let frame = try readableFrame()
        let damage = damage ?? offset.map { .truncated(offset: $0) }
        if let rows { return rows.finish(damage: damage) }
        var planes = planes ?? JPEGPlanes(frame.header, scale: frame.scale, isWindow: true)
        var rows = makeRows(frame, planes.planes)
        let dequantisers = dequantisers
        for row in 0..<frame.header.unitRows {
            transformCoefficients(row, of: frame.header, dequantisers, into: &planes)
            try rows.add(upToUnitRow: row, of: planes)
        }
        return rows.finish(damage: damage)
    }
}
