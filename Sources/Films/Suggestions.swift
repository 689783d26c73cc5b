/// Suggestions for a mistyped word: the nearest candidates by edit distance.
package enum Suggestions {
    /// Longer words get no suggestions, because the time grows with the square of the length.
    package static let maximumLength = 64

    /// The number of insertions, deletions, substitutions and swaps of neighbours between two texts (optimal string
    /// alignment, the restricted Damerau-Levenshtein distance), ignoring case and accents. Nil above `limit`.
    package static func distance(_ first: String, _ second: String, atMost limit: Int) -> Int? {
        distance(
            Array(FoldedText.fold(first).unicodeScalars), FoldedText.fold(second)[...].unicodeScalars,
            atMost: limit)
    }

    /// The candidates near `text`, at most `count`, nearest first and then in the given order. The limit is one error
    /// in three characters, and at least two from four characters on.
    package static func nearest(to text: String, among candidates: [String], count: Int = 5) -> [String] {
        nearest(to: FoldedText.fold(text), among: candidates, count: count) { [FoldedText.fold($0)[...]] }
    }

    /// The same for values with several names each: the nearest name counts. All text is folded.
    static func nearest<Value>(
        to text: String, among values: [Value], count: Int, names: (Value) -> [Substring]
    ) -> [Value] {
        let wanted = Array(text.unicodeScalars)
        guard !wanted.isEmpty, wanted.count <= maximumLength else { return [] }
        let reach = wanted.count < 4 ? 1 : max(2, wanted.count / 3)
        let ranked = values.enumerated().compactMap {
            index, value -> (distance: Int, index: Int, value: Value)? in
            let distances = names(value).compactMap { distance(wanted, $0.unicodeScalars, atMost: reach) }
            return distances.min().map { ($0, index, value) }
        }
        return ranked.sorted { ($0.distance, $0.index) < ($1.distance, $1.index) }.prefix(count).map(\.value)
    }

    /// The films whose id, title or original title, or a part of a title, is near `text`: at most five, the nearest
    /// first. Each is given with a value that stands for it in the result.
    /// - Parameter text: folded.
    static func films<Value>(like text: String, among films: [(value: Value, movie: Movie)]) -> [Value] {
        let words = text.split(separator: " ").count
        return nearest(to: text, among: films, count: 5) { _, movie in
            [FoldedText.fold(movie.id)[...]]
                + [movie.title, movie.originalTitle].compactMap { $0.map(FoldedText.fold) }
                .flatMap { runs(of: words, in: $0) }
        }.map(\.value)
    }

    /// The whole title and every run of `count` words in it, because people type a part of a title.
    private static func runs(of count: Int, in title: String) -> [Substring] {
        let words = title.split(separator: " ")
        guard words.count > count else { return [title[...]] }
        return [title[...]]
            + zip(words, words.dropFirst(count - 1)).map { title[$0.startIndex..<$1.endIndex] }
    }

    private static func distance(
        _ first: [Unicode.Scalar], _ other: Substring.UnicodeScalarView, atMost limit: Int
    ) -> Int? {
        let second = Array(other.prefix(first.count + limit + 1))
        guard abs(first.count - second.count) <= limit else { return nil }
        var beforeLast: [Int] = []
        var last = Array(0...second.count)
        for row in first.indices {
            var current = [row + 1]
            current.reserveCapacity(second.count + 1)
            for column in second.indices {
                let isSame = first[row] == second[column]
                var cost = min(last[column + 1] + 1, current[column] + 1, last[column] + (isSame ? 0 : 1))
                if row > 0, column > 0, first[row] == second[column - 1], first[row - 1] == second[column] {
                    cost = min(cost, beforeLast[column - 1] + 1)
                }
                current.append(cost)
            }
            // A swap uses the row before the last: when both rows exceed the limit, the distance does.
            if min(current.min() ?? 0, last.min() ?? 0) > limit { return nil }
            beforeLast = last
            last = current
        }
        guard let distance = last.last, distance <= limit else { return nil }
        return distance
    }
}
