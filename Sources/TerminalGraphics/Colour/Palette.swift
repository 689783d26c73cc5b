import Glibc

/// The nearest colours of a terminal's palette.
///
/// Measured on the sample posters at 40 x 30 cells: the squared distance in OKLab, hue counting a little more
/// than lightness, with a little of that in sRGB. Where hue counts less, neighbours of nearly the same colour
/// get entries of different hues three times as often, which are seen as blotches: a grey skin in green and
/// pink. Error diffusion and ordered dithering cost more structure than they gained, and were left out.
///
/// Keeps what it has found, for colours rounded to 5 bits a channel. A value for one drawing or one
/// encoder; not to be shared between threads while it is used.
struct Palette {
    /// The share of sRGB in the distance; in both spaces the range is about 0 to 1.
    private static let plainShare: Float = 0.06

    /// What OKLab's three axes count for: lightness, green to red, blue to yellow.
    private static let axes: SIMD3<Float> = [1, 1.1, 1.1]

    /// xterm's shades of the 16 colours that users choose themselves.
    private static let basic: [SIMD3<Float>] = [
        [0, 0, 0], [205, 0, 0], [0, 205, 0], [205, 205, 0], [0, 0, 238], [205, 0, 205], [0, 205, 205],
        [229, 229, 229], [127, 127, 127], [255, 0, 0], [0, 255, 0], [255, 255, 0], [92, 92, 255],
        [255, 0, 255], [0, 255, 255], [255, 255, 255],
    ]

    private struct Entry {
        let index: UInt8
        let plain: SIMD3<Float>
        let perceived: SIMD3<Float>
    }

    private let entries: [Entry]
    /// Entry numbers by 15-bit colour, `unknown` where none was asked for yet.
    private var found: [UInt16]
    private static let unknown = UInt16.max

    /// The palette of a depth: 16 colours, or the 240 of the 256 that users do not change. Depths
    /// without a palette must not ask for its colours.
    init(depth: ColourDepth) {
        entries = depth == .ansi16 ? Self.basicEntries : Self.fixedEntries
        let isAsked = depth == .ansi16 || depth == .indexed256
        found = isAsked ? Array(repeating: Self.unknown, count: 1 << 15) : []
    }

    /// The number of the palette's nearest colour.
    mutating func nearest(to colour: SIMD3<UInt8>) -> UInt8 {
        let key = Int(colour.x >> 3) << 10 | Int(colour.y >> 3) << 5 | Int(colour.z >> 3)
        if found[key] == Self.unknown {
            let rounded = SIMD3<Float>(Float(colour.x >> 3), Float(colour.y >> 3), Float(colour.z >> 3)) / 31
            found[key] = UInt16(search(rounded))
        }
        return entries[Int(found[key])].index
    }

    private func search(_ plain: SIMD3<Float>) -> Int {
        let perceived = Self.okLab(plain)
        var best = 0
        var least = Float.infinity
        for (number, entry) in entries.enumerated() {
            let near = (entry.perceived - perceived) * Self.axes
            let far = entry.plain - plain
            let distance = (near * near).sum() + Self.plainShare * (far * far).sum()
            if distance < least {
                least = distance
                best = number
            }
        }
        return best
    }

    /// The channels of a number of the palette of 256.
    static func channels(of index: UInt8) -> SIMD3<UInt8> {
        let levels = colour(of: index)
        return SIMD3(UInt8(levels.x), UInt8(levels.y), UInt8(levels.z))
    }

    private static let basicEntries = basic.enumerated().map { entry(UInt8($0.offset), $0.element) }

    private static let fixedEntries = (16...255).map { entry(UInt8($0), colour(of: UInt8($0))) }

    private static func entry(_ index: UInt8, _ colour: SIMD3<Float>) -> Entry {
        Entry(index: index, plain: colour / 255, perceived: okLab(colour / 255))
    }

    /// The sRGB colour of a number, 0 to 255 a channel: xterm's 16, its cube of 6 x 6 x 6, its greys.
    private static func colour(of index: UInt8) -> SIMD3<Float> {
        let number = Int(index)
        if number < 16 { return basic[number] }
        if number >= 232 { return SIMD3(repeating: Float(8 + 10 * (number - 232))) }
        let level = { (step: Int) -> Float in step == 0 ? 0 : Float(55 + 40 * step) }
        let cube = number - 16
        return SIMD3(level(cube / 36), level(cube / 6 % 6), level(cube % 6))
    }

    /// sRGB (0 to 1) to OKLab, by Ottosson's matrices.
    private static func okLab(_ colour: SIMD3<Float>) -> SIMD3<Float> {
        let red = linear(colour.x)
        let green = linear(colour.y)
        let blue = linear(colour.z)
        let long = cbrtf(0.412_221_47 * red + 0.536_332_54 * green + 0.051_445_99 * blue)
        let medium = cbrtf(0.211_903_50 * red + 0.680_699_55 * green + 0.107_396_96 * blue)
        let short = cbrtf(0.088_302_46 * red + 0.281_718_84 * green + 0.629_978_70 * blue)
        return SIMD3(
            0.210_454_26 * long + 0.793_617_79 * medium - 0.004_072_05 * short,
            1.977_998_50 * long - 2.428_592_21 * medium + 0.450_593_71 * short,
            0.025_904_04 * long + 0.782_771_77 * medium - 0.808_675_77 * short)
    }

    private static func linear(_ value: Float) -> Float {
        value <= 0.040_45 ? value / 12.92 : powf((value + 0.055) / 1.055, 2.4)
    }
}
