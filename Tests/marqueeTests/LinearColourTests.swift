import TestTraits
import Testing

@testable import FilmBrowser

@Suite("Colours as light", .bounded)
struct LinearColourTests {
    @Test("black, white and the primaries have the luminances of WCAG 2.2")
    func luminance() {
        func luminance(_ channels: SIMD3<Double>) -> Double { LinearColour(channels).luminance }
        #expect(luminance([0, 0, 0]) == 0 && abs(luminance([255, 255, 255]) - 1) < 1e-9)
        #expect(abs(luminance([255, 0, 0]) - 0.2126) < 1e-9)
        // 128 of 255 is a fifth of the light.
        #expect(abs(luminance([128, 128, 128]) - 0.2159) < 1e-4)
    }

    @Test(
        "another luminance keeps the hue, also where the hue cannot be that bright",
        arguments: [0.0, 60, 120, 200, 240, 300], [0.01, 0.2, 0.8])
    func withLuminance(hue: Double, target: Double) throws {
        let colour = LinearColour(hue: hue, saturation: 1).with(luminance: target)
        #expect(abs(colour.luminance - target) < 1e-9)
        #expect(colour.light.max() <= 1 + 1e-9 && colour.light.min() >= 0)
        let pure = LinearColour(hue: hue, saturation: 1).light
        for channel in 0..<3 where pure[channel] == pure.max() {
            #expect(abs(colour.light[channel] - colour.light.max()) < 1e-9)
        }
    }

    @Test("a colour for cells has its original channels")
    func cell() {
        #expect(LinearColour([200, 55, 45]).cell == .rgb(200, 55, 45))
        #expect(LinearColour(hue: 120, saturation: 1).cell == .rgb(0, 255, 0))
        #expect(LinearColour(hue: 10, saturation: 0).cell == .rgb(255, 255, 255))
        #expect(LinearColour([0, 0, 0]).with(luminance: 1).cell == .rgb(255, 255, 255))
    }
}
