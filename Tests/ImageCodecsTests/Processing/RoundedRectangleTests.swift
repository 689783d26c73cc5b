import ImageCodecs
import TestTraits
import Testing

@Suite("Round corners", .bounded)
struct RoundedRectangleTests {
    private func alpha(_ width: Int, _ height: Int, radius: Double) throws -> [[Int]] {
        let image = Bitmap(
            width: width, height: height, pixels: [UInt8](repeating: 255, count: width * height * 4))
        let round = try image.processed(by: [.roundedCorners(radius: radius)])
        return (0..<height).map { y in (0..<width).map { x in Int(round.pixels[(y * width + x) * 4 + 3]) } }
    }

    /// How much of a pixel lies in the rectangle: a count of points, a 24th of a pixel apart.
    private func counted(_ x: Int, _ y: Int, _ width: Int, _ height: Int, _ radius: Double) -> Double {
        let steps = 24
        let radius = min(radius, Double(min(width, height)) / 2)
        var inside = 0
        for a in 0..<steps {
            for b in 0..<steps {
                let u = Double(x) + (Double(a) + 0.5) / Double(steps)
                let v = Double(y) + (Double(b) + 0.5) / Double(steps)
                let dx = max(radius - u, u - Double(width) + radius, 0)
                let dy = max(radius - v, v - Double(height) + radius, 0)
                if dx * dx + dy * dy <= radius * radius { inside += 1 }
            }
        }
        return Double(inside * 255) / Double(steps * steps)
    }

    @Test(
        "alpha is the part of the pixel that lies inside",
        arguments: [
            (9, 9, 4.0), (10, 8, 3.5), (12, 5, 100.0), (7, 7, .infinity), (8, 8, .infinity), (6, 6, 0.5),
            (16, 12, 5.25), (5, 5, 0.0),
        ])
    func coverage(_ width: Int, _ height: Int, _ radius: Double) throws {
        let found = try alpha(width, height, radius: radius)
        for y in 0..<height {
            for x in 0..<width {
                let expected = counted(x, y, width, height, radius)
                #expect(abs(Double(found[y][x]) - expected) <= 2, "\(x), \(y)")
            }
        }
    }

    @Test("the whole area is that of a rectangle with four quarter circles, and it is symmetric")
    func area() throws {
        let (width, height, radius) = (60, 40, 17.0)
        let found = try alpha(width, height, radius: radius)
        let area = Double(found.joined().reduce(0, +)) / 255
        #expect(abs(area - (Double(width * height) - (4 - Double.pi) * radius * radius)) < 0.5)
        #expect(found == found.reversed() && found == found.map { $0.reversed() })
    }

    @Test("alpha that was there before is multiplied, and an invisible pixel has no color")
    func translucent() throws {
        let image = Bitmap(width: 8, height: 8, pixels: [UInt8](repeating: 100, count: 256))
        let round = try image.processed(by: [.circle()])
        #expect(round.pixels[..<4] == [0, 0, 0, 0])
        let centre = (4 * 8 + 4) * 4
        #expect(round.pixels[centre..<centre + 4] == [100, 100, 100, 100])
    }
}
