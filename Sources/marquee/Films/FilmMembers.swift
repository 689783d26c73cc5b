import Films

/// The options for a film's facts, and the members that they set.
enum FilmMembers {
    private static let members = FilmMember.allCases.filter { $0.definition.option != nil }

    /// The options of `add` and `edit`: the usual ones first, and last the poster, which may be a file.
    static let options =
        (members.filter(isUsual) + members.filter { !isUsual($0) && $0 != .poster } + [.poster])
        .compactMap { member in
            member.definition.option.map {
                Option(name: $0.name, value: $0.value, help: $0.help, isRepeatable: member.listElement != nil)
            }
        }

    private static func isUsual(_ member: FilmMember) -> Bool { member.definition.option?.isUsual == true }

    /// The members of the given options, in the order of a film's members; null for an empty value. The poster is not
    /// among them: it may be a file.
    static func members(_ arguments: Arguments) throws(UsageError) -> [JSONText.Member] {
        var found: [JSONText.Member] = []
        for member in members where member != .poster {
            guard let option = member.definition.option, let text = arguments.value(option.name) else {
                continue
            }
            let texts = arguments.values(option.name).filter { !$0.isEmpty }
            let isEmpty = member.listElement == nil ? text.isEmpty : texts.isEmpty
            let value: JSONText =
                switch member.kind {
                case _ where isEmpty: .null
                case .texts: JSONText(elements: texts.map { JSONText($0) })
                case .whole: try arguments.number(option.name, in: 0...Int.max).map { JSONText($0) } ?? .null
                case .number: JSONText(try number(text, option.name))
                case .required, .text, .paragraphs, .address: JSONText(text)
                }
            found.append(JSONText.Member(name: member.name, value: value))
        }
        return found
    }

    private static func number(_ text: String, _ option: String) throws(UsageError) -> Double {
        guard let score = number(text) else {
            throw UsageError("--\(option) needs a number from 0 to 10, not \"\(text)\"")
        }
        return score
    }

    /// A score or a vote as typed, 0 to 10; nil for any other text.
    static func number(_ text: String) -> Double? {
        Double(text.replacing(",", with: ".")).flatMap { Movie.scores.contains($0) ? $0 : nil }
    }
}
