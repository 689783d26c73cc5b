/// A marker of a JPEG file and its parameters (T.81 B.1.1).
struct JPEGSegment: Equatable {
    let marker: JPEGMarker
    /// The offset of the marker's 0xFF.
    let offset: Int
    /// The parameters without the two length bytes; empty for stand-alone markers.
    let body: Range<Int>
}

/// Iterates over the markers of a JPEG file:
///
///     FF D8                      SOI
///     FF E0 00 10 4A 46 49 ...   APP0, its length counts itself: 14 bytes follow
///     FF DA 00 0C ...            SOS, then entropy-coded data up to the next marker
///     FF D9                      EOI
struct JPEGSegments {
    /// Where to search for the next marker.
    var offset: Int

    /// The next marker with its parameters. Skips other bytes, as every decoder does.
    mutating func next(in bytes: Span<UInt8>) throws(ImageDecodingError) -> JPEGSegment {
        let start = Self.firstMarker(in: bytes, from: offset, skippingRestarts: false)
        guard let code = bytes.byte(at: start + 1) else { throw .truncated(offset: bytes.count) }
        let marker = JPEGMarker(rawValue: code)
        guard marker.hasParameters else {
            offset = start + 2
            return JPEGSegment(marker: marker, offset: start, body: offset..<offset)
        }
        guard let length = bytes.bigEndian16(at: start + 2) else { throw .truncated(offset: bytes.count) }
        // The length counts itself. As in libjpeg a smaller one is a segment without parameters.
        let end = start + 2 + max(length, 2)
        guard end <= bytes.count else { throw .truncated(offset: bytes.count) }
        offset = end
        return JPEGSegment(marker: marker, offset: start, body: start + 4..<end)
    }

    /// Skips entropy-coded data. In it each 0xFF is followed by a stuffed zero or by a restart marker.
    mutating func skipEntropyCodedData(in bytes: Span<UInt8>) {
        offset = Self.firstMarker(in: bytes, from: offset, skippingRestarts: true)
    }

    /// The offset of the (last) 0xFF of the first marker at or after `start`; `bytes.count` if there is none.
    static func firstMarker(in bytes: Span<UInt8>, from start: Int, skippingRestarts: Bool) -> Int {
        let last = bytes.count &- 1
        var offset = start
        while offset < last {
            let blockEnd = min(offset &+ 16, last)
            if blockEnd &- offset == 16, !bytes.hasMarkerByte(inSixteenFrom: offset) { offset = blockEnd }
            while offset < blockEnd {
                if bytes[offset] == 0xFF {
                    let code = bytes[offset &+ 1]
                    let isRestart = code & 0xF8 == 0xD0
                    if code != 0, code != 0xFF, !(isRestart && skippingRestarts) { return offset }
                }
                offset &+= 1
            }
        }
        return bytes.count
    }
}

extension Span<UInt8> {
    /// Whether one of sixteen bytes is 0xFF. Every download is scanned by this function, so it has no branches, for the
    /// sake of vector instructions.
    fileprivate func hasMarkerByte(inSixteenFrom offset: Int) -> Bool {
        let block = extracting(offset..<offset &+ 16)
        var lanes = SIMD16<UInt8>()
        for index in 0..<16 { lanes[index] = block[index] }
        return lanes.max() == 0xFF
    }
}

/// The second byte of a marker (T.81 table B.1).
struct JPEGMarker: RawRepresentable, Equatable, CustomStringConvertible {
    let rawValue: UInt8

    /// SOF0; a byte below it is no marker of a valid file, except TEM.
    static let firstFrame = JPEGMarker(rawValue: 0xC0)
    static let startOfImage = JPEGMarker(rawValue: 0xD8)
    static let endOfImage = JPEGMarker(rawValue: 0xD9)
    static let startOfScan = JPEGMarker(rawValue: 0xDA)
    static let quantisationTables = JPEGMarker(rawValue: 0xDB)
    static let huffmanTables = JPEGMarker(rawValue: 0xC4)
    static let arithmeticConditioning = JPEGMarker(rawValue: 0xCC)
    static let restartInterval = JPEGMarker(rawValue: 0xDD)
    static let numberOfLines = JPEGMarker(rawValue: 0xDC)
    static let hierarchicalProgression = JPEGMarker(rawValue: 0xDE)
    static let expansion = JPEGMarker(rawValue: 0xDF)
    static let application0 = JPEGMarker(rawValue: 0xE0)
    static let application1 = JPEGMarker(rawValue: 0xE1)
    static let application2 = JPEGMarker(rawValue: 0xE2)
    static let application14 = JPEGMarker(rawValue: 0xEE)

    /// SOF0 to SOF15; C4, C8 and CC in that range are other markers.
    var isStartOfFrame: Bool {
        rawValue & 0xF0 == 0xC0 && self != .huffmanTables && self != .arithmeticConditioning
            && rawValue != 0xC8
    }

    var isRestart: Bool { rawValue & 0xF8 == 0xD0 }

    /// False for SOI, EOI, RSTn and TEM.
    var hasParameters: Bool {
        !(isRestart || self == .startOfImage || self == .endOfImage || rawValue == 0x01)
    }

    var description: String {
        switch rawValue {
        case 0xC4: "DHT"
        case 0xC8: "JPG"
        case 0xCC: "DAC"
        case 0xC0...0xCF: "SOF\(rawValue & 0x0F)"
        case 0xD0...0xD7: "RST\(rawValue & 0x07)"
        case 0xD8: "SOI"
        case 0xD9: "EOI"
        case 0xDA: "SOS"
        case 0xDB: "DQT"
        case 0xDC: "DNL"
        case 0xDD: "DRI"
        case 0xDE: "DHP"
        case 0xDF: "EXP"
        case 0xE0...0xEF: "APP\(rawValue & 0x0F)"
        case 0xFE: "COM"
        default: "FF" + String(rawValue, radix: 16, uppercase: true)
        }
    }
}

extension JPEGSegment {
    /// The number of lines in a frame header. If it is 0, a DNL segment after the first scan has it (T.81 B.2.5). Nil
    /// if the header is too short.
    ///
    ///     FF DC 00 04 02 EE    DNL: 750 lines
    func height(in file: Span<UInt8>) throws(ImageDecodingError) -> Int? {
        guard body.count >= 3, let lines = file.bigEndian16(at: body.lowerBound + 1) else { return nil }
        if lines > 0 { return lines }
        var segments = JPEGSegments(offset: body.upperBound)
        var isBehindScan = false
        while true {
            let segment = try segments.next(in: file)
            switch segment.marker {
            case .startOfScan where !isBehindScan:
                segments.skipEntropyCodedData(in: file)
                isBehindScan = true
            case .numberOfLines:
                guard segment.body.count == 2, let lines = file.bigEndian16(at: segment.body.lowerBound),
                    lines > 0
                else { throw .corrupt(segment: "number of lines", offset: segment.offset) }
                return lines
            case .startOfScan, .endOfImage:
                throw .corrupt(segment: "JPEG without a height", offset: offset)
            default: break
            }
        }
    }
}

/// The orientation and the kind of colours, from the segments that applications add before the first scan (T.81 B.2.4.6).
struct JPEGApplicationData {
    private(set) var orientation: ExifOrientation?
    private(set) var hasJFIF = false
    /// The colour transform of Adobe's APP14.
    private(set) var adobeTransform: UInt8?
    /// The pieces of the colour profile (ICC.1:2022, annex B.4): number, count, place.
    private var profile: [(number: UInt8, count: UInt8, body: Range<Int>)] = []

    /// Reads a segment; ignores others than APP0, APP1, APP2 and APP14. Only the first orientation counts, as Exif 2.32,
    /// 4.5.4 requires.
    mutating func read(_ segment: JPEGSegment, of bytes: Span<UInt8>) {
        let body = bytes.extracting(segment.body)
        switch segment.marker {
        case .application0: hasJFIF = hasJFIF || body.hasBytes([0x4A, 0x46, 0x49, 0x46, 0x00])
        case .application1 where orientation == nil:
            orientation = ExifOrientation(applicationSegment: segment.body, of: bytes)
        case .application2 where body.hasBytes("ICC_PROFILE") && body.count > 14:
            profile.append((body[12], body[13], segment.body.dropFirst(14)))
        case .application14: if body.hasBytes("Adobe") { adobeTransform = body.byte(at: 11) }
        default: break
        }
    }

    /// Reads the segments up to the first scan, as much as there is of them.
    mutating func readAhead(from start: JPEGSegments, of bytes: Span<UInt8>) {
        var segments = start
        while let segment = try? segments.next(in: bytes), segment.marker != .startOfScan,
            segment.marker != .endOfImage
        {
            read(segment, of: bytes)
        }
    }

    /// The conversion to sRGB; nil without a whole profile.
    func transform(for frame: JPEGFrame, in bytes: Span<UInt8>) -> ColourTransform? {
        let pieces = profile.sorted { $0.number < $1.number }
        guard !pieces.isEmpty,
            pieces.enumerated().allSatisfy({ Int($1.number) == $0 + 1 && Int($1.count) == pieces.count })
        else { return nil }
        var whole: [UInt8] = []
        for piece in pieces { for index in piece.body { whole.append(bytes[index]) } }
        let spaces: [Int: ICCProfile.Space] = [1: .grey, 3: .rgb, 4: .cmyk]
        return spaces[frame.components.count].flatMap { ColourTransform(profile: whole.span, for: $0) }
    }
}
