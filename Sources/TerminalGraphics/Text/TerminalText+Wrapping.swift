extension TerminalText {
    /// Wraps text at spaces into lines of at most `limit` cells.
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
            let cells = width(String(word))
            if used > 0, used + 1 + cells <= limit {
                line += " " + word
                used += 1 + cells
                continue
            }
            if used > 0 { lines.append(line) }
            var pieces = cells > limit ? pieces(of: word, toWidth: limit) : [String(word)]
            line = pieces.removeLast()
            used = width(line)
            lines += pieces
        }
        lines.append(line)
        return lines
    }

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
