import ImageCodecs
import TestTraits
import Testing

@Suite("Resampling", .bounded)
struct ResamplingTests {
    private func picture(_ width: Int, _ height: Int) throws -> Bitmap {
        try #require(TestPicture.bitmap(ppm: TestPicture(width: width, height: height).ppm))
    }

    private func mirrored(_ bitmap: Bitmap) -> Bitmap {
        let pixels = (0..<bitmap.width * bitmap.height).flatMap { place in
            let (x, y) = (place % bitmap.width, place / bitmap.width)
            let start = (y * bitmap.width + bitmap.width - 1 - x) * 4
            return bitmap.pixels[start..<start + 4]
        }
        return Bitmap(width: bitmap.width, height: bitmap.height, pixels: pixels)
    }

    @Test("a uniform picture stays exactly uniform at any size", arguments: [1, 7, 16, 61, 99, 130])
    func flat(side: Int) {
        let source = Bitmap(
            width: 100, height: 37, pixels: Array(repeating: [255, 1, 128, 255], count: 3700).flatMap(\.self))
        let result = source.resampled(to: ImageSize(width: side, height: side))
        // Compared outside the expectation, which would take minutes to describe a difference.
        let isFlat =
            result.pixels == Array(repeating: [255, 1, 128, 255], count: side * side).flatMap(\.self)
        #expect(isFlat)
    }

    @Test("an edge stays sharp, and overshoots by no more than the kernel's lobes")
    func edge() {
        // Half black, half grey, reduced to two thirds.
        let levels = (0..<60).map { $0 < 30 ? UInt8(40) : 200 }
        let source = Bitmap(width: 60, height: 1, pixels: levels.flatMap { [$0, $0, $0, 255] })
        let result = source.resampled(to: ImageSize(width: 40, height: 1))
        let row = stride(from: 0, to: 160, by: 4).map { result.pixels[$0] }
        #expect(
            row[0..<15].allSatisfy { abs(Int($0) - 40) <= 4 }
                && row[25...].allSatisfy { abs(Int($0) - 200) <= 4 })
        #expect(row[18] < 60 && row[21] > 180)
        #expect(row.min().map { $0 >= 20 } == true && row.max().map { $0 <= 220 } == true)
    }

    @Test("a mirrored picture gives the mirrored result: nothing is shifted")
    func symmetric() throws {
        let source = try picture(47, 33)
        for (width, height) in [(31, 22), (20, 33), (7, 5), (60, 50)] {
            let size = ImageSize(width: width, height: height)
            let (largest, _) = try #require(
                mirrored(source).resampled(to: size).difference(to: mirrored(source.resampled(to: size))))
            #expect(largest <= 1)
        }
    }

    @Test("far below its size a picture is about the mean of its areas")
    func small() throws {
        let source = try picture(160, 120)
        let size = ImageSize(width: 10, height: 8)
        let likeness = try #require(
            source.resampled(to: size).peakSignalToNoise(to: source.resized(to: size)))
        #expect(likeness > 20)
    }

    @Test("transparent pixels give no colour to visible ones")
    func translucent() {
        let pixels = (0..<20).flatMap { $0 < 10 ? [200, 100, 0, 255] : [0, 255, 255, 0] as [UInt8] }
        let source = Bitmap(width: 20, height: 1, pixels: pixels)
        let result = source.resampled(to: ImageSize(width: 13, height: 1))
        for index in stride(from: 0, to: result.pixels.count, by: 4) where result.pixels[index + 3] > 30 {
            #expect(
                abs(Int(result.pixels[index]) - 200) <= 2 && abs(Int(result.pixels[index + 1]) - 100) <= 2)
            #expect(result.pixels[index + 2] == 0)
        }
        #expect(result.pixels[3] == 255 && result.pixels.last == 0)
    }

    @Test(
        "a picture of one pixel, or a target of one, is resampled",
        arguments: [(1, 1, 5, 3), (5, 3, 1, 1), (1, 9, 1, 4)])
    func least(width: Int, height: Int, newWidth: Int, newHeight: Int) throws {
        let size = ImageSize(width: newWidth, height: newHeight)
        #expect(try picture(width, height).resampled(to: size).size == size)
        #expect(
            try picture(width, height).resampled(to: ImageSize(width: width, height: height)).width == width)
    }
}
