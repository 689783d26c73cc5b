import MovieCatalogue
import TerminalGraphics

/// What the filter has found, marked where it stands.
extension StyledText {
    /// What a filter has found.
    private static let mark = CellColour.palette(3)

    /// The text in pieces, those that the filter has found in this field marked.
    func marked(_ words: FilterWords, _ field: FilterWords.Field) -> [StyledText] {
        let ranges = words.ranges(in: text, of: field)
        if ranges.isEmpty { return [self] }
        var found = style
        found.foreground = Self.mark
        found.attributes.insert(.underlined)
        found.attributes.remove(.dim)
        var pieces: [StyledText] = []
        var start = text.startIndex
        for range in ranges {
            if start < range.lowerBound {
                pieces.append(StyledText(String(text[start..<range.lowerBound]), style))
            }
            pieces.append(StyledText(String(text[range]), found))
            start = range.upperBound
        }
        return start < text.endIndex ? pieces + [StyledText(String(text[start...]), style)] : pieces
    }
}

extension [[StyledText]] {
    /// The same lines, what the filter has found in this field marked.
    func marked(_ words: FilterWords, _ field: FilterWords.Field) -> [[StyledText]] {
        words.isEmpty ? self : map { $0.flatMap { $0.marked(words, field) } }
    }
}

extension BrowserScreen {
    /// The least cells of what a field says.
    private static let narrowestExcerpt = 8

    /// Why a film is in the list whose titles do not have every word of the filter; nil for one whose titles have.
    ///
    ///     director: Fritz Lang
    ///     overview: … the son of its master follows a teacher down …
    func hitNote(_ movie: Movie, width: Int, besides shown: Set<FilterWords.Field> = []) -> [StyledText]? {
        let words = list.words.missing(fromTitlesOf: movie)
        let fields = words.fields(of: movie).filter { !shown.contains($0) }
        guard !fields.isEmpty else { return nil }
        var parts: [StyledText] = []
        for field in fields {
            let name = (parts.isEmpty ? "" : " · ") + field.rawValue
            parts.append(StyledText(name, Self.dim))
            // With less room the name says enough.
            guard parts.width + Self.narrowestExcerpt <= width else { break }
            parts.append(StyledText(": ", Self.dim))
            let text = TerminalText.visible(field.text(of: movie) ?? "")
            let room = max(0, width - parts.width)
            let excerpt = MovieText.excerpt(
                text, around: words.ranges(in: text, of: field).first, width: room)
            parts += StyledText(excerpt, Self.dim).marked(list.words, field)
        }
        return parts
    }
}

extension MovieText {
    /// The part of a text that has a range in it, cut at words: the beginning, where that has room for it.
    static func excerpt(_ text: String, around range: Range<String.Index>?, width: Int) -> String {
        guard let range, TerminalText.width(String(text[..<range.upperBound])) > width else { return text }
        // A third of the room for what comes before.
        var start = range.lowerBound
        while start > text.startIndex {
            let before = text.index(before: start)
            if TerminalText.width(String(text[before..<range.upperBound])) + 2 > max(width / 3, 0) { break }
            start = before
        }
        let word = text[start..<range.lowerBound].firstIndex(of: " ").map { text.index(after: $0) }
        return "… " + text[(word ?? range.lowerBound)...]
    }
}
