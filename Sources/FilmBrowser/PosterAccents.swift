import SystemSupport
package import ImageCodecs
package import LazyImages
package import TerminalGraphics

/// The most colourful hue of each poster, at a luminance that is legible on the terminal's background. With 16
/// colours it is one of the six that are not grey, since the person has chosen legible ones. Each image is analysed
/// once.
package struct PosterAccents {
    /// The contrast to black is 5.4, and to white 3.9 (WCAG 2.2).
    private static let luminance = 0.22
    /// The same where the background is known to be light: the contrast to white is 6.
    private static let luminanceOnLight = 0.125
    /// The number of posters that are remembered.
    private static let kept = 1024
    /// The approximate number of pixels that are sampled.
    private static let samples = 1024
    /// The number of different hues.
    private static let hues = 24
    /// The highest mean chroma of a grey picture, 0 to 255.
    private static let greyest = 6.0

    /// Red, yellow, green, cyan, blue, magenta in the palette of 16: the hues of the wheel, 60 degrees apart.
    private static let basic: [UInt8] = [1, 3, 2, 6, 4, 5]

    /// What an image's analysis has found; nil for a grey image.
    private final class Hue: Sendable {
        let colour: SIMD3<Double>?

        init(_ colour: SIMD3<Double>?) { self.colour = colour }
    }

    private let known = MemoryCache<Hue>(limit: PosterAccents.kept)

    package init() {}

    /// An image's accent; nil for a grey one.
    package func accent(
        of bitmap: Bitmap, key: CacheKey, depth: ColourDepth, isOnLight: Bool = false
    ) -> CellColour? {
        guard let colour = hue(of: bitmap, key).colour else { return nil }
        guard depth == .ansi16 else {
            let luminance = isOnLight ? Self.luminanceOnLight : Self.luminance
            return LinearColour(colour).with(luminance: luminance).cell
        }
        let sector = Self.hue(of: colour, of: Self.basic.count)
        return .palette(Self.basic[sector])
    }

    private func hue(of bitmap: Bitmap, _ key: CacheKey) -> Hue {
        if let hue = known.value(for: key) { return hue }
        let hue = Hue(Self.mostColourful(of: bitmap))
        known.store(hue, for: key, cost: 1)
        return hue
    }

    /// The mean colour of the hue with the most chroma, 0 to 255 a channel; nil if the chroma is too low.
    private static func mostColourful(of bitmap: Bitmap) -> SIMD3<Double>? {
        let count = bitmap.width * bitmap.height
        let step = max(1, count / samples) | 1
        var (chroma, sums) = (
            [Double](repeating: 0, count: hues), [SIMD3<Double>](repeating: .zero, count: hues)
        )
        var looked = 0.0
        for pixel in stride(from: 0, to: count, by: step) {
            let colour = SIMD3(
                Double(bitmap.pixels[pixel * 4]), Double(bitmap.pixels[pixel * 4 + 1]),
                Double(bitmap.pixels[pixel * 4 + 2]))
            looked += 1
            let weight = colour.max() - colour.min()
            guard weight > 0 else { continue }
            let bin = hue(of: colour, of: hues)
            chroma[bin] += weight
            sums[bin] += colour * weight
        }
        guard let best = chroma.indices.max(by: { chroma[$0] < chroma[$1] }),
            chroma.reduce(0, +) > greyest * looked
        else { return nil }
        return sums[best] / chroma[best]
    }

    /// The number of a colour's hue, below `count`; 0 for grey.
    private static func hue(of colour: SIMD3<Double>, of count: Int) -> Int {
        let chroma = colour.max() - colour.min()
        guard chroma > 0 else { return 0 }
        let sector =
            if colour.x == colour.max() {
                (colour.y - colour.z) / chroma
            } else if colour.y == colour.max() {
                2 + (colour.z - colour.x) / chroma
            } else {
                4 + (colour.x - colour.y) / chroma
            }
        return (Int((sector / 6 * Double(count)).rounded()) + count) % count
    }
}

/// A colour in linear light: red, green and blue, 0 to 1. Colours of the same luminance are equally legible on a
/// background, whatever their hue (WCAG 2.2, relative luminance).
struct LinearColour: Equatable {
    /// The weights of the channels in the luminance.
    private static let weights = SIMD3(0.2126, 0.7152, 0.0722)

    let light: SIMD3<Double>

    private init(light: SIMD3<Double>) { self.light = light }

    /// A colour of sRGB channels, 0 to 255.
    init(_ channels: SIMD3<Double>) {
        func light(_ value: Double) -> Double {
            value <= 0.040_45 ? value / 12.92 : pow((value + 0.055) / 1.055, 2.4)
        }
        self.light = SIMD3(light(channels.x / 255), light(channels.y / 255), light(channels.z / 255))
    }

    /// A colour of the colour wheel.
    /// - Parameters:
    ///   - hue: in degrees; red is 0, green 120, blue 240.
    ///   - saturation: 0 for grey, 1 for the wheel's edge.
    init(hue: Double, saturation: Double) {
        func channel(_ offset: Double) -> Double {
            // Hue to RGB at full value: https://en.wikipedia.org/wiki/HSL_and_HSV#HSV_to_RGB_alternative
            let k = (offset + hue / 60).truncatingRemainder(dividingBy: 6)
            return 1 - saturation * max(0, min(k, 4 - k, 1))
        }
        self.init(SIMD3(channel(5), channel(3), channel(1)) * 255)
    }

    /// 0 for black to 1 for white.
    var luminance: Double { (light * Self.weights).sum() }

    /// The same hue with another luminance. A colour too bright for a screen loses saturation.
    func with(luminance target: Double) -> LinearColour {
        let grey = SIMD3(repeating: target)
        guard luminance > 0 else { return LinearColour(light: grey) }
        let scaled = light * (target / luminance)
        guard scaled.max() > 1 else { return LinearColour(light: scaled) }
        return LinearColour(light: grey + (scaled - grey) * ((1 - target) / (scaled.max() - target)))
    }

    /// The colour for cells.
    var cell: CellColour {
        func channel(_ value: Double) -> UInt8 {
            let encoded = value <= 0.003_130_8 ? value * 12.92 : 1.055 * pow(value, 1 / 2.4) - 0.055
            return UInt8((max(0, min(1, encoded)) * 255).rounded())
        }
        return .rgb(channel(light.x), channel(light.y), channel(light.z))
    }
}
