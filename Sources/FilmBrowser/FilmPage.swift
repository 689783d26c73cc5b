import Films
package import TerminalGraphics

/// The place of one film in full: its poster, and beside it all facts of the catalogue. It has a page of its own, or
/// stands beside the list. Poster and text are one block in the middle of their area.
package struct FilmPage: Equatable {
    /// The widest text that is easy to read, in columns.
    private static let widestText = 72
    /// The fewest columns of the text, where the window has as many.
    private static let narrowestText = 34
    /// The columns between poster and text.
    private static let gap = 3

    /// The poster's cells: as large as fits beside the text.
    package let poster: CellRectangle
    /// The cells of the text.
    let text: CellRectangle

    /// - Parameters:
    ///   - isAlone: whether nothing stands beside it. A poster kept small by the window's width is then in the middle
    ///     of the height.
    ///   - hasPoster: whether a poster has room.
    init(in area: CellRectangle, cellAspect: Double, isAlone: Bool, hasPoster: Bool = true) {
        let gap = hasPoster ? Self.gap : 0
        let width = max(0, area.size.columns - 2 * BrowserLayout.margin - gap)
        let columns = max(width * 2 / 5, width - Self.narrowestText)
        let size = CellSize(columns: hasPoster ? columns : 0, rows: area.size.rows)
            .fitting(imageWidth: 2, imageHeight: 3, cellAspect: cellAspect)
        let words = max(0, min(width - size.columns, Self.widestText))
        let left = area.origin.column + BrowserLayout.margin + (width - size.columns - words) / 2
        let top = area.origin.row + (isAlone && hasPoster ? (area.size.rows - size.rows) / 2 : 0)
        poster = CellRectangle(at: CellPosition(column: left, row: top), size: size)
        text = CellRectangle(
            at: CellPosition(column: left + size.columns + gap, row: top),
            size: CellSize(columns: words, rows: area.rows.upperBound - top))
    }
}

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
        let upper =
            title(movie, context, accent) + facts(movie, context.hits, accent) + own(context.marks, accent)
        let overview = movie.overview.map { [[]] + wrapped($0).marked(context.hits, .overview) }
        var lines = upper + (overview ?? []) + episodes(movie, context)
        if movie.media != nil, context.isPlayedByEnter, let key = context.keys.shown("Enter") {
            lines += [
                [],
                [
                    StyledText(key, .bold),
                    StyledText(movie.isSeries ? " plays the next one" : " plays it", .dim),
                ],
            ]
        }
        if let failure = context.failure {
            lines += [[]] + wrapped(failure.line(context.keys), .dim)
            if let address = failure.address { lines += wrapped(address, .dim) }
        }
        if let attribution = context.attribution { lines += [[]] + wrapped(attribution, .dim) }
        let lower = others(context) + neighbours(context)
        guard !lower.isEmpty else { return lines }
        let space = max(1, poster.size.rows - lines.count - lower.count)
        return lines + Array(repeating: [], count: space) + lower
    }

    /// The episodes of a series, each with its number and whether it is seen:
    ///
    ///     Season 1
    ///       1  Fantômas à l'ombre de la guillotine  ✓
    private func episodes(_ movie: Movie, _ context: FilmContext) -> [Line] {
        guard movie.isSeries else { return [] }
        var lines: [Line] = []
        var season: Int?
        for part in movie.parts {
            if part.season != season {
                season = part.season
                lines += [[]] + wrapped(season == 0 ? "Specials" : "Season \(season ?? 1)", .bold)
            }
            let number = TerminalText.padded(
                part.number.map(String.init) ?? "", toWidth: 4, alignment: .trailing)
            let sign = context.seenParts.contains(part) ? "  ✓" : ""
            let room = max(0, text.size.columns - number.count - 2 - TerminalText.width(sign))
            let title = TerminalText.truncated(TerminalText.visible(part.title), toWidth: room)
            lines.append([StyledText(number + "  ", .dim), StyledText(title), StyledText(sign)])
        }
        return lines
    }

    private func wrapped(_ text: String, _ style: CellStyle = CellStyle()) -> [Line] {
        StyledText(TerminalText.visible(text), style).lines(width: self.text.size.columns)
    }

    private func title(_ movie: Movie, _ context: FilmContext, _ accent: CellColour) -> [Line] {
        let hits = context.hits
        var lines = wrapped(movie.title, CellStyle(foreground: accent, attributes: .bold))
            .marked(hits, .title)
        if let original = movie.originalTitle {
            lines += wrapped(original, .dim).marked(hits, .originalTitle)
        }
        if let change = context.change {
            let note = change == .new ? "+ new since the refresh" : "~ changed since the refresh before"
            lines += wrapped(note, CellStyle(foreground: context.changed, attributes: .bold))
        }
        return lines + [[]]
    }

    private func facts(_ movie: Movie, _ hits: FilterHits, _ accent: CellColour) -> [Line] {
        var lines = MovieText.namedFacts(movie).flatMap { name, value, member in
            fact(name, value).map { line in
                [line[0]] + line.dropFirst().flatMap { $0.marked(hits, member) }
            }
        }
        if let rating = movie.rating, movie.votes > 0 {
            let votes = movie.votes == 1 ? "1 vote" : "\(movie.votes) votes"
            lines += score("Rating", rating, ", \(votes)", accent)
        }
        if let score = movie.score { lines += self.score("Score", score, "", accent) }
        return lines
    }

    /// The person's own rating and marks.
    private func own(_ marks: FilmMarks, _ accent: CellColour) -> [Line] {
        var lines = marks.rating.map { score("Yours", Double($0), "", accent) } ?? []
        let names = [(marks.isSeen, "seen"), (marks.isFavourite, "favourite"), (marks.isToWatch, "to watch")]
            .filter(\.0).map(\.1)
        if !names.isEmpty {
            lines += fact("Marks", MovieText.signs(of: marks) + "  " + names.joined(separator: ", "))
        }
        return lines
    }

    /// A fact beside its name, on as many lines as it takes.
    private func fact(_ name: String, _ value: String) -> [Line] {
        StyledText(value).lines(behind: name, names: Self.names, width: text.size.columns)
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
                StyledText(TerminalText.padded(name, toWidth: Self.names), .dim),
                StyledText(bar, CellStyle(foreground: accent)),
                StyledText(String(repeating: "─", count: width - (filled + 1) / 2), .dim),
                StyledText("  " + number),
            ]
        ]
    }

    // MARK: The films around it

    private func others(_ context: FilmContext) -> [Line] {
        let (films, count) = context.sameDirector
        guard let director = films.first?.director else { return [] }
        let more = count - films.count
        return wrapped("More by " + director, .dim) + films.map { film($0) }
            + (more > 0 ? wrapped("and \(more) more", .dim) : [])
    }

    private func neighbours(_ context: FilmContext) -> [Line] {
        let both = [("Previous", context.previous), ("Next", context.next)]
        let lines = both.compactMap { name, movie in movie.map { film($0, named: name) } }
        return lines.isEmpty || context.sameDirector.films.isEmpty ? lines : [[]] + lines
    }

    /// `Next      Nosferatu  1922`, or `1922  Nosferatu`.
    private func film(_ movie: Movie, named name: String? = nil) -> Line {
        let year = movie.year.map(String.init) ?? ""
        let before =
            name.map { TerminalText.padded($0, toWidth: Self.names) }
            ?? TerminalText.padded(year, toWidth: 4, alignment: .trailing) + "  "
        let after = name == nil || year.isEmpty ? "" : "  " + year
        let room = max(0, text.size.columns - before.count - after.count)
        let title = TerminalText.truncated(TerminalText.visible(movie.title), toWidth: room)
        return [StyledText(before, .dim), StyledText(title), StyledText(after, .dim)]
    }
}

/// What a film's page tells besides the film's own facts.
struct FilmContext {
    /// How a refresh changed the film; nil if it did not.
    var change: FilmSet.Change?
    /// Why its poster failed; nil if it did not.
    var failure: PosterFailure?
    /// The person's marks.
    var marks = FilmMarks()
    /// The episodes that are seen.
    var seenParts: Set<FilmPart> = []
    /// Some other films by its director, and how many there are in all.
    var sameDirector: (films: [Movie], count: Int) = ([], 0)
    /// Its neighbours in the present order; nil at the ends, and where the list shows them.
    var previous: Movie?
    var next: Movie?
    /// Whether Enter plays the film, if it can be played.
    var isPlayedByEnter = false
    /// The keys that the page names.
    var keys = BrowserKeys()
    /// What must stand beside the films; nil for nothing.
    var attribution: String?
    /// What the filter has found.
    var hits = FilterHits(words: FilterWords(""), colour: .standard)
    /// The colour of films that a refresh has added or changed.
    var changed = CellColour.standard
}
