import ImageCodecs
import TestTraits
import Testing

@Suite("Resizing", .bounded)
struct ResizingTests {
    private func grey(_ width: Int, _ height: Int, _ levels: [UInt8]) -> Bitmap {
        Bitmap(width: width, height: height, pixels: levels.flatMap { [$0, $0, $0, 255] })
    }

    private func levels(_ bitmap: Bitmap) -> [UInt8] {
        stride(from: 0, to: bitmap.pixels.count, by: 4).map { bitmap.pixels[$0] }
    }

    @Test("a pixel is the rounded mean of the area it covers")
    func mean() {
        #expect(levels(grey(2, 2, [10, 20, 30, 41]).resized(to: ImageSize(width: 1, height: 1))) == [25])
        #expect(levels(grey(4, 1, [0, 10, 20, 30]).resized(to: ImageSize(width: 2, height: 1))) == [5, 25])
    }

    @Test("pixels at the border of an area count by the part inside")
    func parts() {
        // Three pixels to two: each covers one and a half.
        #expect(levels(grey(3, 1, [0, 90, 180]).resized(to: ImageSize(width: 2, height: 1))) == [30, 150])
        #expect(levels(grey(1, 3, [0, 90, 180]).resized(to: ImageSize(width: 1, height: 2))) == [30, 150])
    }

    @Test("an enlarged picture repeats its pixels")
    func enlarged() {
        #expect(
            levels(grey(2, 1, [0, 90]).resized(to: ImageSize(width: 4, height: 2))) == [
                0, 0, 90, 90, 0, 0, 90, 90,
            ])
    }

    @Test("a uniform picture stays exactly uniform at any size", arguments: [1, 7, 16, 61, 99])
    func flat(side: Int) {
        let source = Bitmap(
            width: 100, height: 37, pixels: Array(repeating: [255, 1, 128, 255], count: 3700).flatMap(\.self))
        let result = source.resized(to: ImageSize(width: side, height: side))
        #expect(result.pixels == Array(repeating: [255, 1, 128, 255], count: side * side).flatMap(\.self))
    }

    @Test("transparent pixels give no colour to visible ones")
    func translucent() {
        let source = Bitmap(width: 2, height: 1, pixels: [200, 100, 0, 255, 0, 255, 255, 0])
        let result = source.resized(to: ImageSize(width: 1, height: 1))
        #expect(result.pixels == [200, 100, 0, 128])
        let invisible = Bitmap(width: 2, height: 1, pixels: [9, 9, 9, 0, 7, 7, 7, 0])
        #expect(invisible.resized(to: ImageSize(width: 1, height: 1)).pixels == [0, 0, 0, 0])
    }

    @Test(
        "decoding a JPEG to fit gives about the same as decoding and then resizing",
        arguments: ["baseline-420", "progressive-420", "grey"])
    func fitting(name: String) throws {
        let file = try Resources.bytes("JPEG/\(name).jpg")
        let box = ImageSize(width: 10, height: 10)
        let whole = try ImageDecoders.standard.decode(file)
        let small = try ImageDecoders.standard.decode(file, fitting: box)
        let resized = whole.resized(to: whole.size.fitted(into: box))
        #expect(try #require(small.peakSignalToNoise(to: resized)) > 20)
        #expect(try ImageDecoders.standard.decode(file, fitting: ImageSize(width: 99, height: 99)) == whole)
    }

    @Test(
        "a PNG is decoded to fit too, interlaced or not",
        arguments: ["basi6a08", "basn6a08", "tbbn3p08", "basn3p02"])
    func fittingPNG(name: String) throws {
        let file = try Resources.bytes("PngSuite/\(name).png")
        let box = ImageSize(width: 9, height: 5)
        let whole = try ImageDecoders.standard.decode(file)
        let small = try ImageDecoders.standard.decode(file, fitting: box)
        #expect(small == whole.resized(to: ImageSize(width: 5, height: 5)))
    }

    @Test("fitted sizes stay in their box, keep their shape, and never grow or become zero")
    func sizes() {
        func fitted(_ width: Int, _ height: Int, _ box: (Int, Int)) -> ImageSize {
            ImageSize(width: width, height: height).fitted(into: ImageSize(width: box.0, height: box.1))
        }
        #expect(fitted(500, 750, (100, 100)) == ImageSize(width: 67, height: 100))
        #expect(fitted(500, 750, (100, 1000)) == ImageSize(width: 100, height: 150))
        #expect(fitted(500, 750, (500, 750)) == ImageSize(width: 500, height: 750))
        #expect(fitted(50, 75, (500, 750)) == ImageSize(width: 50, height: 75))
        #expect(fitted(10_000, 1, (10, 10)) == ImageSize(width: 10, height: 1))
        #expect(fitted(10, 10, (0, 5)) == ImageSize(width: 1, height: 1))
    }
}
