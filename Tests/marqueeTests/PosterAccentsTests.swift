import ImageCodecs
import LazyImages
import TerminalGraphics
import TestTraits
import Testing

@testable import FilmBrowser

@Suite("A poster's accent colour", .bounded)
struct PosterAccentsTests {
    /// A picture with this number of pixels of each colour.
    private func picture(_ colours: [(SIMD3<UInt8>, count: Int)]) -> Bitmap {
        let pixels = colours.flatMap { colour, count in
            Array(repeating: [colour.x, colour.y, colour.z, UInt8(255)], count: count).flatMap(\.self)
        }
        return Bitmap(width: pixels.count / 4, height: 1, pixels: pixels)
    }

    private func accent(of bitmap: Bitmap, _ depth: ColourDepth = .trueColour) throws -> CellColour? {
        let accents = PosterAccents()
        return accents.accent(of: bitmap, key: ImageRequest("https://example.org/a").key, depth: depth)
    }

    @Test("the most colourful hue counts, not the most frequent colour, and a grey poster has none")
    func hue() throws {
        let night: SIMD3<UInt8> = [20, 22, 30]
        let poster = picture([(night, 900), ([240, 30, 20], 80), ([20, 30, 240], 20)])
        let channels = try #require(try accent(of: poster)?.channels)
        #expect(channels.x > 2 * channels.y && channels.x > 2 * channels.z)
        #expect(try accent(of: picture([([90, 90, 90], 500), ([240, 240, 240], 500)])) == nil)
    }

    @Test(
        "the accent is legible on black and on white, whatever the poster's shade",
        arguments: [[255, 240, 60], [30, 20, 90], [250, 200, 210], [10, 60, 10]] as [SIMD3<UInt8>])
    func legible(colour: SIMD3<UInt8>) throws {
        let channels = try #require(try accent(of: picture([(colour, 1000)]))?.channels)
        let luminance = LinearColour(SIMD3(Double(channels.x), Double(channels.y), Double(channels.z)))
            .luminance
        // WCAG 2.2, contrast ratio.
        #expect((luminance + 0.05) / 0.05 > 4.5 && 1.05 / (luminance + 0.05) > 3)
    }

    @Test(
        "in 16 colours the accent is one of the terminal's palette",
        arguments: [
            ([200, 30, 20], 1), ([220, 200, 40], 3), ([40, 160, 60], 2), ([30, 150, 160], 6),
            ([30, 50, 180], 4), ([160, 40, 170], 5),
        ] as [(SIMD3<UInt8>, UInt8)])
    func basic(colour: SIMD3<UInt8>, number: UInt8) throws {
        #expect(try accent(of: picture([(colour, 100)]), .ansi16) == .palette(number))
    }

    @Test("an image is analysed once")
    func once() throws {
        let accents = PosterAccents()
        let key = ImageRequest("https://example.org/a").key
        let red = accents.accent(of: picture([([200, 0, 0], 10)]), key: key, depth: .trueColour)
        #expect(accents.accent(of: picture([([0, 0, 200], 10)]), key: key, depth: .trueColour) == red)
    }
}
