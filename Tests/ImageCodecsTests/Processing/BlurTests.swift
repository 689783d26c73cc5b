import Glibc
import ImageCodecs
import TestTraits
import Testing

@Suite("Blur", .bounded)
struct BlurTests {
    /// A true Gaussian of a row of levels, whose ends continue outside.
    private func gaussian(_ levels: [Double], _ deviation: Double) -> [Double] {
        let reach = Int((deviation * 4).rounded(.up))
        let weights = (-reach...reach).map { exp(-Double($0 * $0) / (2 * deviation * deviation)) }
        let total = weights.reduce(0, +)
        return levels.indices.map { place in
            zip(-reach...reach, weights).reduce(0) { sum, tap in
                sum + levels[min(max(place + tap.0, 0), levels.count - 1)] * tap.1 / total
            }
        }
    }

    /// An image whose rows are all equal, or whose columns are.
    private func bitmap(_ levels: [UInt8], across: Bool, lines: Int) -> Bitmap {
        let (width, height) = across ? (levels.count, lines) : (lines, levels.count)
        var pixels: [UInt8] = []
        for y in 0..<height {
            for x in 0..<width {
                let level = levels[across ? x : y]
                pixels += [level, 255 - level, level / 2, 255]
            }
        }
        return Bitmap(width: width, height: height, pixels: pixels)
    }

    @Test(
        "from a radius of 1 on the blur is within 4 levels of a Gaussian, along rows and columns",
        arguments: [1, 2.5, 8, 20], [true, false])
    func isGaussian(deviation: Double, across: Bool) throws {
        // Even ends: what continues outside them is the same in each pass.
        let end = Int(deviation) * 5
        let levels =
            [UInt8](repeating: 0, count: 20 + end)
            + (0..<40).map { $0 < 20 ? 255 : UInt8($0 * 4) } + [UInt8](repeating: 160, count: end)
        // Five lines: a group of four and a rest.
        let blurred = try bitmap(levels, across: across, lines: 5).processed(by: [.blur(radius: deviation)])
        let expected = gaussian(levels.map(Double.init), deviation)
        for line in 0..<5 {
            for place in levels.indices {
                let index = (across ? line * levels.count + place : place * 5 + line) * 4
                #expect(abs(Double(blurred.pixels[index]) - expected[place]) <= 4, "\(place)")
                #expect(abs(255 - Double(blurred.pixels[index + 1]) - expected[place]) <= 4)
                #expect(blurred.pixels[index + 3] == 255)
            }
        }
    }

    @Test("an image of one color stays as it is, whatever the radius", arguments: [0.0, 0.3, 3, 500, 10_000])
    func uniform(radius: Double) throws {
        for (width, height) in [(1, 1), (1, 6), (6, 1), (6, 7)] {
            let pixels = (0..<width * height).flatMap { _ in [10, 200, 255, 255] as [UInt8] }
            let image = Bitmap(width: width, height: height, pixels: pixels)
            #expect(try image.processed(by: [.blur(radius: radius)]) == image)
        }
    }

    @Test("invisible pixels lend no color to their neighbors")
    func alpha() throws {
        var pixels: [UInt8] = []
        for x in 0..<16 { pixels += x < 8 ? [200, 100, 50, 255] : [0, 255, 0, 0] }
        let blurred = try Bitmap(width: 16, height: 1, pixels: pixels).processed(by: [.blur(radius: 2)])
        for x in 0..<16 where blurred.pixels[x * 4 + 3] > 8 {
            #expect(
                abs(Int(blurred.pixels[x * 4]) - 200) <= 1 && abs(Int(blurred.pixels[x * 4 + 1]) - 100) <= 1)
        }
    }
}
