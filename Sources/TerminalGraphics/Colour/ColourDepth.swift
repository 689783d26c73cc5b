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
