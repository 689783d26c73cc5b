import FoundationEssentials
import ImageCodecs
import TestSupport
import TestTraits
import Testing

/// Processors against Pillow, which makes a Gaussian of the same boxes.
@Suite(
    "Processors against Pillow", .bounded,
    .enabled(if: Pillow.isInstalled, "Pillow (python3-pil) is not installed"))
struct PillowTests {
    private static let picture = TestPicture.bitmap(ppm: TestPicture(width: 61, height: 47).ppm)

    /// With a hole and a half transparent part.
    private static var translucent: Bitmap? {
        picture.map { picture in
            var pixels = picture.pixels
            for index in stride(from: 3, to: pixels.count, by: 4) where index / 244 > 20 {
                pixels[index] = index % 61 < 20 ? 0 : 120
            }
            return Bitmap(width: picture.width, height: picture.height, pixels: pixels)
        }
    }

    @Test(
        "the pixels are Pillow's, within two levels",
        arguments: [
            (.gaussianBlur(radius: 0.6), "image.filter(ImageFilter.GaussianBlur(0.6))"),
            (.gaussianBlur(radius: 2), "image.filter(ImageFilter.GaussianBlur(2))"),
            (.gaussianBlur(radius: 8), "image.filter(ImageFilter.GaussianBlur(8))"),
            (.gaussianBlur(radius: 40), "image.filter(ImageFilter.GaussianBlur(40))"),
            (.flip(.horizontal), "image.transpose(Image.Transpose.FLIP_LEFT_RIGHT)"),
            (.flip(.vertical), "image.transpose(Image.Transpose.FLIP_TOP_BOTTOM)"),
            (.rotate(90), "image.transpose(Image.Transpose.ROTATE_270)"),
            (.rotate(180), "image.transpose(Image.Transpose.ROTATE_180)"),
            (.rotate(270), "image.transpose(Image.Transpose.ROTATE_90)"),
            (.crop(ImageRect(x: 11, y: 5, width: 20, height: 30)), "image.crop((11, 5, 31, 35))"),
            (.padding(ImageInsets(3), background: .white), "ImageOps.expand(image, 3, (255, 255, 255, 255))"),
            (
                .border(ImageColor(red: 9, green: 8, blue: 7), width: 4),
                "ImageOps.expand(image.crop((4, 4, 57, 43)), 4, (9, 8, 7, 255))"
            ),
        ] as [(ImageProcessor, String)])
    func pixels(_ processor: ImageProcessor, _ expression: String) throws {
        for picture in [try #require(Self.picture), try #require(Self.translucent)] {
            let ours = try picture.processed(by: [processor])
            let theirs = try Pillow.image(of: picture, expression)
            #expect(ours.size == theirs.size)
            // Pillow blurs channels that are not premultiplied.
            let comparesColors = picture.isOpaque || !processor.identifier.hasPrefix("blur")
            var difference = 0
            for index in ours.pixels.indices where comparesColors || index % 4 == 3 {
                // The color of an invisible pixel does not matter, and that of a faint one little.
                let shown = { (image: Bitmap) in
                    index % 4 == 3
                        ? Int(image.pixels[index])
                        : Int(image.pixels[index]) * Int(image.pixels[index | 3]) / 255
                }
                difference = max(difference, abs(shown(ours) - shown(theirs)))
            }
            #expect(difference <= 2)
        }
    }
}

extension PillowTests {
    @Test("a smooth picture is resized to Pillow's pixels, within two levels")
    func resizing() throws {
        // Pillow clips what overshoots at sharp edges between its passes.
        let smooth = try #require(Self.picture).processed(by: [.gaussianBlur(radius: 2)])
        let ours = try smooth.processed(by: [.resize(size: ImageSize(width: 31, height: 47))])
        let theirs = try Pillow.image(of: smooth, "image.resize((31, 24), Image.Resampling.LANCZOS)")
        #expect(ours.size == theirs.size)
        let difference = zip(ours.pixels, theirs.pixels).map { abs(Int($0) - Int($1)) }.max() ?? 0
        #expect(difference <= 2)
    }
}

/// Runs expressions of Python's imaging library.
enum Pillow {
    /// Debian's Python: another one does not find Debian's library.
    private static let python = "/usr/bin/python3"

    static let isInstalled = Shell.output("\(python) -c 'import PIL; print(1)' 2>/dev/null") == "1\n"

    /// The value of an expression about `image`.
    static func image(of bitmap: Bitmap, _ expression: String) throws -> Bitmap {
        let folder = try TemporaryFolder()
        try Data(bitmap.pixels).write(to: URL(filePath: folder.file("pixels")))
        let script = """
            from PIL import Image, ImageFilter, ImageOps
            image = Image.frombytes('RGBA', (\(bitmap.width), \(bitmap.height)), open('pixels', 'rb').read())
            result = \(expression)
            open('result', 'wb').write(result.tobytes())
            print(result.width, result.height)
            """
        try Data(script.utf8).write(to: URL(filePath: folder.file("script")))
        let sides = Shell.output("cd '\(folder.path)' && \(python) script").split { $0.isWhitespace }
            .compactMap { Int($0) }
        try #require(sides.count == 2)
        let pixels = [UInt8](try Data(contentsOf: URL(filePath: folder.file("result"))))
        return Bitmap(width: sides[0], height: sides[1], pixels: pixels)
    }
}
