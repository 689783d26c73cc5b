package import Films
import FoundationEssentials
import TerminalGraphics

/// A film as text that is safe for a terminal.
package enum MovieText {
    /// `1927 · Fritz Lang · ★ 8.9`
    package static func facts(_ movie: Movie) -> String {
        let parts = [movie.year.map(String.init), movie.maker, score(movie)]
        return TerminalText.visible(parts.compactMap(\.self).joined(separator: " · "))
    }

    /// `★ 8.9`; nil without votes and score.
    static func score(_ movie: Movie) -> String? { movie.rankingScore.map(stars) }

    /// `★ 8.9`
    static func stars(_ score: Double) -> String { "★ " + score.formatted(decimals: 1) }

    /// `★ 8.9`, as wide as `★ 10.0`, so that scores line up in a column.
    static func scoreColumn(_ movie: Movie) -> String {
        TerminalText.padded(score(movie) ?? "", toWidth: scoreWidth, alignment: .trailing)
    }

    static let scoreWidth = 6

    /// The facts besides titles, overview and score: a name, the text and the member.
    static func namedFacts(_ movie: Movie) -> [(name: String, value: String, member: FilmMember)] {
        let parts = movie.episodeCount.map { ("Episodes", "\($0)", FilmMember.title) }
        let facts = [.director] + FilmMember.facts.filter { $0 != .director } + [.genres, .media]
        return [parts].compactMap(\.self)
            + facts.compactMap { member in
                movie.text(member).map { text in
                    switch member {
                    case .minutes: ("Length", text == "1" ? "1 minute" : "\(text) minutes", member)
                    case .genres: ("Genre", TerminalText.visible(text), member)
                    case .media: ("File", TerminalText.visible(path(of: text)), member)
                    default: (member.definition.label, TerminalText.visible(text), member)
                    }
                }
            }
    }

    /// The path of a file's address; any other address as it is.
    package static func path(of media: String) -> String {
        guard let url = URL(string: media), ["file", nil].contains(url.scheme?.lowercased()) else {
            return media
        }
        return url.path(percentEncoded: false)
    }

    /// `8.3 of 10 by 2 votes`; nil without votes.
    package static func votes(_ movie: Movie) -> String? {
        guard let rating = movie.rating, movie.votes > 0 else { return nil }
        return "\(rating.formatted(decimals: 1)) of 10 by "
            + (movie.votes == 1 ? "1 vote" : "\(movie.votes) votes")
    }

    /// The beginning of the overview, in at most `lines` lines; the last one shows that the text is cut.
    package static func overview(_ movie: Movie, width: Int, lines: Int) -> [String] {
        guard let overview = movie.overview, lines > 0, width > 0 else { return [] }
        // Text that cannot fit is not worth wrapping.
        let beginning = String(overview.prefix(width * (lines + 1)))
        let wrapped = TerminalText.wrapped(TerminalText.visible(beginning), toWidth: width)
        guard wrapped.count > lines else { return wrapped }
        return wrapped.prefix(lines - 1)
            + [TerminalText.truncated(wrapped[lines - 1] + " …", toWidth: width)]
    }

    /// The signs of a person's marks: seen, favourite, to watch. Empty without marks.
    static func signs(of marks: FilmMarks) -> String {
        (marks.isSeen ? "✓" : "") + (marks.isFavourite ? "♥" : "") + (marks.isToWatch ? "▸" : "")
    }
}
