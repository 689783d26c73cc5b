/// Text on a terminal: made safe, and measured in cells.
///
/// Pass untrusted text (titles, overviews, file names, header values, error messages) through
/// ``visible(_:keepingNewlines:)`` first; the other functions measure and cut its result. All functions are pure and
/// may be called from any thread.
public enum TerminalText {
    /// The alignment of padded text.
    public enum Alignment: Sendable {
        case leading, trailing
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
        // Greek and Cyrillic letters are common, and need no look-up.
        if (0x370..<0x483).contains(value) { return 1 }
        return CellWidthTables.isWide(value) ? 2 : takesNoCell(scalar) ? 0 : 1
    }

    /// Whether a scalar that is not wide takes no cell: control characters, nonspacing and enclosing marks, format
    /// characters, line and paragraph separators, default ignorables, and the vowels and finals of conjoining Hangul.
    private static func takesNoCell(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar.properties.generalCategory {
        case .control, .nonspacingMark, .enclosingMark, .format, .lineSeparator, .paragraphSeparator: true
        case .otherLetter, .unassigned:
            scalar.properties.isDefaultIgnorableCodePoint || conjoiningHangul.contains { $0 ~= scalar.value }
        default: false
        }
    }

    private static let conjoiningHangul: [ClosedRange<UInt32>] = [0x1160...0x11FF, 0xD7B0...0xD7FF]

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
        let spaces = String(repeating: " ", count: missing)
        return alignment == .leading ? fitted + spaces : spaces + fitted
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
            ("●★⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏", "*"), ("✓", "v"), ("♥", "+"), ("▸", ">"), ("○", "o"), ("↑", "^"), ("↓", "v"),
            ("←", "<"), ("→", ">"), ("×", "x"),
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

extension TerminalText {
    /// Makes untrusted text safe for a terminal: replaces everything that could control the terminal or mislead the
    /// reader by visible characters. All outside text must pass through here.
    ///
    /// - Control characters become control pictures (`ESC` becomes `␛`), a tab a space.
    /// - Bidirectional controls, zero-width and other format characters, tags, line and paragraph separators, private
    ///   and unassigned characters, and variation selectors become their number: `‹U+202E›`. Joiners and selectors
    ///   within an emoji stay.
    /// - A mark without a base gets a dotted circle. Of the marks on one character, those after the eighth become
    ///   numbers.
    /// - With `keepingNewlines`, line feeds stay and CR LF becomes a line feed. Without it, the default, the result is
    ///   one line.
    ///
    /// Invalid UTF-8 is U+FFFD, a visible character, once it is in a `String`.
    public static func visible(_ text: String, keepingNewlines: Bool = false) -> String {
        if isPlainASCII(text) { return text }
        var writer = VisibleWriter(keepingNewlines: keepingNewlines)
        var scalars = text.unicodeScalars.makeIterator()
        var next = scalars.next()
        while let scalar = next {
            next = scalars.next()
            writer.write(scalar, before: next)
        }
        return String(writer.output)
    }
}

/// Writes scalars in their safe form, depending on the one before.
private struct VisibleWriter {
    /// The most marks on one character: more only spill over the neighbouring lines.
    private static let markLimit = 8

    let keepingNewlines: Bool
    var output = String.UnicodeScalarView()

    /// What may follow the last scalar.
    private var context = Context.none
    private var marks = 0

    private enum Context {
        /// The start of a line, or a replacement: a mark would have no base of its own.
        case none
        case character
        /// An emoji, with its modifier or selector: a joiner may follow.
        case emoji
        /// A joiner between two emoji.
        case joiner
    }

    init(keepingNewlines: Bool) {
        self.keepingNewlines = keepingNewlines
    }

    mutating func write(_ scalar: Unicode.Scalar, before next: Unicode.Scalar?) {
        switch scalar.value {
        case 0x20..<0x7F:
            put(scalar, context: .character)
            marks = 0
        case 0x0A where keepingNewlines:
            put(scalar, context: .none)
        case 0x0D where keepingNewlines && next == "\n":
            break
        case 0x09:
            put(" ", context: .none)
        case 0..<0x20:
            putPicture(0x2400 + scalar.value)
        case 0x7F:
            putPicture(0x2421)
        case 0xFE0E, 0xFE0F:
            writeEmojiSelector(scalar)
        case 0x200D:
            let joins = context == .emoji && next.map(Self.isEmoji) == true
            joins ? put(scalar, context: .joiner) : putNumber(of: scalar)
        default:
            writeCharacter(scalar)
        }
    }

    private mutating func writeEmojiSelector(_ scalar: Unicode.Scalar) {
        // Digits, # and * take a selector too, at the start of a keycap.
        let previous = output.last
        guard let previous, context == .emoji || (context == .character && previous.properties.isEmoji),
            previous.value != scalar.value
        else { return putNumber(of: scalar) }
        put(scalar, context: .emoji)
    }

    private mutating func writeCharacter(_ scalar: Unicode.Scalar) {
        let properties = scalar.properties
        switch properties.generalCategory {
        case .control, .format, .lineSeparator, .paragraphSeparator, .surrogate, .privateUse, .unassigned:
            putNumber(of: scalar)
        case _ where properties.isDefaultIgnorableCodePoint || properties.isVariationSelector:
            putNumber(of: scalar)
        case .nonspacingMark, .enclosingMark, .spacingMark:
            if context == .none { put("\u{25CC}", context: .character) }
            marks += 1
            if marks > Self.markLimit {
                putNumber(of: scalar)
            } else {
                put(scalar, context: context == .joiner ? .character : context)
            }
        default:
            marks = 0
            put(scalar, context: Self.isEmoji(scalar) ? .emoji : .character)
        }
    }

    private mutating func put(_ scalar: Unicode.Scalar, context: Context) {
        output.append(scalar)
        self.context = context
    }

    private mutating func putPicture(_ value: UInt32) {
        guard let picture = Unicode.Scalar(value) else { return }
        put(picture, context: .none)
        marks = 0
    }

    private mutating func putNumber(of scalar: Unicode.Scalar) {
        let digits = String(scalar.value, radix: 16, uppercase: true)
        let zeros = String(repeating: "0", count: max(0, 4 - digits.count))
        output.append(contentsOf: "‹U+\(zeros)\(digits)›".unicodeScalars)
        // After one mark too many, all further marks are too many.
        if marks <= Self.markLimit { context = .none }
    }

    /// Emoji without the digits, `#` and `*`, which the property includes.
    private static func isEmoji(_ scalar: Unicode.Scalar) -> Bool {
        scalar.value > 0xFF ? scalar.properties.isEmoji : scalar == "©" || scalar == "®"
    }
}

extension TerminalText {
    /// Wraps text into lines of at most `limit` cells: at spaces, and between characters of Chinese and Japanese.
    ///
    /// Line feeds always break; runs of spaces become one. A word wider than a line is split between clusters. A limit
    /// below 1 gives no lines, an empty text one empty line.
    public static func wrapped(_ text: String, toWidth limit: Int) -> [String] {
        guard limit > 0 else { return [] }
        return text.split(separator: "\n", omittingEmptySubsequences: false)
            .flatMap { wrappedParagraph($0, toWidth: limit) }
    }

    private static func wrappedParagraph(_ paragraph: Substring, toWidth limit: Int) -> [String] {
        var lines: [String] = []
        var line = ""
        var used = 0
        for word in paragraph.split(separator: " ") {
            for part in parts(of: word) {
                let gap = part.startIndex == word.startIndex ? " " : ""
                let cells = width(String(part))
                if used > 0, used + gap.utf8.count + cells <= limit {
                    line += gap + part
                    used += gap.utf8.count + cells
                    continue
                }
                if used > 0 { lines.append(line) }
                var pieces = cells > limit ? pieces(of: part, toWidth: limit) : [String(part)]
                line = pieces.removeLast()
                used = width(line)
                lines += pieces
            }
        }
        lines.append(line)
        return lines
    }

    /// The parts of a word between which a line may end.
    private static func parts(of word: Substring) -> [Substring] {
        // Only characters from U+2000 on have such bytes in UTF-8.
        guard word.utf8.contains(where: { $0 >= 0xE2 }) else { return [word] }
        let ends = zip(word.indices, word.indices.dropFirst()).filter { mayBreak(word[$0], word[$1]) }
        let limits = [word.startIndex] + ends.map(\.1) + [word.endIndex]
        return zip(limits, limits.dropFirst()).map { word[$0..<$1] }
    }

    /// Whether a line may end between two characters: if both are of Chinese or Japanese, but not before closing and not
    /// after opening punctuation (UAX #14, classes ID, CL, NS and OP). Korean has spaces.
    private static func mayBreak(_ last: Character, _ next: Character) -> Bool {
        guard let last = last.unicodeScalars.first, let next = next.unicodeScalars.first,
            [last, next].allSatisfy({ scalar in eastAsian.contains { $0 ~= scalar.value } })
        else { return false }
        return last.properties.generalCategory != .openPunctuation && !followers.contains(next)
            && !followingCategories.contains(next.properties.generalCategory)
    }

    /// Radicals to Bopomofo, Kanbun to Yi, compatibility ideographs, vertical and full-width forms, old kana, and the
    /// planes of ideographs.
    private static let eastAsian: [ClosedRange<UInt32>] = [
        0x2E80...0x312F, 0x3190...0xA4CF, 0xF900...0xFAFF, 0xFE30...0xFE4F, 0xFF01...0xFF9F,
        0x1B000...0x1B16F, 0x20000...0x3FFFD,
    ]

    /// Characters that begin no line: punctuation, and letters that repeat or lengthen the one before, such as 々 and ー.
    private static let followingCategories: Set<Unicode.GeneralCategory> = [
        .closePunctuation, .dashPunctuation, .otherPunctuation, .modifierLetter, .modifierSymbol,
        .spaceSeparator,
    ]

    /// The same: small kana, which belong to the letter before them, and the wave dash.
    private static let followers = Set("ぁぃぅぇぉっゃゅょゎゕゖァィゥェォッャュョヮヵヶｧｨｩｪｫｬｭｮｯ～".unicodeScalars)

    /// Splits a word into pieces of at most `limit` cells; at least one.
    private static func pieces(of word: Substring, toWidth limit: Int) -> [String] {
        var pieces: [String] = []
        var piece = ""
        var used = 0
        for cluster in word {
            // A wide cluster never fits on a line of one cell: write an ellipsis.
            let fitting = width(of: cluster) <= limit ? cluster : "…"
            let cells = width(of: fitting)
            if used + cells > limit {
                pieces.append(piece)
                piece = ""
                used = 0
            }
            piece.append(fitting)
            used += cells
        }
        return pieces + [piece]
    }
}

extension Double {
    /// `8.9`, in the same form in every language.
    package func formatted(decimals: Int) -> String {
        var scale = 1.0
        for _ in 0..<decimals { scale *= 10 }
        guard magnitude < 1e15 / scale else { return "\(self)" }
        let digits = String(Int((magnitude * scale).rounded()))
        let padded = String(repeating: "0", count: max(0, decimals + 1 - digits.count)) + digits
        return (self < 0 ? "-" : "") + padded.dropLast(decimals) + (decimals > 0 ? "." : "")
            + padded.suffix(decimals)
    }
}
