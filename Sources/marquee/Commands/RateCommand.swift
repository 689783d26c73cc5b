import FoundationEssentials
import LazyImages
import MovieCatalogue

/// `marquee rate FILM 8.5`: votes on a film of a library or a service.
enum RateCommand: Command {
    static let specification = CommandSpecification(
        name: "rate", operands: "FILM 0-10", operandCount: 1...2,
        summary: "vote on a film of a library or a service",
        examples: [
            ("marquee rate metropolis 8.5", "your vote; another one takes its place"),
            ("marquee rate metropolis 7 --as anna", "somebody else's"),
            ("marquee rate metropolis --remove", "takes your vote back"),
        ],
        options: [
            Option(name: "as", value: "NAME", help: "whose vote it is (default: $USER)"),
            Option(name: "remove", help: "take the vote back"),
            FilmWire.option,
        ])

    static func run(_ session: Session) async throws -> ExitStatus {
        let arguments = session.arguments
        let value = try vote(arguments)
        let rater = arguments.value("as") ?? ProcessInfo.processInfo.environment["USER"] ?? ""
        if rater.isEmpty { throw UsageError("rate does not know whose vote it is; say so with --as NAME") }
        return try await session.withFilms(try FilmWire.named(arguments)) { client in
            let film = try await session.film(arguments.operands[0], of: client)
            try await client.rate(film, by: rater, value)
            let now = try await client.film(film.id) ?? film
            if session.settings.wantsJSON {
                session.output.json(JSONText(members: now.document.members))
            } else {
                session.output.line("\(now.name): \(standing(of: now.document))")
            }
            return .done
        }
    }

    /// The vote; nil to take it back.
    private static func vote(_ arguments: Arguments) throws(UsageError) -> Double? {
        if arguments.has("remove") {
            if arguments.operands.count > 1 {
                throw UsageError("--remove takes the vote back: leave out \"\(arguments.operands[1])\"")
            }
            return nil
        }
        guard arguments.operands.count > 1 else {
            throw UsageError("rate wants FILM and a number from 0 to 10, or FILM --remove")
        }
        guard let value = FilmMembers.number(arguments.operands[1]) else {
            throw UsageError("a vote is a number from 0 to 10, not \"\(arguments.operands[1])\"")
        }
        return value
    }

    private static func standing(of film: FilmDocument) -> String {
        guard let rating = film["rating"]?.number, let votes = film["votes"]?.number, votes > 0 else {
            return "no votes"
        }
        return "\(rating.formatted(decimals: 1)) of 10 from \(votes == 1 ? "1 vote" : "\(Int(votes)) votes")"
    }
}
