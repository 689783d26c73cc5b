import ImageCodecs
import TestTraits
import Testing

@Suite("Blur", .bounded)
struct BlurTests {
    @Test("an image of one color stays as it is, whatever the radius", arguments: [0.0, 0.3, 3, 500, 10_000])
    func uniform(radius: Double) throws {
        for (width, height) in [(1, 1), (1, 6), (6, 1), (6, 7)] {
            let pixels = (0..<width * height).flatMap { _ in [10, 200, 255, 255] as [UInt8] }
            let image = Bitmap(width: width, height: height, pixels: pixels)
            #expect(try image.processed(by: [.gaussianBlur(radius: radius)]) == image)
        }
    }

    @Test("invisible pixels lend no color to their neighbors")
    func alpha() throws {
        var pixels: [UInt8] = []
        for x in 0..<16 { pixels += x < 8 ? [200, 100, 50, 255] : [0, 255, 0, 0] }
        let blurred = try Bitmap(width: 16, height: 1, pixels: pixels).processed(by: [
            .gaussianBlur(radius: 2)
        ])
        for x in 0..<16 where blurred.pixels[x * 4 + 3] > 8 {
            #expect(
                abs(Int(blurred.pixels[x * 4]) - 200) <= 1 && abs(Int(blurred.pixels[x * 4 + 1]) - 100) <= 1)
        }
    }
}
