package import Films

/// Completes the films of one library by those of another: what a film lacks comes from the film with one of its ids in a
/// database of films, else from the one with its title and year, unless the two have different ids in one database.
package struct FilmJoin: Sendable {
    private var films: [FilmDocument] = []
    /// The film by an id, such as `imdb tt0013442`; nil if several have it.
    private var byID: [String: Int?] = [:]
    /// The films by each of their titles, folded.
    private var byTitle: [String: [Int]] = [:]

    /// The members that are taken: not those which name the film or belong to its library.
    private static let members = FilmMember.allCases.filter {
        ![.id, .title, .media, .createdAt, .updatedAt].contains($0)
    }

    package init() {}

    /// Adds a film of the other library.
    /// - Parameter document: its addresses must be absolute.
    package mutating func add(_ document: FilmDocument) {
        let number = films.count
        films.append(document)
        for id in Self.ids(of: document) { byID[id] = byID[id] == nil ? .some(number) : .some(nil) }
        for title in Self.titles(of: document) { byTitle[title, default: []].append(number) }
    }

    /// The film with what it lacks; nil if no film is the same, or it lacks nothing.
    package func completed(_ document: FilmDocument) -> FilmDocument? {
        guard let other = match(document) else { return nil }
        var whole = document
        for member in Self.members where Self.isMissing(document[member.name]) {
            if let value = other[member.name], !Self.isMissing(value) { whole[member.name] = value }
        }
        // A mean without its votes, or votes without a mean, says nothing.
        if Self.isMissing(document["rating"]) != Self.isMissing(document["votes"]) {
            (whole["rating"], whole["votes"]) = (document["rating"], document["votes"])
        }
        return whole == document ? nil : whole
    }

    private func match(_ document: FilmDocument) -> FilmDocument? {
        for id in Self.ids(of: document) { if let number = byID[id] ?? nil { return films[number] } }
        let year = document["year"]?.number
        for title in Self.titles(of: document) {
            let found = (byTitle[title] ?? []).filter { !Self.differ(films[$0], document) }
            let same = year == nil ? found : found.filter { films[$0]["year"]?.number == year }
            if Set(same).count == 1 { return films[same[0]] }
        }
        return nil
    }

    /// Whether two films have different ids in one database of films.
    private static func differ(_ one: FilmDocument, _ other: FilmDocument) -> Bool {
        (one["ids"]?.members ?? []).contains { member in
            let same = other["ids"]?.members?.first { $0.name == member.name }
            guard let id = member.value.string, let otherID = same?.value.string else { return false }
            return id != otherID
        }
    }

    private static func ids(of document: FilmDocument) -> [String] {
        (document["ids"]?.members ?? []).compactMap { member in
            member.value.string.map { "\(member.name) \($0)" }
        }
    }

    private static func titles(of document: FilmDocument) -> Set<String> {
        let titles = [document["title"]?.string, document["originalTitle"]?.string]
        return Set(titles.compactMap { $0.map(FoldedText.fold) }.filter { !$0.isEmpty })
    }

    private static func isMissing(_ value: JSONText?) -> Bool {
        guard let value, !value.isNull else { return true }
        return value.string?.isEmpty ?? value.elements?.isEmpty ?? false
    }
}
