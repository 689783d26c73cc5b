/// Text as people compare it: without case, accents, punctuation marks of the typographer, or doubled spaces.
package enum FoldedText {
    /// Articles a list of titles is not sorted by. German "die" is left out: it begins English titles.
    private static let articles: Set<Substring> = [
        "the", "a", "an", "le", "la", "les", "un", "une", "der", "das", "ein", "eine", "el", "los", "il",
        "gli",
    ]

    package static func fold(_ text: String) -> String {
        // Most titles are ASCII, and there the rules below come to this.
        if text.utf8.allSatisfy({ $0 < 0x80 }) { return text.lowercased().collapsed }
        var folded = ""
        for scalar in text.lowercased().unicodeScalars { append(scalar, to: &folded) }
        return folded.collapsed
    }

    /// Appends the folded text as UTF-8.
    static func append(_ text: String, to bytes: inout [UInt8]) {
        let start = bytes.count
        var isSeparated = false
        func append(_ byte: UInt8) {
            if byte.isWhitespace {
                isSeparated = bytes.count > start
                return
            }
            if isSeparated { bytes.append(UInt8(ascii: " ")) }
            isSeparated = false
            bytes.append(byte)
        }
        for scalar in text.unicodeScalars {
            if scalar.isASCII {
                append(lowercased(UInt8(scalar.value)))
            } else {
                for byte in folded(scalar).utf8 { append(byte) }
            }
        }
    }

    /// One scalar folded, spaces as they are; empty for a mark.
    private static func folded(_ scalar: Unicode.Scalar) -> String {
        var folded = ""
        for scalar in scalar.properties.lowercaseMapping.unicodeScalars { append(scalar, to: &folded) }
        return folded
    }

    private static func lowercased(_ byte: UInt8) -> UInt8 {
        (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains(byte) ? byte | 0x20 : byte
    }

    /// Where words stand in a text: the characters that each touches, in order and apart from one another.
    /// - Parameter words: folded, in UTF-8, without spaces.
    static func ranges(of words: [[UInt8]], in text: String) -> [Range<String.Index>] {
        // The folded text without collapsing its spaces, which no word has, and the character that each byte comes of.
        var bytes: [UInt8] = []
        var sources: [Int] = []
        var characters: [Range<String.Index>] = []
        for index in text.indices {
            for scalar in text[index].unicodeScalars {
                if scalar.isASCII {
                    bytes.append(lowercased(UInt8(scalar.value)))
                } else {
                    bytes += folded(scalar).utf8
                }
            }
            sources += repeatElement(characters.count, count: bytes.count - sources.count)
            characters.append(index..<text.index(after: index))
        }
        var isFound = [Bool](repeating: false, count: characters.count)
        for word in words where !word.isEmpty && word.count <= bytes.count {
            for start in 0...bytes.count - word.count where bytes[start...].starts(with: word) {
                for byte in start..<start + word.count { isFound[sources[byte]] = true }
            }
        }
        var ranges: [Range<String.Index>] = []
        for (range, isFound) in zip(characters, isFound) where isFound {
            if let last = ranges.last, last.upperBound == range.lowerBound {
                ranges[ranges.count - 1] = last.lowerBound..<range.upperBound
            } else {
                ranges.append(range)
            }
        }
        return ranges
    }

    /// The folded title without a leading article, unless it is nothing else.
    package static func sortKey(_ title: String) -> String {
        let folded = fold(title)
        if folded.hasPrefix("l'"), folded.count > 2 { return String(folded.dropFirst(2)) }
        guard let space = folded.firstIndex(of: " "), articles.contains(folded[..<space]) else {
            return folded
        }
        return String(folded[space...].dropFirst())
    }

    private static func append(_ scalar: Unicode.Scalar, to folded: inout String) {
        switch scalar {
        case _ where scalar.isASCII: folded.unicodeScalars.append(scalar)
        case "ß": folded += "ss"
        case "æ": folded += "ae"
        case "œ": folded += "oe"
        case "‘", "’", "ʼ": folded += "'"
        case "“", "”", "„", "«", "»": folded += "\""
        case "‐", "‑", "–", "—": folded += "-"
        case _ where scalar.value >= 0xC0 && scalar.value < 0x250:
            folded.unicodeScalars.append(latin[Int(scalar.value)] ?? scalar)
        default:
            switch scalar.properties.generalCategory {
            case .nonspacingMark, .format: break
            case .spaceSeparator: folded += " "
            default: folded.unicodeScalars.append(base(of: scalar) ?? scalar)
            }
        }
    }

    /// The plain letters of the letters that most accented text consists of, U+00C0 to U+024F, by their number: looking
    /// up a name takes long. Nil for the others.
    private static let latin: [Unicode.Scalar?] = (0..<0x250).map { value in
        guard value >= 0xC0, let scalar = Unicode.Scalar(value) else { return nil }
        return base(of: scalar)
    }

    /// The plain letter of a Latin letter with marks. Unicode's own name of the character tells it ("LATIN SMALL
    /// LETTER E WITH ACUTE"); it covers letters that no decomposition splits, such as ø and ł.
    private static func base(of scalar: Unicode.Scalar) -> Unicode.Scalar? {
        let prefix = "LATIN SMALL LETTER "
        guard let name = scalar.properties.name, name.hasPrefix(prefix) else { return nil }
        let letter = name.dropFirst(prefix.count).prefix { $0 != " " }
        guard letter.unicodeScalars.count == 1, let capital = letter.unicodeScalars.first, capital.isASCII
        else {
            return letter == "DOTLESS" ? "i" : nil
        }
        return capital.properties.lowercaseMapping.unicodeScalars.first
    }
}
