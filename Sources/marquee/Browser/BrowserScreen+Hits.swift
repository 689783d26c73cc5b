import MovieCatalogue
import TerminalGraphics

/// Marks the text that the filter has found.
extension StyledText {
    /// The colour of the text that the filter has found.
    private static let mark = CellColour.palette(3)

    /// The text in pieces, with the filter's hits in this field marked.
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
    /// The same lines, with the filter's hits in this field marked.
    func marked(_ words: FilterWords, _ field: FilterWords.Field) -> [[StyledText]] {
        words.isEmpty ? self : map { $0.flatMap { $0.marked(words, field) } }
    }
}

extension BrowserScreen {
    /// The fewest cells of an excerpt.
    private static let narrowestExcerpt = 8

    /// Explains a film that is in the list although its titles lack a word of the filter; nil for a film whose titles
    /// have every word.
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
            // With less room the name is enough.
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
    /// A part of a text around a range, cut at words: the beginning of the text, if that reaches the range.
    static func excerpt(_ text: String, around range: Range<String.Index>?, width: Int) -> String {
        guard let range, TerminalText.width(String(text[..<range.upperBound])) > width else { return text }
        // A third of the room is for the text before the range.
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
