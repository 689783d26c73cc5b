/// Strips metadata from image files: Exif with its positions and previews, XMP, IPTC, texts, times, and bytes after the
/// image's end. Nothing is decoded: the image data is copied byte for byte, so the pixels stay the same.
///
/// What the look of the image depends on is kept: colour profile, transparency, density and orientation.
package enum ImageMetadata {
    /// The file without its metadata. Stripping it again changes nothing.
    ///
    /// - A JPEG keeps its tables, frame and scans, JFIF's version and density, the ICC profile, Adobe's colour
    ///   transform, and of Exif the orientation alone. A JPEG whose scans are cut off stays so.
    /// - A PNG keeps its critical chunks, the chunks of colour, transparency, density and animation, and of eXIf the
    ///   orientation alone. An ancillary chunk with a wrong CRC is dropped.
    /// - A WebP keeps its images and colour profile, and of Exif the orientation alone.
    /// - A GIF keeps its images, their graphic controls, the repetition of an animation, and its colour profile.
    /// - A BMP has none.
    /// - Parameter bytes: the whole file.
    /// - Throws: `unrecognized`, or `unsupported` for another format; `.truncated(offset:)` or `corrupt` if the
    ///   structure is damaged, as decoders do.
    package static func strip(_ bytes: [UInt8]) throws(ImageDecodingError) -> [UInt8] {
        guard let format = ImageFormat(detecting: bytes.span) else { throw .unrecognized }
        switch format {
        case .jpeg: return try stripJPEG(bytes)
        case .png: return try stripPNG(bytes)
        case .webp: return try stripWebP(bytes)
        case .gif: return try stripGIF(bytes)
        case .bmp: return bytes
        default: throw .unsupported(feature: format.displayName)
        }
    }

    // MARK: JPEG

    private static func stripJPEG(_ bytes: [UInt8]) throws(ImageDecodingError) -> [UInt8] {
        var segments = JPEGSegments(offset: 2)
        var file: [UInt8] = [0xFF, JPEGMarker.startOfImage.rawValue]
        file.reserveCapacity(bytes.count)
        var application = KeptApplicationData()
        var hasScan = false
        while true {
            let segment: JPEGSegment
            do throws(ImageDecodingError) {
                segment = try segments.next(in: bytes.span)
            } catch .truncated(let offset) {
                // Decoders show as much as there is of a file that is cut off behind the start of a scan.
                guard hasScan else { throw .truncated(offset: offset) }
                return file
            } catch .corrupt(let part, let offset) {
                // A scan that ends early hides what follows it from decoders. The bad marker is skipped.
                guard hasScan else { throw .corrupt(segment: part, offset: offset) }
                segments.offset = offset
                continue
            }
            switch segment.marker {
            case .startOfImage where !hasScan:
                throw .corrupt(segment: "second SOI", offset: segment.offset)
            case .endOfImage:
                file += bytes[segment.offset..<segments.offset]
                return file
            case .startOfScan:
                hasScan = true
                application.isBeforeScan = false
                segments.skipEntropyCodedData(in: bytes.span)
                file += bytes[segment.offset..<segments.offset]
            case let marker where marker.isApplicationData:
                guard let body = application.body(of: segment, in: bytes) else { continue }
                JPEGHeader.append(marker.rawValue, body, to: &file)
            case let marker where marker.isForDecoding:
                file += bytes[segment.offset..<segments.offset]
            // Comments, reserved markers, and SOI and restart markers out of place.
            default: continue
            }
        }
    }

    /// Decides what is kept of the segments APP0 to APP15 (T.81 B.2.4.6).
    private struct KeptApplicationData {
        /// Whether the first scan is still ahead. As in `JPEGApplicationData`, an orientation counts only then.
        var isBeforeScan = true
        private var hasJFIF = false
        private var hasOrientation = false

        /// The body of the segment to write instead; nil to drop the segment.
        mutating func body(of segment: JPEGSegment, in bytes: [UInt8]) -> [UInt8]? {
            let body = bytes.span.extracting(segment.body)
            let content = bytes[segment.body]
            switch segment.marker {
            case .application0:
                guard body.hasBytes([0x4A, 0x46, 0x49, 0x46, 0x00]), !hasJFIF else { return nil }
                hasJFIF = true
                // A thumbnail of 0 x 0 pixels takes the place of JFIF's own (JFIF 1.02).
                return content.count < 14 ? Array(content) : Array(content.prefix(12)) + [0, 0]
            case .application1:
                guard isBeforeScan, !hasOrientation,
                    let orientation = ExifOrientation(applicationSegment: segment.body, of: bytes.span)
                else { return nil }
                hasOrientation = true
                guard orientation != .upright else { return nil }
                return Array("Exif".utf8) + [0, 0] + orientation.tiff
            // A profile may take several segments (ICC.1:2022 B.4).
            case .application2: return body.hasBytes("ICC_PROFILE\0") ? Array(content) : nil
            // The colour transform is the last of twelve bytes.
            case .application14: return body.hasBytes("Adobe") ? Array(content.prefix(12)) : nil
            default: return nil
            }
        }
    }

    // MARK: WebP

    /// The flags of Exif and XMP in VP8X.
    private static let exifFlag: UInt8 = 0x08
    private static let metadataFlags: UInt8 = exifFlag | 0x04

    private static func stripWebP(_ bytes: [UInt8]) throws(ImageDecodingError) -> [UInt8] {
        guard let length = bytes.span.littleEndian32(at: 4), bytes.count >= 12 else {
            throw .truncated(offset: bytes.count)
        }
        let orientation = ExifOrientation(ofWebP: bytes.span) ?? .upright
        var file = Array(bytes.prefix(12))
        file.reserveCapacity(bytes.count)
        var chunks = WebPChunks(12..<min(bytes.count, 8 + length))
        var flagsOffset: Int?
        // An image that is cut off stays so.
        var missing = 0
        while let chunk = chunks.next(in: bytes.span) {
            guard ["VP8X", "VP8 ", "VP8L", "ALPH", "ICCP", "ANIM", "ANMF"].contains(chunk.type) else {
                continue
            }
            if chunk.type == "VP8X", flagsOffset == nil { flagsOffset = file.count + 8 }
            append(chunk.type, Array(bytes[chunk.body]), missing: chunk.missing, to: &file)
            missing = chunk.missing
        }
        // Without VP8X there is no Exif either.
        if let flagsOffset, flagsOffset < file.count {
            file[flagsOffset] &= ~metadataFlags
            if orientation != .upright, missing == 0 {
                file[flagsOffset] |= exifFlag
                append("EXIF", orientation.tiff, to: &file)
            }
        }
        let newLength = UInt32(truncatingIfNeeded: file.count - 8 + missing)
        file.replaceSubrange(4..<8, with: newLength.littleEndianBytes)
        return file
    }

    /// Appends a chunk of a WebP, with a byte of padding after an odd length, or cut off.
    private static func append(
        _ type: String, _ body: [UInt8], missing: Int = 0, to file: inout [UInt8]
    ) {
        let length = body.count + missing
        file += Array(type.utf8) + UInt32(truncatingIfNeeded: length).littleEndianBytes + body
        if length % 2 == 1, missing == 0 { file.append(0) }
    }

    // MARK: GIF

    private static func stripGIF(_ bytes: [UInt8]) throws(ImageDecodingError) -> [UInt8] {
        var blocks = try GIFBlocks(bytes.span)
        var file = Array(bytes[..<blocks.offset])
        file.reserveCapacity(bytes.count)
        var hasImage = false
        // Whether the first frame is over. Several images may be parts of it.
        var hasFrame = false
        var repeats = false
        while true {
            let start = blocks.offset
            let block: GIFBlocks.Block
            do throws(ImageDecodingError) {
                block = try blocks.next(in: bytes.span)
            } catch {
                // What follows an image is no part of the first frame.
                guard hasImage else { throw error }
                return file + [GIFBlocks.trailer]
            }
            let isWhole = blocks.offset <= bytes.count
            switch block {
            case .image(let image):
                // A first frame that is cut off stays so.
                guard isWhole || hasFrame else { return file + bytes[start...] }
                hasImage = true
                hasFrame = hasFrame || image.control.delay > 0 || repeats
            case .repetition:
                repeats = true
                hasFrame = hasFrame || hasImage
            case .control, .profile: break
            case .other: continue
            case .end: return file + [GIFBlocks.trailer]
            }
            if isWhole { file += bytes[start..<blocks.offset] }
        }
    }

    // MARK: PNG

    /// The ancillary chunks that are kept: transparency, colour, density, and animation.
    private static let keptChunks: Set<String> = [
        "tRNS", "cHRM", "gAMA", "iCCP", "sBIT", "sRGB", "cICP", "bKGD", "pHYs", "acTL", "fcTL", "fdAT",
    ]

    private static func stripPNG(_ bytes: [UInt8]) throws(ImageDecodingError) -> [UInt8] {
        var chunks = PNGChunks(offset: PNGSignature.magic.count)
        var file = PNGSignature.magic.bytes
        file.reserveCapacity(bytes.count)
        var orientation = ExifOrientation(ofPNG: bytes.span) ?? .upright
        while true {
            let chunk = try chunks.next(in: bytes.span)
            if chunk.type == "IDAT", orientation != .upright {
                PNGEncoder.append("eXIf", orientation.tiff, to: &file)
                orientation = .upright
            }
            if chunk.isCritical || keptChunks.contains(chunk.type) {
                file += bytes[chunk.offset..<chunks.offset]
            }
            if chunk.type == "IEND" { return file }
        }
    }
}

extension JPEGMarker {
    /// APP0 to APP15.
    fileprivate var isApplicationData: Bool { rawValue & 0xF0 == 0xE0 }

    /// Whether decoding needs the segment: tables, frames, and their parameters (T.81 B.2.4).
    fileprivate var isForDecoding: Bool {
        if isStartOfFrame { return true }
        return switch self {
        case .quantisationTables, .huffmanTables, .arithmeticConditioning, .restartInterval, .numberOfLines,
            .hierarchicalProgression, .expansion:
            true
        default: false
        }
    }
}
