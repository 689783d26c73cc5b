import ImageCodecs
import TestTraits
import Testing

@Suite("ImageProcessor", .bounded)
struct ImageProcessorTests {
    private let image = bitmap(width: 7, height: 5)

    /// Each pixel has its column, its row and their sum.
    private static func bitmap(width: Int, height: Int) -> Bitmap {
        var pixels: [UInt8] = []
        for y in 0..<height {
            for x in 0..<width { pixels += [UInt8(x), UInt8(y), UInt8(x + y), 255] }
        }
        return Bitmap(width: width, height: height, pixels: pixels)
    }

    private func pixel(_ image: Bitmap, _ x: Int, _ y: Int) -> [UInt8] {
        Array(image.pixels[(y * image.width + x) * 4..<(y * image.width + x + 1) * 4])
    }

    private func processed(_ processors: any ImageProcessing...) throws -> Bitmap {
        try image.processed(by: processors)
    }

    @Test("the parts of an image go where the step says")
    func places() throws {
        #expect(try pixel(processed(.flip(.horizontal)), 0, 0) == [6, 0, 6, 255])
        #expect(try pixel(processed(.flip(.vertical)), 0, 0) == [0, 4, 4, 255])
        let right = try processed(.rotate(90))
        #expect(right.size == ImageSize(width: 5, height: 7) && pixel(right, 4, 0) == [0, 0, 0, 255])
        #expect(try pixel(processed(.rotate(270)), 0, 6) == [0, 0, 0, 255])
        #expect(try pixel(processed(.rotate(180)), 0, 0) == [6, 4, 10, 255])
        let part = try processed(.crop(ImageRect(x: 2, y: 1, width: 3, height: 2)))
        #expect(part.size == ImageSize(width: 3, height: 2) && pixel(part, 0, 0) == [2, 1, 3, 255])
        let padded = try processed(
            .padding(ImageInsets(top: 1, left: 2, bottom: 3, right: 4), background: .white))
        #expect(padded.size == ImageSize(width: 13, height: 9))
        #expect(pixel(padded, 1, 1) == [255, 255, 255, 255] && pixel(padded, 2, 1) == [0, 0, 0, 255])
        #expect(pixel(padded, 8, 5) == [6, 4, 10, 255] && pixel(padded, 9, 5) == [255, 255, 255, 255])
        #expect(try pixel(processed(.padding(ImageInsets(1))), 0, 0) == [0, 0, 0, 0])
    }

    @Test("steps run in their order")
    func order() throws {
        let crop = ImageProcessor.crop(ImageRect(x: 0, y: 0, width: 1, height: 1))
        #expect(try pixel(processed(.flip(.horizontal), crop), 0, 0) == [6, 0, 6, 255])
        #expect(try pixel(processed(crop, .flip(.horizontal)), 0, 0) == [0, 0, 0, 255])
        #expect(try processed() == image)
    }

    @Test("a part to crop to is what lies inside the image, and outside it is an error")
    func crop() throws {
        let around = try processed(.crop(ImageRect(x: -3, y: -4, width: .max, height: .max)))
        #expect(around == image)
        for rect in [
            ImageRect(x: 7, y: 0, width: 1, height: 1), ImageRect(x: 0, y: -9, width: 5, height: 9),
            ImageRect(x: .max, y: .max, width: .max, height: .max),
            ImageRect(x: .min, y: .min, width: 5, height: 5),
        ] {
            #expect(
                throws: ImageProcessingError.unsuitable(
                    processor: "crop \(rect)", reason: "an image of 7 x 5 has no such part")
            ) { try processed(.crop(rect)) }
        }
    }

    @Test(
        "a parameter that no image can have is an error before any step",
        arguments: [
            .resize(size: ImageSize(width: 0, height: 5)), .resize(width: -1), .resize(height: .min),
            .crop(ImageRect(x: 0, y: 0, width: 0, height: 1)), .roundedCorners(radius: -1),
            .roundedCorners(radius: .nan), .border(.black, width: -1),
            .border(.black, width: 1, cornerRadius: .nan), .gaussianBlur(radius: -0.1),
            .gaussianBlur(radius: .nan),
            .gaussianBlur(radius: .infinity), .gaussianBlur(radius: 10_001), .padding(ImageInsets(-1)),
            .padding(ImageInsets(left: .max)),
        ] as [ImageProcessor])
    func parameters(_ processor: ImageProcessor) {
        let never = ImageProcessor("never") { image in
            Issue.record("a step ran")
            return image
        }
        #expect {
            try image.processed(by: [never, processor])
        } throws: { error in
            guard case .invalidParameter(processor.identifier, _) = error as? ImageProcessingError else {
                return false
            }
            return "\(error)".hasPrefix(processor.identifier + ": ")
        }
    }

    @Test("hostile numbers that an image can have give an image")
    func hostile() throws {
        for processor in [
            .roundedCorners(radius: .infinity), .roundedCorners(radius: 1e300), .roundedCorners(radius: 0),
            .border(.black, width: .max), .border(.black, width: 0), .border(.clear, width: 2),
            .border(.black, width: 3, cornerRadius: .infinity), .gaussianBlur(radius: 10_000),
            .gaussianBlur(radius: 1e-9),
            .resize(size: ImageSize(width: .max, height: .max)), .resize(width: 1), .circle(),
        ] as [ImageProcessor] {
            for size in [(1, 1), (1, 9), (9, 1), (7, 5)] {
                let image = Self.bitmap(width: size.0, height: size.1)
                let result = try image.processed(by: [processor])
                #expect(result.width <= image.width && result.height <= image.height)
            }
        }
    }

    @Test("a result beyond the limits is an error")
    func limits() throws {
        let limits = DecodingLimits(side: 20)
        #expect(throws: Never.self) {
            try image.processed(by: [.padding(ImageInsets(left: 13))], limits: limits)
        }
        #expect(
            throws: ImageProcessingError.tooLarge(
                processor: "padding 0,14,0,0 00000000", size: ImageSize(width: 21, height: 5))
        ) { try image.processed(by: [.padding(ImageInsets(left: 14))], limits: limits) }
    }

    @Test("grayscale takes the luma of Rec. 709, a tint covers by its alpha, and alpha stays")
    func colors() throws {
        let image = Bitmap(width: 2, height: 1, pixels: [200, 100, 50, 255, 10, 20, 30, 40])
        let grey = try image.processed(by: [.grayscale])
        #expect(grey.pixels == [118, 118, 118, 255, 19, 19, 19, 40])
        let half = ImageColor(red: 0, green: 200, blue: 255, alpha: 128)
        #expect(try image.processed(by: [.tint(half)]).pixels == [100, 150, 153, 255, 5, 110, 143, 40])
        #expect(try image.processed(by: [.tint(.white)]).pixels == [255, 255, 255, 255, 255, 255, 255, 40])
    }

    @Test("an overlay lies over the image at its anchor, and what does not fit is cut off")
    func overlay() throws {
        let image = Bitmap(width: 3, height: 1, pixels: [9, 9, 9, 255, 9, 9, 9, 255, 0, 0, 0, 0])
        let badge = Bitmap(width: 1, height: 1, pixels: [200, 100, 0, 128])
        func reds(_ processor: ImageProcessor) throws -> [UInt8] {
            let pixels = try image.processed(by: [processor]).pixels
            return stride(from: 0, to: pixels.count, by: 4).map { pixels[$0] }
        }
        #expect(try reds(.overlay(badge)) == [9, 105, 0])
        #expect(try reds(.overlay(badge, at: .left)) == [105, 9, 0])
        let right = try image.processed(by: [.overlay(badge, at: .right)]).pixels
        #expect(right.suffix(4) == [200, 100, 0, 128])
        let wide = Bitmap(width: 5, height: 3, pixels: (0..<15).flatMap { [UInt8($0), 0, 0, 255] })
        #expect(try reds(.overlay(wide)) == [6, 7, 8])
        #expect(ImageProcessor.overlay(badge) != .overlay(wide))
    }

    @Test("a program's own processor and a closure are steps, and their errors are named")
    func custom() throws {
        struct Invert: ImageProcessing {
            let identifier = "invert 1"
            func process(_ image: Bitmap) -> Bitmap {
                Bitmap(
                    width: image.width, height: image.height,
                    pixels: image.pixels.enumerated().map { $0 % 4 == 3 ? $1 : 255 - $1 })
            }
        }
        #expect(try pixel(processed(Invert()), 1, 0) == [254, 255, 254, 255])
        let same = ImageProcessor("invert 1") { $0 }
        #expect(same == ImageProcessor(Invert()) && same.identifier == "custom invert 1")
        #expect(ImageProcessor("circle") { $0 } != .circle())
        struct Fault: Error {}
        #expect(throws: ImageProcessingError.failed(processor: "custom broken", reason: "Fault()")) {
            try processed(ImageProcessor("broken") { _ in throw Fault() })
        }
    }

    @Test("steps with different parameters have different identifiers")
    func identifiers() {
        let size = ImageSize(width: 3, height: 4)
        let steps: [ImageProcessor] = [
            .resize(size: size), .resize(size: size, contentMode: .fill),
            .resize(size: size, contentMode: .fill(.top)),
            .resize(width: 3), .resize(height: 3), .crop(ImageRect(x: 1, y: 2, width: 3, height: 4)),
            .crop(ImageRect(x: 2, y: 1, width: 3, height: 4)), .roundedCorners(radius: 1),
            .roundedCorners(radius: 1.5), .circle(), .border(.black, width: 1), .border(.white, width: 1),
            .border(.black, width: 2), .border(.black, width: 1, cornerRadius: 1), .gaussianBlur(radius: 1),
            .gaussianBlur(radius: 1.25), .flip(.horizontal), .flip(.vertical), .rotate(270), .rotate(90),
            .rotate(180), .padding(ImageInsets(1)), .padding(ImageInsets(top: 1)),
            .padding(ImageInsets(1), background: .black),
        ]
        #expect(
            Set(steps).count == steps.count && steps[5] == .crop(ImageRect(x: 1, y: 2, width: 3, height: 4)))
    }

    @Test("a border follows the round corners inside and outside, and keeps the image below it")
    func border() throws {
        let image = Bitmap(
            width: 20, height: 20, pixels: [UInt8](repeating: 255, count: 1600))
        let red = ImageColor(red: 255, green: 0, blue: 0)
        let square = try image.processed(by: [.border(red, width: 2)])
        #expect(pixel(square, 0, 0) == [255, 0, 0, 255] && pixel(square, 1, 10) == [255, 0, 0, 255])
        #expect(pixel(square, 2, 2) == [255, 255, 255, 255])
        let round = try image.processed(
            by: [.circle(), .border(red, width: 2, cornerRadius: .infinity)])
        #expect(pixel(round, 0, 0) == [0, 0, 0, 0] && pixel(round, 10, 1) == [255, 0, 0, 255])
        #expect(pixel(round, 10, 3) == [255, 255, 255, 255] && pixel(round, 4, 4)[1] < 255)
        let half = try image.processed(
            by: [.border(ImageColor(red: 255, green: 0, blue: 0, alpha: 128), width: 1)])
        #expect(pixel(half, 0, 5) == [255, 127, 127, 255])
    }
}
