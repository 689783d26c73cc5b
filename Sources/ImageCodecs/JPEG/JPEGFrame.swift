/// The frame header (T.81 B.2.2) and the geometry derived from it.
///
///     08             bits per sample
///     02 EE 01 F4    lines, samples per line
///     03             components, three bytes each:
///     01 22 00       identifier, sampling factors across and down, quantisation table
struct JPEGFrame {
    /// The size of the stored image, before any rotation.
    let size: ImageSize
    let isProgressive: Bool
    let components: [JPEGComponent]
    /// The largest sampling factors: an MCU (minimum coded unit) has that many blocks in each direction.
    let horizontalMaximum: Int
    let verticalMaximum: Int
    private let unitColumns: Int
    let unitRows: Int

    /// Reads the frame header `segment` of `file`.
    init(_ segment: JPEGSegment, of file: Span<UInt8>) throws(ImageDecodingError) {
        let offset = segment.offset
        let body = file.extracting(segment.body)
        isProgressive = try Self.checkProcess(segment.marker)
        guard let height = try segment.height(in: file), let width = body.bigEndian16(at: 3), body.count >= 6
        else {
            throw .corrupt(segment: "frame header", offset: offset)
        }
        guard body[0] == 8 else { throw .unsupported(feature: "JPEG with \(body[0]) bits per sample") }
        let count = Int(body[5])
        guard width > 0, count > 0, body.count == 6 + 3 * count else {
            throw .corrupt(segment: "frame header", offset: offset)
        }
        guard count == 1 || count == 3 || count == 4 else {
            throw .unsupported(feature: "JPEG with \(count) components")
        }
        size = ImageSize(width: width, height: height)

        var factors: [(horizontal: Int, vertical: Int)] = []
        for index in 0..<count {
            let factor = body[7 + 3 * index]
            factors.append((Int(factor >> 4), Int(factor & 15)))
        }
        guard factors.allSatisfy({ (1...4).contains($0.horizontal) && (1...4).contains($0.vertical) }) else {
            throw .corrupt(segment: "sampling factors in the frame header", offset: offset)
        }
        // A single component is coded block by block, and its sampling factors, relative to the largest (T.81 A.1.1,
        // A.2.2), have no meaning.
        if count == 1 { factors = [(1, 1)] }
        let horizontalMaximum = factors.map(\.horizontal).max() ?? 1
        let verticalMaximum = factors.map(\.vertical).max() ?? 1
        self.horizontalMaximum = horizontalMaximum
        self.verticalMaximum = verticalMaximum
        unitColumns = (width + 8 * horizontalMaximum - 1) / (8 * horizontalMaximum)
        unitRows = (height + 8 * verticalMaximum - 1) / (8 * verticalMaximum)

        var components: [JPEGComponent] = []
        for index in 0..<count {
            let identifier = body[6 + 3 * index]
            let table = Int(body[8 + 3 * index])
            guard table < 4 else {
                throw .corrupt(segment: "component in the frame header", offset: offset)
            }
            let (horizontal, vertical) = factors[index]
            components.append(
                JPEGComponent(
                    identifier: identifier,
                    horizontalFactor: horizontal,
                    verticalFactor: vertical,
                    quantisationTable: table,
                    size: ImageSize(
                        width: (width * horizontal + horizontalMaximum - 1) / horizontalMaximum,
                        height: (height * vertical + verticalMaximum - 1) / verticalMaximum),
                    blockColumns: unitColumns * horizontal,
                    blockRows: unitRows * vertical))
        }
        self.components = components
    }

    /// The MCUs of a scan; for a scan of one component an MCU is a block (T.81 A.2.2).
    func units(of scan: JPEGScan) -> ImageSize {
        guard scan.components.count == 1, let only = scan.components.first else {
            return ImageSize(width: unitColumns, height: unitRows)
        }
        let component = components[only.index]
        return ImageSize(width: component.ownBlockColumns, height: component.ownBlockRows)
    }

    /// T.81 table B.1: the coding process of each SOF marker. True for progressive.
    private static func checkProcess(_ marker: JPEGMarker) throws(ImageDecodingError) -> Bool {
        switch marker.rawValue & 0x0F {
        case 0, 1: return false
        case 2: return true
        case 3: throw .unsupported(feature: "lossless JPEG")
        case 5, 6, 7: throw .unsupported(feature: "hierarchical JPEG")
        case 11, 15: throw .unsupported(feature: "lossless JPEG with arithmetic coding")
        default: throw .unsupported(feature: "JPEG with arithmetic coding")
        }
    }
}

/// A component of a frame: a plane of samples.
struct JPEGComponent: Equatable {
    let identifier: UInt8
    let horizontalFactor: Int
    let verticalFactor: Int
    let quantisationTable: Int
    /// The size of the component in samples.
    let size: ImageSize
    /// The stored blocks: whole MCUs, which may extend past the image.
    let blockColumns: Int
    let blockRows: Int

    /// The blocks with samples of the image, as in a scan of this component alone.
    var ownBlockColumns: Int { (size.width + 7) / 8 }
    var ownBlockRows: Int { (size.height + 7) / 8 }
}

/// The colour space of a JPEG.
enum JPEGColour: Equatable {
    case grey
    case yCbCr
    case rgb
    /// Inks, inverted: 255 is none.
    case cmyk
    /// The complements of three inverted inks as YCbCr, and black.
    case ycck

    /// Whether the first three components need a conversion from YCbCr.
    var isBasedOnYCbCr: Bool {
        switch self {
        case .yCbCr, .ycck: true
        case .grey, .rgb, .cmyk: false
        }
    }

    /// Three components are YCbCr or RGB: JFIF means YCbCr; otherwise Adobe's APP14 decides; without both, components
    /// named R, G and B are RGB (as in libjpeg). Four components are inks. All programs store them inverted, with APP14 or
    /// without, and Pillow, libvips and Chromium read them so.
    init(frame: JPEGFrame, _ application: JPEGApplicationData) {
        let adobeTransform = application.adobeTransform
        switch frame.components.count {
        case 1: self = .grey
        case 4:
            self = adobeTransform == nil || adobeTransform == 0 ? .cmyk : .ycck
        default:
            if application.hasJFIF {
                self = .yCbCr
            } else if let adobeTransform {
                self = adobeTransform == 0 ? .rgb : .yCbCr
            } else {
                self = frame.components.map(\.identifier) == [0x52, 0x47, 0x42] ? .rgb : .yCbCr
            }
        }
    }
}

/// The scan header (T.81 B.2.3).
///
///     03                components, two bytes each:
///     01 00             identifier, DC table in the upper half, AC table in the lower
///     00 3F 00          first and last coefficient, successive approximation high and low
struct JPEGScan: Equatable {
    struct Component: Equatable {
        /// The component's index in the frame.
        let index: Int
        let dcTable: Int
        let acTable: Int
    }

    let components: [Component]
    /// The spectral selection: the coefficients of the scan, in zigzag order.
    let spectrum: ClosedRange<Int>
    /// The previous scan's bit position for the same coefficients; 0 in their first scan.
    let approximationHigh: Int
    let approximationLow: Int

    init(_ body: Span<UInt8>, frame: JPEGFrame, offset: Int) throws(ImageDecodingError) {
        let corrupt = ImageDecodingError.corrupt(segment: "scan header", offset: offset)
        guard let count = body.byte(at: 0).map(Int.init), (1...4).contains(count), body.count == 4 + 2 * count
        else {
            throw corrupt
        }
        var components: [Component] = []
        for position in 0..<count {
            let identifier = body[1 + 2 * position]
            let tables = body[2 + 2 * position]
            // Components may have equal identifiers: the first that the scan does not have yet is meant, as in libjpeg.
            let index = frame.components.indices.first { index in
                frame.components[index].identifier == identifier
                    && !components.contains { $0.index == index }
            }
            guard let index, tables >> 4 < 4, tables & 15 < 4 else { throw corrupt }
            components.append(Component(index: index, dcTable: Int(tables >> 4), acTable: Int(tables & 15)))
        }
        self.components = components

        let first = Int(body[1 + 2 * count])
        let last = Int(body[2 + 2 * count])
        approximationHigh = Int(body[3 + 2 * count] >> 4)
        approximationLow = Int(body[3 + 2 * count] & 15)
        guard frame.isProgressive else {
            // Some encoders write other values in a sequential scan, where they have no meaning.
            spectrum = 0...63
            return
        }
        // T.81 G.1.1.1: DC alone for any components, or AC for one component; each refinement adds one bit.
        guard first <= last, last <= 63, first > 0 || last == 0, first == 0 || count == 1,
            approximationLow <= 13, approximationHigh == 0 || approximationHigh == approximationLow + 1
        else { throw corrupt }
        spectrum = first...last
    }

    var isDC: Bool { spectrum.lowerBound == 0 }
    var isRefinement: Bool { approximationHigh > 0 }
}
