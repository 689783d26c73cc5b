extension TerminalText {
    /// Text for a terminal that shows ASCII alone: letters without their marks, signs that come near, and `?` for what has
    /// none. It is as wide as before.
    public static func ascii(_ text: String) -> String {
        if text.utf8.allSatisfy({ $0 < 0x80 }) { return text }
        return text.map { ascii($0) }.joined()
    }

    /// The same for one grapheme cluster.
    static func ascii(_ cluster: Character) -> String {
        if cluster.isASCII { return String(cluster) }
        let width = width(of: cluster)
        guard width == 1, let scalar = cluster.unicodeScalars.first else {
            return String(repeating: "?", count: width)
        }
        // The marks that follow the first scalar are left out.
        if scalar.isASCII { return String(scalar) }
        return signs[scalar] ?? letter(scalar) ?? "?"
    }

    /// Signs of the program's own, and of typographers.
    private static let signs: [Unicode.Scalar: String] = {
        let groups: [(String, String)] = [
            ("‐‑‒–—―─━·", "-"), ("‘’‚ʼ‹›", "'"), ("“”„«»", "\""), ("…", "."), ("│▏▌", "|"), ("╭╮╰╯", "+"),
            ("●★⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏", "*"), ("○", "o"), ("↑", "^"), ("↓", "v"), ("←", "<"), ("→", ">"), ("×", "x"),
            ("\u{A0}", " "), ("ß", "s"),
        ]
        var signs: [Unicode.Scalar: String] = [:]
        for (group, sign) in groups { for scalar in group.unicodeScalars { signs[scalar] = sign } }
        return signs
    }()

    /// The plain letter of a Latin letter with marks, which Unicode's name of it tells: `LATIN SMALL LETTER E WITH ACUTE`.
    private static func letter(_ scalar: Unicode.Scalar) -> String? {
        let cases = [("LATIN SMALL LETTER ", true), ("LATIN CAPITAL LETTER ", false)]
        guard let name = scalar.properties.name,
            let (prefix, isSmall) = cases.first(where: { name.hasPrefix($0.0) })
        else { return nil }
        let letter = name.dropFirst(prefix.count).prefix { $0 != " " }
        guard letter.utf8.count == 1 else { return nil }
        return isSmall ? letter.lowercased() : String(letter)
    }
}
