import MovieCatalogue
import TerminalGraphics

extension FilmPage {
    /// One line of a film's text.
    typealias Line = [StyledText]

    /// The most other films by the director that are listed.
    static let mostOfDirector = 6
    /// The columns of a fact's name: the longest name, and two.
    private static let names = 10
    /// The cells of a score of 10.
    private static let scoreBar = 20

    /// The whole text about a film. The neighbours come at the poster's foot, if they have room.
    /// - Parameter accent: the colour of the title and the score.
    func lines(of movie: Movie, _ context: FilmContext, accent: CellColour = .standard) -> [Line] {
        let upper = title(movie, context, accent) + facts(movie, context.words, accent)
        let overview = movie.overview.map { [[]] + wrapped($0).marked(context.words, .overview) }
        var lines = upper + (overview ?? [])
        if movie.media != nil, context.isPlayedByEnter {
            lines += [
                [], [StyledText("Enter", BrowserScreen.bold), StyledText(" plays it", BrowserScreen.dim)],
            ]
        }
        if let failure = context.failure {
            lines.append([])
            lines += wrapped(failure.line, BrowserScreen.dim)
            if let address = failure.address { lines += wrapped(address, BrowserScreen.dim) }
        }
        let lower = others(context) + neighbours(context)
        guard !lower.isEmpty else { return lines }
        let space = max(1, poster.size.rows - lines.count - lower.count)
        return lines + Array(repeating: [], count: space) + lower
    }

    private func wrapped(_ text: String, _ style: CellStyle = CellStyle()) -> [Line] {
        TerminalText.wrapped(TerminalText.visible(text), toWidth: self.text.size.columns)
            .map { [StyledText($0, style)] }
    }

    private func title(
        _ movie: Movie, _ context: FilmContext, _ accent: CellColour
    ) -> [Line] {
        let words = context.words
        var lines = wrapped(movie.title, CellStyle(foreground: accent, attributes: .bold))
            .marked(words, .title)
        if let original = movie.originalTitle {
            lines += wrapped(original, BrowserScreen.dim).marked(words, .originalTitle)
        }
        switch context.change {
        case .new: lines += wrapped("+ new since the refresh", BrowserScreen.marked)
        case .changed: lines += wrapped("~ changed since the refresh before", BrowserScreen.marked)
        case nil: break
        }
        return lines + [[]]
    }

    private func facts(_ movie: Movie, _ words: FilterWords, _ accent: CellColour) -> [Line] {
        var lines = MovieText.namedFacts(movie).flatMap { name, value, field in
            fact(name, value).map { line in
                guard let field else { return line }
                return line.prefix(1) + line.dropFirst().flatMap { $0.marked(words, field) }
            }
        }
        if let rating = movie.rating, movie.votes > 0 {
            let votes = movie.votes == 1 ? "1 vote" : "\(movie.votes) votes"
            lines += score("Rating", rating, ", \(votes)", accent)
        }
        if let score = movie.score { lines += self.score("Score", score, "", accent) }
        return lines
    }

    /// A fact beside its name, on as many lines as it takes.
    private func fact(_ name: String, _ value: String) -> [Line] {
        let name = StyledText(TerminalText.padded(name, toWidth: Self.names), BrowserScreen.dim)
        let indent = StyledText(String(repeating: " ", count: Self.names))
        let parts = TerminalText.wrapped(value, toWidth: max(1, text.size.columns - Self.names))
        return parts.enumerated().map { [$0.offset == 0 ? name : indent, StyledText($0.element)] }
    }

    /// `Score     ━━━━━━━━━━━━━━━━╸───  ★ 8.3`
    private func score(_ name: String, _ score: Double, _ note: String, _ accent: CellColour) -> [Line] {
        let number = MovieText.stars(score) + note
        let room = text.size.columns - Self.names - TerminalText.width(number) - 2
        let width = min(Self.scoreBar, room)
        guard width >= 5 else { return fact(name, number) }
        // In half cells.
        let filled = Int((max(0, min(10, score)) / 10 * Double(2 * width)).rounded())
        let bar = String(repeating: "━", count: filled / 2) + (filled % 2 == 1 ? "╸" : "")
        return [
            [
                StyledText(TerminalText.padded(name, toWidth: Self.names), BrowserScreen.dim),
                StyledText(bar, CellStyle(foreground: accent)),
                StyledText(String(repeating: "─", count: width - (filled + 1) / 2), BrowserScreen.dim),
                StyledText("  " + number),
            ]
        ]
    }

    // MARK: The films around it

    private func others(_ context: FilmContext) -> [Line] {
        let (films, count) = context.sameDirector
        guard let director = films.first?.director else { return [] }
        let more = count - films.count
        return wrapped("More by " + director, BrowserScreen.dim) + films.map { film($0) }
            + (more > 0 ? wrapped("and \(more) more", BrowserScreen.dim) : [])
    }

    private func neighbours(_ context: FilmContext) -> [Line] {
        let both = [("Previous", context.previous), ("Next", context.next)]
        let lines = both.compactMap { name, movie in movie.map { film($0, named: name) } }
        return lines.isEmpty || context.sameDirector.films.isEmpty ? lines : [[]] + lines
    }

    /// `Next      Nosferatu  1922`, or `1922  Nosferatu`.
    private func film(_ movie: Movie, named name: String? = nil) -> Line {
        let year = movie.year.map(String.init) ?? ""
        guard let name else {
            let years = TerminalText.padded(year, toWidth: 4, alignment: .trailing) + "  "
            let title = TerminalText.truncated(
                TerminalText.visible(movie.title), toWidth: max(0, text.size.columns - years.count))
            return [StyledText(years, BrowserScreen.dim), StyledText(title)]
        }
        let room = max(0, text.size.columns - Self.names - (year.isEmpty ? 0 : year.count + 2))
        let title = TerminalText.truncated(TerminalText.visible(movie.title), toWidth: room)
        return [
            StyledText(TerminalText.padded(name, toWidth: Self.names), BrowserScreen.dim),
            StyledText(title), StyledText(year.isEmpty ? "" : "  " + year, BrowserScreen.dim),
        ]
    }
}
