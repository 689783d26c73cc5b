/// Finds films while a person types. Every word must occur in titles, director, year, country or genres or, from three
/// letters on, in the overview, and every condition must hold; case and accents are ignored. All text is folded once into
/// one buffer, so that each keystroke only scans it.
public struct FilmIndex: Sendable {
    /// The films that match, as indices.
    public struct Hits: Sendable, Hashable {
        /// The films in groups, the best first; each group in the catalogue's order.
        public let groups: [[Int]]
        /// Whether no film has the words. The films then have titles of similar spelling, the nearest first.
        public let areSimilar: Bool

        init(_ groups: [[Int]], areSimilar: Bool = false) {
            self.groups = groups.filter { !$0.isEmpty }
            self.areSimilar = areSimilar
        }
    }

    /// The shortest words whose spelling may be wrong, in characters together: shorter ones resemble too much.
    private static let shortestMistyped = 3

    private let movies: [Movie]
    /// The folded texts of all films, concatenated, in UTF-8.
    private var texts: [UInt8] = []
    /// The ends of each film's texts, in the order of `fields`. Each text begins at the end of the one before.
    private var ends: [Int] = []

    /// The searched members: short ones, then texts of several lines.
    private static let fields =
        FilmMember.searched.filter { !$0.isLong } + FilmMember.searched.filter(\.isLong)
    private static let shortFields = fields.count { !$0.isLong }
    /// Of each member, its number in `fields`.
    private static let number = Dictionary(uniqueKeysWithValues: zip(fields, fields.indices))

    /// Creates an index; results are indices into `movies`.
    public init(_ movies: [Movie]) {
        self.movies = movies
        ends.reserveCapacity(movies.count * Self.fields.count)
        for movie in movies { Self.append(movie, &texts, &ends) }
    }

    private static func append(_ movie: Movie, _ texts: inout [UInt8], _ ends: inout [Int]) {
        for field in fields {
            if let text = movie.text(field) {
                texts.append(UInt8(ascii: " "))
                FoldedText.append(text, to: &texts)
            }
            ends.append(texts.count)
        }
    }

    /// Where the texts of some members are, whose numbers in `fields` follow one another.
    private func place(_ fields: Range<Int>, of film: Int) -> Range<Int> {
        let first = film * Self.fields.count
        let start = first + fields.lowerBound
        return (start == 0 ? 0 : ends[start - 1])..<ends[first + fields.upperBound - 1]
    }

    /// The numbers of title and original title, which are the first.
    private static let titles = 0..<2

    /// The best matches: first films with exactly this title, then films with the words in a title, then others. If no
    /// film has the words, the film with this id; otherwise at most five films whose titles `Catalogue.match` would
    /// suggest. The conditions hold for all of them.
    public func hits(_ words: FilterWords) -> Hits {
        let name = words.name
        let found = matchesOfText(words)
        if name.isEmpty { return Hits([meeting(words, among: found)]) }
        guard found.isEmpty else {
            let matches = meeting(words, among: found)
            let titles = titleMatches(words, among: matches)
            // Each text of the index begins with a space.
            let whole = Array(" \(name)".utf8)
            let exact = titles.filter { film in
                Self.titles.contains { texts[place($0..<$0 + 1, of: film)].elementsEqual(whole) }
            }
            return Hits([exact, Self.others(titles, than: exact), Self.others(matches, than: titles)])
        }
        let candidates = meeting(words, among: movies.indices)
        if let film = candidates.first(where: { movies[$0].id == name }) { return Hits([[film]]) }
        guard name.count >= Self.shortestMistyped else { return Hits([]) }
        let similar = Suggestions.films(like: name, among: candidates.map { ($0, movies[$0]) })
        return Hits(similar.map { [$0] }, areSimilar: !similar.isEmpty)
    }

    /// The elements of `all`, which is in order, without those of a part of it.
    private static func others(_ all: [Int], than part: [Int]) -> [Int] {
        let part = Set(part)
        return part.isEmpty ? all : all.filter { !part.contains($0) }
    }

    /// The indices of the matching films, in order; all films if nothing is required. No spelling is forgiven.
    public func matches(_ words: FilterWords) -> [Int] { meeting(words, among: matchesOfText(words)) }

    /// The matches that have every word in a title.
    public func titleMatches(_ words: FilterWords, among matches: [Int]) -> [Int] {
        films(in: words.words, among: matches) { _ in Self.titles }
    }

    /// The films that have the words which are not conditions on other fields.
    private func matchesOfText(_ words: FilterWords) -> [Int] {
        let inOverview = words.words.map(FilterWords.isForOverview)
        let found = films(in: words.words, among: movies.indices) { word in
            0..<(inOverview[word] ? Self.fields.count : Self.shortFields)
        }
        if words.titleWords.isEmpty { return found }
        return films(in: words.titleWords, among: found) { _ in Self.titles }
    }

    /// The candidates for which the conditions hold.
    private func meeting(_ words: FilterWords, among candidates: some Sequence<Int>) -> [Int] {
        let conditions = words.conditions
        let numbers = conditions.map { Self.number[$0.field] ?? 0 }
        return films(in: conditions.map(\.word), among: candidates) { word in
            numbers[word]..<numbers[word] + 1
        }.filter { film in
            words.years.allSatisfy { years in movies[film].year.map(years.contains) ?? false }
        }
    }

    /// The candidates whose texts contain every word in the range given for that word.
    /// - Parameter fields: takes the word's index, and returns the numbers of members.
    private func films(
        in words: [[UInt8]], among candidates: some Sequence<Int>, _ fields: (Int) -> Range<Int>
    ) -> [Int] {
        if words.isEmpty { return Array(candidates) }
        let texts = texts.span
        let fields = words.indices.map(fields)
        var matches: [Int] = []
        for film in candidates {
            var hasAll = true
            for (number, word) in words.enumerated() where hasAll {
                hasAll = Self.holds(texts, in: place(fields[number], of: film), word.span)
            }
            if hasAll { matches.append(film) }
        }
        return matches
    }

    /// Whether a part of the texts contains a word. A byte comparison suffices: in UTF-8 no character begins within
    /// another. Eight places at a time are passed over where none has both the word's first and its last byte.
    private static func holds(_ texts: Span<UInt8>, in range: Range<Int>, _ word: Span<UInt8>) -> Bool {
        guard word.count > 0 else { return true }
        let lowest: UInt64 = 0x0101_0101_0101_0101
        let (first, final) = (lowest &* UInt64(word[0]), lowest &* UInt64(word[word.count - 1]))
        let last = range.upperBound - word.count
        var start = range.lowerBound
        while start <= last {
            if start + word.count + 7 <= texts.count {
                // A byte is zero where both are equal. Safe: the places and their ends are in the texts.
                let differences =
                    unsafe (texts.bytes.unsafeLoadUnaligned(
                        fromUncheckedByteOffset: start, as: UInt64.self) ^ first)
                    | (texts.bytes.unsafeLoadUnaligned(
                        fromUncheckedByteOffset: start + word.count - 1, as: UInt64.self) ^ final)
                if (differences &- lowest) & ~differences & (lowest << 7) == 0 {
                    start += 8
                    continue
                }
            }
            for place in start...min(start + 7, last) {
                var length = 0
                while length < word.count, texts[place + length] == word[length] { length += 1 }
                if length == word.count { return true }
            }
            start += 8
        }
        return false
    }
}

/// The words typed to filter films; case and accents are ignored. Each must occur somewhere in a film. A word behind the
/// name of a field must occur in that field, up to the next name; the years are a year or a range:
///
///     metropolis
///     moon director: méliès year: 1902
///     genre:horror year: 1920..1929 title: golem
///
/// Everything must hold.
public struct FilterWords: Sendable, Hashable {
    /// The fewest letters of a word that is searched in overviews: most overviews contain shorter ones.
    private static let shortestInOverview = 3

    /// A word that one field must have.
    struct Condition: Sendable, Hashable {
        let field: FilmMember
        let word: [UInt8]
    }

    /// The names of fields in a text, each followed by a colon.
    private static let names: [Substring: FilmMember] = [
        "title": .title, "director": .director, "genre": .genres, "year": .year,
    ]

    /// The words that any field may have. Folded, in UTF-8.
    let words: [[UInt8]]
    /// The words that a title or an original title must have.
    private(set) var titleWords: [[UInt8]] = []
    /// The words that other fields must have.
    private(set) var conditions: [Condition] = []
    /// The ranges that must all contain the year.
    package private(set) var years: [ClosedRange<Int>] = []
    /// Why a year is not used; nil if nothing is wrong.
    public private(set) var problem: FieldProblem?

    /// Splits a text into words and fields. A field without words is not used.
    public init(_ text: String) {
        var words: [[UInt8]] = []
        var values: [(field: FilmMember, text: String)] = []
        for word in FoldedText.fold(text).split(separator: " ") {
            if let colon = word.firstIndex(of: ":"), let field = Self.names[word[..<colon]] {
                values.append((field, String(word[colon...].dropFirst())))
            } else if let last = values.indices.last, Self.goesOn(values[last], with: word) {
                values[last].text += " " + word
            } else {
                words.append(Array(word.utf8))
            }
        }
        self.words = words
        for value in values where value.text.contains(where: { $0 != " " }) {
            require(value.text, in: value.field)
        }
    }

    /// Whether a word belongs to the field before it: a year is one word, or a range with spaces.
    private static func goesOn(_ value: (field: FilmMember, text: String), with word: Substring) -> Bool {
        value.field != .year || value.text.allSatisfy { $0 == " " } || word.hasPrefix("..")
            || value.text.hasSuffix("..") && word.first?.isNumber == true
    }

    /// Adds a condition: the member must have every word of `text`. `title` means either title. The text of `year` is
    /// `1927`, `1920..1929`, `1920..` or `..1929`, with years from 1800 to 9999; `problem` says what is wrong with another.
    public mutating func require(_ text: String, in field: FilmMember) {
        let words = FoldedText.fold(text).split(separator: " ")
        switch field {
        case .year:
            let typed = words.joined()
            if let range = Self.years(typed) {
                years.append(range)
            } else {
                problem = FieldProblem(
                    member: FilmMember.year.name,
                    detail: "needs 1927, 1920..1929, 1920.. or ..1929, not \"\(typed)\"")
            }
        case .title, .originalTitle: titleWords += words.map { Array($0.utf8) }
        default: conditions += words.map { Condition(field: field, word: Array($0.utf8)) }
        }
    }

    /// The years of a text; nil if it is not a year or a range in order.
    private static func years(_ text: String) -> ClosedRange<Int>? {
        let all = FilmMember.years
        func year(_ text: Substring, else bound: Int) -> Int? {
            if text.isEmpty { return bound }
            guard text.allSatisfy({ $0.isASCII && $0.isNumber }), let year = Int(text) else { return nil }
            return all.contains(year) ? year : nil
        }
        guard !text.isEmpty, text != ".." else { return nil }
        guard let dots = text.firstRange(of: "..") else { return year(text[...], else: 0).map { $0...$0 } }
        guard let first = year(text[..<dots.lowerBound], else: all.lowerBound),
            let last = year(text[dots.upperBound...], else: all.upperBound), first <= last
        else { return nil }
        return first...last
    }

    /// Whether nothing is required, so that every film matches.
    public var isEmpty: Bool { words.isEmpty && titleWords.isEmpty && conditions.isEmpty && years.isEmpty }

    /// The words of all fields but the year. Folded.
    package var all: [String] {
        (words + titleWords + conditions.map(\.word)).map { String(decoding: $0, as: UTF8.self) }
    }

    /// Whether words belong to fields.
    package var hasFields: Bool { !titleWords.isEmpty || !conditions.isEmpty }

    /// Whether the fields have their words, whatever the words of no field and the years are.
    package func fieldsFit(_ movie: Movie) -> Bool {
        func has(_ word: [UInt8], _ fields: [FilmMember]) -> Bool {
            fields.contains { field in
                movie.text(field).map { FoldedText.fold($0).utf8.firstRange(of: word) != nil } ?? false
            }
        }
        return titleWords.allSatisfy { has($0, [.title, .originalTitle]) }
            && conditions.allSatisfy { has($0.word, [$0.field]) }
    }

    /// The words that may name a film: those of no field, and those of titles. Folded.
    var name: String {
        (words + titleWords).map { String(decoding: $0, as: UTF8.self) }.joined(separator: " ")
    }

    /// The ranges of the words in the text of a field, or in a part of it: whole characters, in order, not touching.
    public func ranges(in text: String, of field: FilmMember) -> [Range<String.Index>] {
        isEmpty ? [] : FoldedText.ranges(of: words(in: field), in: text)
    }

    /// The words of no field that occur in neither title.
    public func missing(fromTitlesOf movie: Movie) -> FilterWords {
        let titles = [movie.title, movie.originalTitle].compactMap(\.self)
        return FilterWords(
            words: words.filter { word in
                titles.allSatisfy { FoldedText.ranges(of: [word], in: $0).isEmpty }
            })
    }

    private init(words: [[UInt8]]) { self.words = words }

    /// For each word the most significant field that contains it, without repetitions.
    public func fields(of movie: Movie) -> [FilmMember] {
        var fields: [FilmMember] = []
        for word in words {
            let field = FilmMember.searched.first { field in
                (!field.isLong || Self.isForOverview(word))
                    && movie.text(field).map { !FoldedText.ranges(of: [word], in: $0).isEmpty } == true
            }
            if let field, !fields.contains(field) { fields.append(field) }
        }
        return fields
    }

    /// The words that are searched in a field.
    private func words(in field: FilmMember) -> [[UInt8]] {
        let any = field.isLong ? words.filter(Self.isForOverview) : words
        if [.title, .originalTitle].contains(field) { return any + titleWords }
        return any + conditions.filter { $0.field == field }.map(\.word)
    }

    /// Whether a word is searched in overviews.
    fileprivate static func isForOverview(_ word: [UInt8]) -> Bool {
        String(decoding: word, as: UTF8.self).count >= shortestInOverview
    }
}

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
        var folded: [UInt8] = []
        append(text, to: &folded)
        return String(decoding: folded, as: UTF8.self)
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
