/// Films found by what a person types: every word must stand somewhere in title, original title, director or year,
/// case and accents aside. The texts are folded once, so that each letter typed costs a scan and no more.
public struct FilmIndex: Sendable {
    private let texts: [String]

    /// An index of these films; its numbers are theirs.
    public init(_ movies: [Movie]) {
        texts = movies.map { movie in
            let words = [movie.title, movie.originalTitle ?? "", movie.director, "\(movie.year)"]
            return FoldedText.fold(words.joined(separator: " "))
        }
    }

    /// The numbers of the films that match, in order; all of them for an empty text.
    public func matches(_ text: String) -> [Int] {
        let words = FoldedText.fold(text).split(separator: " ")
        return texts.indices.filter { index in words.allSatisfy { texts[index].contains($0) } }
    }
}
