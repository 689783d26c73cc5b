/// Text for comparison: without case, accents, typographic punctuation and repeated spaces.
package enum FoldedText {
    /// Leading articles that sorting ignores. German "die" is not among them, because English titles begin with it.
    private static let articles: Set<Substring> = [
        "the", "a", "an", "le", "la", "les", "un", "une", "der", "das", "ein", "eine", "el", "los", "il",
        "gli",
    ]

    package static func fold(_ text: String) -> String {
        // The fast path for ASCII, with the same result.
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

    /// Folds one scalar without collapsing spaces; empty for a combining mark.
    private static func folded(_ scalar: Unicode.Scalar) -> String {
        var folded = ""
        for scalar in scalar.properties.lowercaseMapping.unicodeScalars { append(scalar, to: &folded) }
        return folded
    }

    private static func lowercased(_ byte: UInt8) -> UInt8 {
        (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains(byte) ? byte | 0x20 : byte
    }

    /// The ranges of the characters that a word touches, in order and merged.
    /// - Parameter words: folded, in UTF-8, without spaces.
    static func ranges(of words: [[UInt8]], in text: String) -> [Range<String.Index>] {
        // The folded text with its spaces (words have none), and for each byte the index of its character.
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

    /// The folded title without its leading article, unless nothing else remains.
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

    /// The base letters of U+00C0 to U+024F, which make up most accented text: looking up names is slow. Nil for other
    /// scalars.
    private static let latin: [Unicode.Scalar?] = (0..<0x250).map { value in
        guard value >= 0xC0, let scalar = Unicode.Scalar(value) else { return nil }
        return base(of: scalar)
    }

    /// The base letter of a Latin letter with marks. It comes from the Unicode name ("LATIN SMALL LETTER E WITH
    /// ACUTE"), which also covers letters without a decomposition, such as ø and ł.
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
