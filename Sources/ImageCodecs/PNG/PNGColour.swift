/// How a PNG says which colours its samples are (PNG third edition, 11.3.2). Of several ways the first of these counts:
///
///     cICP    0C 0D 00 01                        primaries, curve, matrix, range: numbers of ITU-T H.273
///     iCCP    44 43 49 00  00  78 9C ...         a name, compression method, a compressed ICC profile
///     sRGB    00                                 intent
///     gAMA    00 00 B1 8F                        1 / gamma, times 100,000
///     cHRM    00 00 7A 26  00 00 80 84  ...      x and y of white, red, green and blue, times 100,000
struct PNGColour {
    private var codePoints: Range<Int>?
    private var profile: Range<Int>?
    private var isSRGB = false
    private var gamma: Range<Int>?
    private var primaries: Range<Int>?

    /// Reads a chunk before the image data; ignores others than these. Only the first of each counts.
    mutating func read(_ chunk: PNGChunk) {
        switch chunk.type {
        case "cICP" where chunk.body.count == 4: codePoints = codePoints ?? chunk.body
        case "iCCP": profile = profile ?? chunk.body
        case "sRGB": isSRGB = true
        case "gAMA" where chunk.body.count == 4: gamma = gamma ?? chunk.body
        case "cHRM" where chunk.body.count == 32: primaries = primaries ?? chunk.body
        default: break
        }
    }

    /// The conversion to sRGB; nil if the samples are in it, or nothing valid is said.
    func transform(isGrey: Bool, in bytes: Span<UInt8>) -> ColourTransform? {
        if let codePoints, let known = Self.light(ofCodePoints: bytes.extracting(codePoints)) {
            return ColourTransform(known.curves, toXYZ: known.toXYZ)
        }
        if let profile {
            let unpacked = Self.unpacked(bytes.extracting(profile))
            return ColourTransform(profile: unpacked.span, for: isGrey ? .grey : .rgb)
        }
        guard !isSRGB, let gamma, let power = bytes.bigEndian32(at: gamma.lowerBound), power > 0,
            let toXYZ = primaries.flatMap({ Self.matrix(ofPrimaries: bytes.extracting($0)) })
        else { return nil }
        // Encoders write 1/2.2 and the primaries of sRGB for sRGB itself (11.3.2.5), some less exactly.
        if abs(power - 45_455) < 2_273, ColourTransform([.sRGB, .sRGB, .sRGB], toXYZ: toXYZ) == nil {
            return nil
        }
        let curve = ToneCurve(gamma: 100_000 / Float(power))
        return ColourTransform([curve, curve, curve], toXYZ: toXYZ)
    }

    /// The longest profile, in bytes.
    private static let longestProfile = 4 << 20

    private static func unpacked(_ body: Span<UInt8>) -> [UInt8] {
        guard let end = (0..<min(80, body.count)).first(where: { body[$0] == 0 }), body.byte(at: end + 1) == 0
        else {
            return []
        }
        return Inflate.decompress(
            body.extracting(end + 2..<body.count), outputSize: longestProfile, origin: 0
        ).bytes
    }

    private static func matrix(ofPrimaries body: Span<UInt8>) -> ColourMatrix? {
        let places = (0..<4).map { index in
            SIMD2(
                Float(body.bigEndian32(at: index * 8) ?? 0), Float(body.bigEndian32(at: index * 8 + 4) ?? 0))
                / 100_000
        }
        return ColourMatrix(red: places[1], green: places[2], blue: places[3], white: places[0])
    }

    /// The curve and the primaries of code points (ITU-T H.273, tables 2 and 3); nil for other primaries, for curves
    /// beyond the range of a screen (PQ, HLG), and for YCbCr.
    private static func light(
        ofCodePoints body: Span<UInt8>
    ) -> (curves: [ToneCurve], toXYZ: ColourMatrix)? {
        guard body[2] == 0, body[3] == 1 else { return nil }
        let places: [SIMD2<Float>]
        switch body[0] {
        case 1: places = [SIMD2(0.64, 0.33), SIMD2(0.3, 0.6), SIMD2(0.15, 0.06)]
        case 9: places = [SIMD2(0.708, 0.292), SIMD2(0.17, 0.797), SIMD2(0.131, 0.046)]
        case 12: places = [SIMD2(0.68, 0.32), SIMD2(0.265, 0.69), SIMD2(0.15, 0.06)]
        default: return nil
        }
        let curve: ToneCurve
        switch body[1] {
        // BT.709 and BT.2020 describe cameras. Screens show their pictures as sRGB.
        case 1, 6, 13, 14, 15: curve = .sRGB
        case 4: curve = ToneCurve(gamma: 2.2)
        case 5: curve = ToneCurve(gamma: 2.8)
        case 8: curve = ToneCurve(gamma: 1)
        default: return nil
        }
        let white = SIMD2<Float>(0.3127, 0.329)
        return ColourMatrix(red: places[0], green: places[1], blue: places[2], white: white)
            .map { ([curve, curve, curve], $0) }
    }
}

extension ExifOrientation {
    /// The orientation in a PNG: in its eXIf chunk, which may follow the image data; or in a text of ImageMagick, as
    /// hexadecimal digits. Nil without a valid one. CRCs are not checked.
    ///
    ///     tEXt    "Raw profile type exif", a zero, "\nexif\n      40\n4578696600004d4d002a..."
    init?(ofPNG bytes: Span<UInt8>) {
        var offset = PNGSignature.magic.count
        while let length = bytes.bigEndian32(at: offset), offset + 8 + length <= bytes.count {
            let body = bytes.extracting(offset + 8..<offset + 8 + length)
            var tiff: [UInt8] = []
            if bytes.hasBytes("eXIf", at: offset + 4) {
                for index in 0..<body.count { tiff.append(body[index]) }
            } else if bytes.hasBytes("tEXt", at: offset + 4) || bytes.hasBytes("zTXt", at: offset + 4) {
                tiff = Self.tiff(ofText: body, isCompressed: bytes.hasBytes("zTXt", at: offset + 4))
            }
            // Some programs write the name of a JPEG's segment too.
            let isSegment = tiff.span.hasBytes([0x45, 0x78, 0x69, 0x66, 0x00, 0x00])
            if let orientation = ExifOrientation(tiff: tiff.span.extracting((isSegment ? 6 : 0)..<tiff.count))
            {
                self = orientation
                return
            }
            offset += 12 + length
        }
        return nil
    }

    /// The longest text that is looked at, in bytes.
    private static let longestText = 256 << 10

    private static func tiff(ofText body: Span<UInt8>, isCompressed: Bool) -> [UInt8] {
        let names = ["Raw profile type exif", "Raw profile type APP1"].map { Array($0.utf8) + [0] }
        guard
            let name = names.first(where: { name in
                body.count > name.count && name.indices.allSatisfy { body[$0] == name[$0] }
            })
        else { return [] }
        let rest = body.extracting(name.count..<min(body.count, longestText))
        var text: [UInt8] = []
        if isCompressed {
            text =
                Inflate.decompress(rest.extracting(1..<rest.count), outputSize: longestText, origin: 0).bytes
        } else {
            for index in 0..<rest.count { text.append(rest[index]) }
        }
        // A line for the name, one for the length, then the digits.
        let lines = text.split(separator: UInt8(ascii: "\n"))
        let digits = lines.dropFirst(2).joined().compactMap { Character(Unicode.Scalar($0)).hexDigitValue }
        return stride(from: 0, to: digits.count - 1, by: 2).map { UInt8(digits[$0] * 16 + digits[$0 + 1]) }
    }
}
