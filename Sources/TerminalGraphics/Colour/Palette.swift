import SystemSupport

/// The nearest colours of a terminal's palette.
///
/// The distance is the squared distance in OKLab, with hue weighted a little more than lightness, plus a small share of
/// sRGB. This was measured on the sample posters at 40 x 30 cells. With less weight on hue, neighbours of nearly the
/// same colour get entries of different hues three times as often, which look like blotches: grey skin in green and
/// pink. Error diffusion and ordered dithering lost more structure than they gained.
///
/// Caches results for colours rounded to 5 bits per channel. Use one value for one drawing or encoder; do not share it
/// between threads.
struct Palette {
    /// The share of sRGB in the distance. Both spaces range from about 0 to 1.
    private static let plainShare: Float = 0.06

    /// The weights of OKLab's axes: lightness, green to red, blue to yellow.
    private static let axes: SIMD3<Float> = [1, 1.1, 1.1]

    /// xterm's defaults of the 16 colours that users choose.
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
    /// The cached entry for each 15-bit colour, or `unknown`.
    private var found: [UInt16]
    private static let unknown = UInt16.max

    /// Creates the palette of a depth: 16 colours, or the 240 of the 256 that users do not change. For other depths
    /// `nearest(to:)` must not be called.
    init(depth: ColourDepth) {
        entries = depth == .ansi16 ? Self.basicEntries : Self.fixedEntries
        let isAsked = depth == .ansi16 || depth == .indexed256
        found = isAsked ? Array(repeating: Self.unknown, count: 1 << 15) : []
    }

    /// The index of the nearest colour.
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

    /// The channels of an entry of the 256-colour palette.
    static func channels(of index: UInt8) -> SIMD3<UInt8> {
        let levels = colour(of: index)
        return SIMD3(UInt8(levels.x), UInt8(levels.y), UInt8(levels.z))
    }

    private static let basicEntries = basic.enumerated().map { entry(UInt8($0.offset), $0.element) }

    private static let fixedEntries = (16...255).map { entry(UInt8($0), colour(of: UInt8($0))) }

    private static func entry(_ index: UInt8, _ colour: SIMD3<Float>) -> Entry {
        Entry(index: index, plain: colour / 255, perceived: okLab(colour / 255))
    }

    /// The sRGB colour of an entry, 0 to 255 per channel: xterm's 16, the cube of 6 x 6 x 6, the greys.
    private static func colour(of index: UInt8) -> SIMD3<Float> {
        let number = Int(index)
        if number < 16 { return basic[number] }
        if number >= 232 { return SIMD3(repeating: Float(8 + 10 * (number - 232))) }
        let level = { (step: Int) -> Float in step == 0 ? 0 : Float(55 + 40 * step) }
        let cube = number - 16
        return SIMD3(level(cube / 36), level(cube / 6 % 6), level(cube % 6))
    }

    /// Converts sRGB (0 to 1) to OKLab by Ottosson's matrices.
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

/// The number of colours of a terminal.
public enum ColourDepth: Int, Sendable, Comparable, CaseIterable {
    /// No colours.
    case none
    /// The 16 colours of every colour terminal; users choose their shades.
    case ansi16
    /// The 256-colour palette: those 16, a cube of 216 and 24 greys.
    case indexed256
    /// Red, green and blue with 8 bits each.
    case trueColour

    /// Fewer colours sort before more.
    public static func < (one: ColourDepth, other: ColourDepth) -> Bool {
        one.rawValue < other.rawValue
    }
}

/// The user's choice on the command line: `--color auto|always|never`.
public enum ColourChoice: String, Sendable, CaseIterable {
    case auto, always, never
}

extension ColourDepth {
    /// The colours to use, by the user's choice, the environment and the kind of output.
    ///
    /// `always` and `never` override everything. For `auto`: a NO_COLOR that is not empty overrides CLICOLOR_FORCE and
    /// FORCE_COLOR, which override an output that is not a terminal. A dumb or unnamed terminal gets no colours. The
    /// depth comes from COLORTERM, then TERM_PROGRAM, then TERM.
    public static func decided(
        by choice: ColourChoice, environment: [String: String], isTerminal: Bool
    ) -> ColourDepth {
        let offered = offered(by: environment)
        switch choice {
        case .never: return .none
        case .always: return max(offered, .ansi16)
        case .auto: break
        }
        if isSet("NO_COLOR", in: environment) { return .none }
        switch environment["FORCE_COLOR"] {
        case "0", "false": return .none
        case "2": return max(offered, .indexed256)
        case "3": return .trueColour
        case .some(let value) where !value.isEmpty: return max(offered, .ansi16)
        default: break
        }
        if isSet("CLICOLOR_FORCE", in: environment), environment["CLICOLOR_FORCE"] != "0" {
            return max(offered, .ansi16)
        }
        return isTerminal && environment["CLICOLOR"] != "0" ? offered : .none
    }

    /// The colours that the environment announces.
    private static func offered(by environment: [String: String]) -> ColourDepth {
        let term = environment["TERM"] ?? ""
        if term.isEmpty || term == "dumb" { return .none }
        if let announced = environment["COLORTERM"], ["truecolor", "24bit"].contains(announced) {
            return .trueColour
        }
        if let program = environment["TERM_PROGRAM"], trueColourPrograms.contains(program) {
            return .trueColour
        }
        if term.hasSuffix("-direct") || trueColourTerms.contains(where: term.hasPrefix) { return .trueColour }
        let hasPalette = term.contains("256col") || paletteTerms.contains(where: term.hasPrefix)
        return hasPalette ? .indexed256 : .ansi16
    }

    /// Terminals with 24-bit colours, known by TERM where SSH drops COLORTERM.
    private static let trueColourTerms = ["xterm-kitty", "xterm-ghostty", "alacritty", "foot", "wezterm"]
    /// Families with 256 colours, although the terminfo entries of their plain names say 8.
    private static let paletteTerms = ["xterm", "screen", "tmux", "putty", "konsole", "gnome", "vte", "st-"]
    private static let trueColourPrograms = ["iTerm.app", "WezTerm", "ghostty", "vscode"]

    private static func isSet(_ name: String, in environment: [String: String]) -> Bool {
        environment[name].map { !$0.isEmpty } ?? false
    }
}
