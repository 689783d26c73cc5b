/// Reads a JPEG file from marker to marker (T.81 B.2) and decodes its scans.
struct JPEGFile {
    private var tables = JPEGTables()
    private var frame: JPEGFrame?
    private(set) var orientation = ExifOrientation.upright
    private var hasOrientation = false
    private var hasJFIF = false
    private var adobeTransform: UInt8?
    private var scanCount = 0
    /// The samples of a sequential frame, the coefficients of a progressive one.
    private var planes: JPEGPlanes?
    private var coefficients: JPEGCoefficients?
    /// The steps of each component as they were at its first scan; nil for one that had none yet.
    private var steps: [[UInt16]?] = []

    /// Reads the whole file; `limits` are checked at the frame header, before there is room for samples.
    init(
        reading bytes: Span<UInt8>, limits: DecodingLimits
    ) throws(ImageDecodingError) {
        var segments = JPEGSegments(offset: 2)
        while true {
            let segment = try segments.next(in: bytes)
            let body = bytes.extracting(segment.body)
            switch segment.marker {
            case .endOfImage: return
            case .quantisationTables: try tables.readQuantisation(body, offset: segment.offset)
            case .huffmanTables: try tables.readHuffman(body, offset: segment.offset)
            case .restartInterval: try tables.readRestartInterval(body, offset: segment.offset)
            case .application0: hasJFIF = hasJFIF || body.hasBytes([0x4A, 0x46, 0x49, 0x46, 0x00])
            case .application1: readOrientation(segment, bytes)
            case .application14: if body.hasBytes("Adobe") { adobeTransform = body.byte(at: 11) }
            case .startOfScan:
                segments.offset = try readScan(segment, bytes, limits: limits)
            case .arithmeticConditioning: throw .unsupported(feature: "JPEG with arithmetic coding")
            case .hierarchicalProgression: throw .unsupported(feature: "hierarchical JPEG")
            case .startOfImage: throw .corrupt(segment: "second SOI", offset: segment.offset)
            case let marker where marker.isStartOfFrame: try readFrame(segment, body, limits: limits)
            default: break
            }
        }
    }

    /// As for the header: only ahead of the frame header, and the first there is.
    private mutating func readOrientation(_ segment: JPEGSegment, _ bytes: Span<UInt8>) {
        guard frame == nil, !hasOrientation,
            let found = ExifOrientation(applicationSegment: segment.body, of: bytes)
        else { return }
        orientation = found
        hasOrientation = true
    }

    private mutating func readFrame(
        _ segment: JPEGSegment, _ body: Span<UInt8>, limits: DecodingLimits
    ) throws(ImageDecodingError) {
        guard frame == nil else { throw .corrupt(segment: "second frame header", offset: segment.offset) }
        let frame = try JPEGFrame(body, marker: segment.marker, offset: segment.offset)
        try limits.check(frame.size)
        self.frame = frame
        steps = Array(repeating: nil, count: frame.components.count)
    }

    private mutating func readScan(
        _ segment: JPEGSegment, _ bytes: Span<UInt8>, limits: DecodingLimits
    ) throws(ImageDecodingError) -> Int {
        guard let frame else {
            throw .corrupt(segment: "scan ahead of the frame header", offset: segment.offset)
        }
        scanCount += 1
        guard scanCount <= limits.scans else {
            throw .tooLarge(.scans, value: scanCount, maximum: limits.scans)
        }
        let scan = try JPEGScan(bytes.extracting(segment.body), frame: frame, offset: segment.offset)
        for component in scan.components {
            if steps[component.index] == nil {
                let table = tables.quantisation[frame.components[component.index].quantisationTable]
                guard let table, scan.isDC else {
                    throw .corrupt(segment: "first scan of a component", offset: segment.offset)
                }
                steps[component.index] = table
            } else if !frame.isProgressive {
                throw .corrupt(segment: "second scan of a component", offset: segment.offset)
            }
        }
        return frame.isProgressive
            ? try readProgressive(scan, frame, segment, bytes)
            : try readSequential(scan, frame, segment, bytes)
    }

    private mutating func readSequential(
        _ scan: JPEGScan, _ frame: JPEGFrame, _ segment: JPEGSegment, _ bytes: Span<UInt8>
    ) throws(ImageDecodingError) -> Int {
        var planes = self.planes.take() ?? JPEGPlanes(frame)
        let decoder = try SequentialScan(
            scan, frame: frame, tables: tables, planes: planes.planes, offset: segment.offset)
        let end = try decoder.decode(from: bytes, at: segment.body.upperBound, into: &planes)
        self.planes = planes
        return end
    }

    private mutating func readProgressive(
        _ scan: JPEGScan, _ frame: JPEGFrame, _ segment: JPEGSegment, _ bytes: Span<UInt8>
    ) throws(ImageDecodingError) -> Int {
        let decoder = try ProgressiveScan(scan, frame: frame, tables: tables, offset: segment.offset)
        var coefficients = self.coefficients.take() ?? JPEGCoefficients(frame)
        let end = try decoder.decode(from: bytes, at: segment.body.upperBound, into: &coefficients)
        self.coefficients = coefficients
        return end
    }

    /// The picture, as stored; `corrupt` when a component had no scan.
    consuming func picture(endOffset: Int) throws(ImageDecodingError) -> JPEGPicture {
        guard let frame else { throw .corrupt(segment: "JPEG without a frame header", offset: endOffset) }
        var planes = planes ?? JPEGPlanes(frame)
        for index in frame.components.indices {
            guard let steps = steps[index] else {
                throw .corrupt(segment: "JPEG without a scan of each component", offset: endOffset)
            }
            coefficients?.transform(index, of: frame, steps: steps, into: &planes)
        }
        let colour = JPEGColour(frame: frame, hasJFIF: hasJFIF, adobeTransform: adobeTransform)
        return JPEGPicture(frame: frame, colour: colour, planes: planes)
    }
}
