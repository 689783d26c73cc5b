/// Text on a terminal: made safe, and measured in cells.
///
/// Pass untrusted text (titles, overviews, file names, header values, error messages) through
/// ``visible(_:keepingNewlines:)`` first; the other functions measure and cut its result. All functions are pure and
/// may be called from any thread.
public enum TerminalText {
    /// The alignment of padded text.
    public enum Alignment: Sendable {
        case leading, centre, trailing
    }

    /// The width of a text in terminal cells.
    ///
    /// Measured by grapheme cluster: wide and full-width characters and emoji take 2 cells,
    /// combining marks and control characters 0, everything else 1.
    public static func width(_ text: String) -> Int {
        if isPlainASCII(text) { return text.utf8.count }
        return text.reduce(0) { $0 + width(of: $1) }
    }

    /// The width of one grapheme cluster in terminal cells: 0, 1 or 2.
    ///
    /// The width is the sum of its scalars' widths, at most 2. An emoji variation selector makes it 2.
    public static func width(of cluster: Character) -> Int {
        if let ascii = cluster.asciiValue { return (0x20..<0x7F).contains(ascii) ? 1 : 0 }
        var sum = 0
        for scalar in cluster.unicodeScalars {
            if scalar == emojiSelector, sum > 0 { return 2 }
            sum += width(of: scalar)
        }
        return min(sum, 2)
    }

    /// The width of one scalar in terminal cells, as terminals without support for clusters count it.
    static func width(of scalar: Unicode.Scalar) -> Int {
        let value = scalar.value
        if value < 0x300 {
            let takesNone = value < 0x20 || (0x7F..<0xA0).contains(value) || value == 0xAD
            return takesNone ? 0 : 1
        }
        if CellWidthTables.contains(value, in: CellWidthTables.zero) { return 0 }
        return CellWidthTables.contains(value, in: CellWidthTables.wide) ? 2 : 1
    }

    /// Truncates text to at most `limit` cells, never inside a grapheme cluster.
    ///
    /// Text that fits stays as it is. Otherwise it ends with the ellipsis, which is truncated too if it does not fit.
    public static func truncated(_ text: String, toWidth limit: Int, ellipsis: String = "…") -> String {
        if width(text) <= limit { return text }
        let mark = prefix(of: ellipsis, cells: limit)
        return prefix(of: text, cells: limit - width(mark)) + mark
    }

    /// Pads text with spaces to exactly `cells` cells, or truncates it.
    public static func padded(
        _ text: String, toWidth cells: Int, alignment: Alignment = .leading
    ) -> String {
        let fitted = truncated(text, toWidth: cells)
        let missing = max(0, cells - width(fitted))
        let before =
            switch alignment {
            case .leading: 0
            case .centre: missing / 2
            case .trailing: missing
            }
        return String(repeating: " ", count: before) + fitted
            + String(repeating: " ", count: missing - before)
    }

    /// The longest prefix of whole clusters that fits in `limit` cells.
    static func prefix(of text: String, cells limit: Int) -> String {
        var taken = ""
        var used = 0
        for cluster in text {
            used += width(of: cluster)
            if used > limit { break }
            taken.append(cluster)
        }
        return taken
    }

    /// The most bytes of a cluster in UTF-8 that a cell of tmux 3.3 holds (`UTF8_SIZE` in its `tmux.h`).
    public static let longestClusterInTmux = 21

    /// Text for a terminal whose cells hold at most `limit` bytes, and that drops the rest of a longer cluster: a family
    /// of four emoji would lose a member, and leave a joiner behind. The joiners (ZWJ) of longer clusters are removed, so
    /// that each emoji has cells of its own, as UTS #51 section 2.3 has it for terminals without such a picture.
    public static func separated(_ text: String, clustersLongerThan limit: Int) -> String {
        if text.utf8.count <= limit { return text }
        guard text.unicodeScalars.contains(joiner) else { return text }
        return text.reduce(into: "") { separated, cluster in
            if cluster.utf8.count > limit {
                separated.unicodeScalars.append(contentsOf: cluster.unicodeScalars.filter { $0 != joiner })
            } else {
                separated.append(cluster)
            }
        }
    }

    private static let emojiSelector: Unicode.Scalar = "\u{FE0F}"
    private static let joiner: Unicode.Scalar = "\u{200D}"

    private static func isPlainASCII(_ text: String) -> Bool {
        text.utf8.allSatisfy { (0x20..<0x7F).contains($0) }
    }
}

extension TerminalText {
    /// Replaces text for a terminal that shows only ASCII: letters lose their marks, other characters become similar
    /// ones or `?`. The width stays the same.
    public static func ascii(_ text: String) -> String {
        if text.utf8.allSatisfy({ $0 < 0x80 }) { return text }
        return text.map { ascii($0) }.joined()
    }

    /// As above, for one grapheme cluster.
    static func ascii(_ cluster: Character) -> String {
        if cluster.isASCII { return String(cluster) }
        let width = width(of: cluster)
        guard width == 1, let scalar = cluster.unicodeScalars.first else {
            return String(repeating: "?", count: width)
        }
        // Drop the marks after the first scalar.
        if scalar.isASCII { return String(scalar) }
        return signs[scalar] ?? letter(scalar) ?? "?"
    }

    /// The program's own symbols, and typographic ones.
    private static let signs: [Unicode.Scalar: String] = {
        let groups: [(String, String)] = [
            ("‐‑‒–—―─·", "-"), ("━╸▅▆▇", "="), ("▁▂▃▄", "_"), ("█", "#"), ("‘’‚ʼ‹›", "'"), ("“”„«»", "\""),
            ("…", "."), ("│┃▏▌", "|"), ("╭╮╰╯┏┓┗┛", "+"),
            ("●★⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏", "*"), ("○", "o"), ("↑", "^"), ("↓", "v"), ("←", "<"), ("→", ">"), ("×", "x"),
            ("\u{A0}", " "), ("ß", "s"),
        ]
        var signs: [Unicode.Scalar: String] = [:]
        for (group, sign) in groups { for scalar in group.unicodeScalars { signs[scalar] = sign } }
        return signs
    }()

    /// The base letter of a Latin letter with marks, from its Unicode name: `LATIN SMALL LETTER E WITH ACUTE`.
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

extension TerminalText {
    /// Escapes every character in JSON that could control a terminal or mislead its reader as `\uXXXX`: the same value
    /// for a program, safe for a terminal. `json` must be valid, so that such characters are only in strings.
    /// - Parameter onlyASCII: whether to escape everything that is not ASCII. Default: false.
    public static func sanitized(json: String, onlyASCII: Bool = false) -> String {
        // The fast path for ASCII, which most JSON is.
        if json.utf8.allSatisfy({ $0 < 0x7F }) { return json }
        guard json.unicodeScalars.contains(where: { needsEscape($0, onlyASCII: onlyASCII) }) else {
            return json
        }
        var output = ""
        output.reserveCapacity(json.utf8.count)
        for scalar in json.unicodeScalars {
            if !needsEscape(scalar, onlyASCII: onlyASCII) {
                output.unicodeScalars.append(scalar)
            } else {
                for unit in String(scalar).utf16 {
                    let digits = String(unit, radix: 16)
                    output += "\\u" + String(repeating: "0", count: 4 - digits.count) + digits
                }
            }
        }
        return output
    }

    private static func needsEscape(_ scalar: Unicode.Scalar, onlyASCII: Bool) -> Bool {
        if scalar.value < 0x7F { return false }
        if onlyASCII { return true }
        // Latin letters and punctuation; the soft hyphen is a format character.
        if (0xA1..<0x250).contains(scalar.value) { return scalar.value == 0xAD }
        let properties = scalar.properties
        switch properties.generalCategory {
        case .control, .format, .lineSeparator, .paragraphSeparator, .privateUse, .unassigned: return true
        default: return properties.isDefaultIgnorableCodePoint
        }
    }
}
