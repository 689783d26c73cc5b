import Glibc
import TerminalGraphics

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
