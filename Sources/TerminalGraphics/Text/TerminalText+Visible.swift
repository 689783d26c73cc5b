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
        if text.utf8.allSatisfy({ (0x20..<0x7F).contains($0) }) { return text }
        var writer = VisibleWriter(keepingNewlines: keepingNewlines)
        let scalars = text.unicodeScalars
        var index = scalars.startIndex
        while index < scalars.endIndex {
            let scalar = scalars[index]
            index = scalars.index(after: index)
            let next = index < scalars.endIndex ? scalars[index] : nil
            writer.write(scalar, before: next)
        }
        return String(writer.output)
    }
}

/// Writes scalars in their safe form, depending on the one before.
private struct VisibleWriter {
    /// The most marks on one character: more only spill over the neighbouring lines.
    static let markLimit = 8

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
