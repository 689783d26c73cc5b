import MovieCatalogue

/// The options for a film's facts, and the members that they set.
enum FilmMembers {
    /// The options of `add` and `edit`.
    static let options: [Option] = [
        Option(name: "title", value: "T", help: "the title"),
        Option(name: "year", value: "Y", help: "the year of the first showing"),
        Option(name: "director", value: "D", help: "the director"),
        Option(name: "original-title", value: "T", help: "the title in the film's own language"),
        Option(name: "country", value: "C", help: "the country of production"),
        Option(name: "minutes", value: "N", help: "the length in minutes"),
        Option(name: "genre", value: "G", help: "a genre; give the option once for each", isRepeatable: true),
        Option(name: "overview", value: "TEXT", help: "a few sentences about it"),
        Option(name: "score", value: "0-10", help: "the catalogue's own score"),
        Option(name: "media", value: "FILE|URL", help: "the film's file, which the browser plays"),
        Option(name: "poster", value: "FILE|URL", help: "the poster: a picture file, or its address"),
    ]

    private static let texts = [
        ("title", "title"), ("director", "director"), ("original-title", "originalTitle"),
        ("country", "country"), ("overview", "overview"), ("media", "media"),
    ]

    /// The members of the given options, in the order of a film's members; null for an empty value.
    static func members(_ arguments: Arguments) throws(UsageError) -> [JSONText.Member] {
        var values: [String: JSONText] = [:]
        for (option, member) in texts {
            if let text = arguments.value(option) { values[member] = text.isEmpty ? .null : JSONText(text) }
        }
        for option in ["year", "minutes"] where arguments.has(option) {
            values[option] = try number(option, arguments)
        }
        if let text = arguments.value("score") { values["score"] = try score(text) }
        let genres = arguments.values("genre").filter { !$0.isEmpty }
        if arguments.has("genre") {
            values["genres"] = genres.isEmpty ? .null : JSONText(elements: genres.map { JSONText($0) })
        }
        let order = [
            "title", "originalTitle", "year", "director", "country", "minutes", "genres", "overview", "score",
            "media",
        ]
        return order.compactMap { name in values[name].map { JSONText.Member(name: name, value: $0) } }
    }

    private static func number(_ option: String, _ arguments: Arguments) throws(UsageError) -> JSONText {
        if arguments.value(option)?.isEmpty == true { return .null }
        return try arguments.number(option, in: 0...Int.max).map { JSONText($0) } ?? .null
    }

    private static func score(_ text: String) throws(UsageError) -> JSONText {
        if text.isEmpty { return .null }
        guard let score = number(text) else {
            throw UsageError("--score needs a number from 0 to 10, not \"\(text)\"")
        }
        return JSONText(score)
    }

    /// A score or a vote as typed, 0 to 10; nil for any other text.
    static func number(_ text: String) -> Double? {
        Double(text.replacing(",", with: ".")).flatMap { Movie.scores.contains($0) ? $0 : nil }
    }
}
