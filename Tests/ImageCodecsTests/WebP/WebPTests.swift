import FoundationEssentials
import ImageCodecs
import TestSupport
import TestTraits
import Testing

@Suite("WebP", .bounded)
struct WebPTests {
    private static let names = [
        "lossy", "lossy-simple-filter", "lossy-low", "lossy-high", "lossy-alpha", "lossy-raw-alpha",
        "lossless",
        "lossless-palette", "lossless-alpha", "lossless-fast", "animated",
    ]

    @Test("the pixels are those of libwebp", arguments: names)
    func pixels(name: String) throws {
        let bitmap = try ImageDecoders.standard.decode(Resources.bytes("WebP/\(name).webp"))
        #expect(bitmap == (try ImageDecoders.standard.decode(Resources.bytes("WebP/\(name).png"))))
    }

    @Test("pixels are opaque if a lossless file says that it uses no alpha")
    func unusedAlpha() throws {
        var file = try Resources.bytes("WebP/lossless-alpha.webp")
        let whole = try ImageDecoders.standard.decode(file)
        #expect(!whole.isOpaque)
        let chunk = try #require(file.firstRange(of: Array("VP8L".utf8))).upperBound
        // Behind the length, the signature and both sides: the highest bits of the fourth byte.
        file[chunk + 4 + 4] &= ~0x10
        let bitmap = try ImageDecoders.standard.decode(file)
        #expect(bitmap.isOpaque)
        #expect(Array(bitmap.pixels.prefix(3)) == Array(whole.pixels.prefix(3)))
    }

    /// Options of cwebp that between them use each feature of the format, and dwebp's pixels.
    private static let options = [
        "-q 0 -segments 1", "-q 40 -m 0 -f 100 -sharpness 7", "-q 75 -m 6 -partition_limit 100",
        "-q 90 -sns 100 -strong", "-q 60 -nostrong -f 50", "-q 100 -jpeg_like", "-preset drawing",
        "-preset icon -alpha_q 30", "-q 50 -alpha_filter none", "-q 50 -alpha_filter fast -alpha_method 0",
        "-z 0", "-z 4", "-z 9 -exact", "-near_lossless 20", "-lossless -m 1",
    ]

    @Test(
        "files of cwebp with every kind of option have dwebp's pixels",
        .enabled(if: WebPTools.areInstalled, WebPTools.absence),
        arguments: options)
    func encoded(options: String) throws {
        let folder = try TemporaryFolder()
        for (width, height) in [(1, 1), (17, 33), (60, 41)] {
            for isOpaque in [true, false] {
                let bitmap = try picture(width: width, height: height, isOpaque: isOpaque)
                let file = try WebPTools.file(of: bitmap, options: options, in: folder)
                let reference = try WebPTools.decode(file, in: folder)
                #expect(
                    try ImageDecoders.standard.decode(file) == reference, "\(width) x \(height) \(isOpaque)")
            }
        }
    }

    private func picture(width: Int, height: Int, isOpaque: Bool) throws -> Bitmap {
        let opaque = try #require(TestPicture.bitmap(ppm: TestPicture(width: width, height: height).ppm))
        guard !isOpaque else { return opaque }
        var pixels = opaque.pixels
        for index in 0..<width * height { pixels[index * 4 + 3] = UInt8(index * 37 % 256) }
        return Bitmap(width: width, height: height, pixels: pixels)
    }

    @Test(
        "a reduced size is the average of the whole picture; a part of it is a part of that", arguments: names
    )
    func reduced(name: String) throws {
        let file = try Resources.bytes("WebP/\(name).webp")
        let whole = try ImageDecoders.standard.decode(file)
        let target = ImageSize(width: 9, height: 9)
        let small = try ImageDecoders.standard.decode(file, fitting: target)
        #expect(small == whole.resized(to: whole.size.fitted(into: target)))
        let sizing = ImageSizing(ImageSize(width: 5, height: 8), mode: .fill(.bottomRight))
        #expect(try ImageDecoders.standard.decode(file, sizing: sizing) == whole.resized(to: sizing))
    }

    @Test("half, a quarter and an eighth are as planned, and the plan is enough", arguments: names)
    func planned(name: String) throws {
        let file = try Resources.bytes("WebP/\(name).webp")
        let whole = try ImageDecoders.standard.decode(file)
        for part in [1, 2, 4, 8] {
            let least = ImageSize(
                width: (whole.width + part - 1) / part, height: (whole.height + part - 1) / part)
            let plan = try ImageDecoders.standard.plan(for: file.span, notBelow: least)
            let bitmap = try ImageDecoders.standard.decode(file.span, notBelow: least)
            #expect(plan.size == least && bitmap == whole.resized(to: least))
            #expect(plan.memory > bitmap.cost)
        }
    }

    /// The file with an Exif chunk and the flag for it.
    private func file(_ name: String, orientation: UInt8) throws -> [UInt8] {
        let size = try #require(try ImageHeader(parsing: Resources.bytes("WebP/\(name).webp")).size)
        let image = try Resources.bytes("WebP/\(name).webp").dropFirst(12)
        let exif: [UInt8] = [
            0x49, 0x49, 0x2A, 0, 8, 0, 0, 0, 1, 0, 0x12, 0x01, 3, 0, 1, 0, 0, 0, orientation, 0, 0, 0, 0, 0,
            0, 0,
        ]
        var body = Array("VP8X".utf8) + [10, 0, 0, 0, 0x08, 0, 0, 0]
        for side in [size.width - 1, size.height - 1] {
            body += [UInt8(side & 0xFF), UInt8(side >> 8 & 0xFF), UInt8(side >> 16)]
        }
        body += Array(image)
        body += Array("EXIF".utf8) + [UInt8(exif.count), 0, 0, 0]
        body += exif
        let length = body.count + 4
        var file = Array("RIFF".utf8) + [UInt8(length & 0xFF), UInt8(length >> 8), 0, 0]
        file += Array("WEBP".utf8)
        return file + body
    }

    @Test("the Exif orientation is applied, and kept when metadata is stripped", arguments: UInt8(1)...8)
    func turned(orientation: UInt8) throws {
        let file = try file("lossy", orientation: orientation)
        let stored = try ImageDecoders.standard.decode(Resources.bytes("WebP/lossy.webp"))
        let bitmap = try ImageDecoders.standard.decode(file)
        #expect(bitmap.size == (orientation < 5 ? stored.size : stored.size.transposed))
        #expect(try ImageHeader(parsing: file).size == bitmap.size)
        let first = Array(stored.pixels.prefix(4))
        let corners = [
            0, bitmap.width - 1, (bitmap.height - 1) * bitmap.width, bitmap.height * bitmap.width - 1,
        ]
        let corner = corners[[0, 1, 3, 2, 0, 1, 3, 2][Int(orientation) - 1]] * 4
        #expect(Array(bitmap.pixels[corner..<corner + 4]) == first)
        let small = ImageSize(width: 20, height: 20)
        #expect(
            try ImageDecoders.standard.decode(file, fitting: small)
                == bitmap.resized(to: bitmap.size.fitted(into: small)))
        #expect(try ImageDecoders.standard.decode(ImageMetadata.strip(file)) == bitmap)
    }

    @Test("metadata is stripped, and the pixels stay")
    func stripped() throws {
        let file = try file("lossless", orientation: 1)
        let xmp = Array("XMP \u{6}\0\0\0secret".utf8)
        var secret = file + xmp
        secret[4] = UInt8((secret.count - 8) & 0xFF)
        secret[5] = UInt8((secret.count - 8) >> 8)
        let stripped = try ImageMetadata.strip(secret)
        #expect(
            !stripped.contains(sequence: Array("secret".utf8))
                && !stripped.contains(sequence: Array("EXIF".utf8)))
        #expect(try ImageDecoders.standard.decode(stripped) == ImageDecoders.standard.decode(file))
        #expect(try ImageMetadata.strip(stripped) == stripped)
        try ImageDecoders.standard.checkComplete(stripped)
    }

    @Test(
        "the rows that are there are shown; those that are missing are transparent",
        arguments: ["lossy", "lossless"])
    func rowsSoFar(name: String) throws {
        let file = try Resources.bytes("WebP/\(name).webp")
        let whole = try ImageDecoders.standard.decode(file)
        let part = try ImageDecoders.standard.decode(Array(file.prefix(file.count * 3 / 4)))
        #expect(part.damage != nil && part.size == whole.size)
        #expect(part.pixels.prefix(5 * whole.width * 4) == whole.pixels.prefix(5 * whole.width * 4))
        #expect(part.pixels.suffix(4) == [0, 0, 0, 0])
    }

    @Test("thirty bytes that claim 16,383 pixels a side are refused before anything is allocated")
    func bomb() {
        let lossless = Array("RIFF\u{1A}\0\0\0WEBPVP8L\u{0D}\0\0\0\u{2F}".utf8)
        let file = lossless + [0xFE, 0xBF, 0xFF, 0x0F, 0x00, 0x88, 0x88, 0x08, 0, 0, 0, 0]
        #expect(exceededLimit(file) == .memory)
        let lossy =
            Array("RIFF\u{16}\0\0\0WEBPVP8 \u{0A}\0\0\0".utf8) + [
                0x10, 0, 0, 0x9D, 0x01, 0x2A, 0xFF, 0x3F, 0xFF, 0x3F,
            ]
        #expect(exceededLimit(lossy) == .memory)
    }

    /// The sizes of the codes' tables follow from the code, so an incomplete code is refused first (CVE-2023-4863).
    @Test("a prefix code that is not complete is refused")
    func incompleteCode() {
        // A VP8L of one pixel: no transform, no cache, no tiles, then a code whose length code has two symbols of
        // length 2.
        let bits = "0" + "0" + "0" + "0" + "0000" + "010" + "010" + "000" + "000"
        var bytes: [UInt8] = [0x2F, 0, 0, 0, 0]
        var count = 0
        for bit in bits {
            if count % 8 == 0 { bytes.append(0) }
            if bit == "1" { bytes[bytes.count - 1] |= 1 << UInt8(count % 8) }
            count += 1
        }
        bytes += [0, 0, 0, 0, 0, 0, 0, 0]
        let file =
            Array("RIFF".utf8) + [UInt8(12 + bytes.count), 0, 0, 0] + Array("WEBPVP8L".utf8)
            + [UInt8(bytes.count), 0, 0, 0] + bytes
        #expect(corruptSegment(file)?.contains("WebP code") == true)
    }

    @Test(
        "previews show the rows that have arrived, and the last is the picture",
        arguments: ["lossy", "lossless"])
    func previews(name: String) throws {
        let file = try Resources.bytes("WebP/\(name).webp")
        var previews = ImagePreviews(sizing: nil, limits: .standard)
        var pictures: [Bitmap] = []
        for start in stride(from: 0, to: file.count, by: 200) {
            if let bitmap = try previews.append(Array(file[start..<min(start + 200, file.count)])) {
                pictures.append(bitmap)
            }
        }
        let whole = try ImageDecoders.standard.decode(file)
        #expect(pictures.count > 2 && pictures.last == whole)
        #expect(pictures.dropLast().allSatisfy { $0.damage != nil && $0.size == whole.size })
    }
}

/// Debian's webp: an independent encoder and decoder.
private enum WebPTools {
    static let absence: Comment = "cwebp and dwebp (webp) are not installed"
    static let areInstalled = ["cwebp", "dwebp"].allSatisfy(Shell.has)

    static func file(of bitmap: Bitmap, options: String, in folder: TemporaryFolder) throws -> [UInt8] {
        let (source, file) = (folder.file("a.png"), folder.file("a.webp"))
        try Data(PNGEncoder(colors: .rgba).encode(bitmap)).write(to: URL(filePath: source))
        _ = Shell.output("cwebp -quiet \(options) \(source) -o \(file)")
        return [UInt8](try Data(contentsOf: URL(filePath: file)))
    }

    /// Without the dithering that dwebp adds by itself.
    static func decode(_ file: [UInt8], in folder: TemporaryFolder) throws -> Bitmap {
        let (source, pixels) = (folder.file("b.webp"), folder.file("b.png"))
        try Data(file).write(to: URL(filePath: source))
        _ = Shell.output("dwebp -quiet -nodither \(source) -o \(pixels)")
        return try ImageDecoders.standard.decode([UInt8](try Data(contentsOf: URL(filePath: pixels))))
    }
}
