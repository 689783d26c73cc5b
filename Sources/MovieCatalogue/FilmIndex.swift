/// Films found by what a person types: every word must stand somewhere in title, original title, director or year,
/// case and accents aside. The texts are folded once, into one piece of memory, so that each letter typed costs a scan of
/// that and no more.
public struct FilmIndex: Sendable {
    /// The folded texts of all films, in UTF-8, one after the other.
    private var texts: [UInt8] = []
    /// Where each film's text ends, and the next one's begins.
    private var ends: [Int] = []

    /// An index of these films; its numbers are theirs.
    public init(_ movies: [Movie]) {
        ends.reserveCapacity(movies.count)
        for movie in movies {
            FoldedText.append(movie.title, to: &texts)
            for text in [movie.originalTitle, movie.director, movie.year.map(String.init)].compactMap(\.self)
            {
                texts.append(UInt8(ascii: " "))
                FoldedText.append(text, to: &texts)
            }
            ends.append(texts.count)
        }
    }

    /// The numbers of the films that match, in order; all of them for an empty text.
    public func matches(_ text: String) -> [Int] {
        let words = FoldedText.fold(text).split(separator: " ").map { Array($0.utf8) }
        if words.isEmpty { return Array(ends.indices) }
        let texts = texts.span
        var matches: [Int] = []
        var start = 0
        for (film, end) in ends.enumerated() {
            let range = start..<end
            if words.allSatisfy({ Self.holds(texts, in: range, $0.span) }) { matches.append(film) }
            start = end
        }
        return matches
    }

    /// Whether a word stands in a part of the texts. UTF-8 is compared byte by byte: no character begins within another.
    private static func holds(_ texts: Span<UInt8>, in range: Range<Int>, _ word: Span<UInt8>) -> Bool {
        guard word.count > 0 else { return true }
        let first = word[0]
        let last = range.upperBound - word.count
        var start = range.lowerBound
        while start <= last {
            if texts[start] == first {
                var length = 1
                while length < word.count, texts[start + length] == word[length] { length += 1 }
                if length == word.count { return true }
            }
            start += 1
        }
        return false
    }
}
