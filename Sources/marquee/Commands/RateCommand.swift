import Films
import FoundationEssentials

/// `marquee rate FILM 8.5`: sets a vote on a film of a library or a service.
enum RateCommand: Command {
    static let specification = CommandSpecification(
        name: "rate", operands: "FILM 0-10", operandCount: 1...2,
        summary: "vote on a film of a library or a service",
        examples: [
            ("marquee rate metropolis 8.5", "your vote; a later one replaces it"),
            ("marquee rate metropolis 7 --as anna", "another person's vote"),
            ("marquee rate metropolis --remove", "remove your vote"),
        ],
        options: [
            Option(name: "as", value: "NAME", help: "the voter's name (default: yours on this machine)"),
            Option(name: "remove", help: "remove the vote"),
            FilmWire.option,
        ])

    static func run(_ session: Session) async throws -> ExitStatus {
        let arguments = session.arguments
        let value = try vote(arguments)
        let rater = arguments.value("as") ?? userName
        if rater.isEmpty { throw UsageError("rate does not know the voter's name; give it with --as NAME") }
        return try await session.withFilms(try arguments.choice("wire")) { client in
            let film = try await session.film(arguments.operands[0], of: client)
            // A missing vote counts as removed.
            let expected: Set = value == nil ? [404] : []
            _ = try await client.perform(.rate(film, by: rater, value), expecting: expected)
            let now = try await client.film(film.id) ?? film
            // Removing a vote changes the film's tag; a service without tags tells only their number.
            if value == nil, now.tag == film.tag,
                now.document["votes"]?.number == film.document["votes"]?.number
            {
                throw Failure(
                    "\(rater) has no vote on \(now.name); nothing was removed", code: "no-such-vote")
            }
            return session.report(now, "\(now.name): \(standing(of: now.document))")
        }
    }

    /// The user's name: `USER`, else the system's.
    private static var userName: String {
        let variable = ProcessInfo.processInfo.environment["USER"] ?? ""
        return variable.isEmpty ? ProcessInfo.processInfo.userName : variable
    }

    /// The vote; nil to remove it.
    private static func vote(_ arguments: Arguments) throws(UsageError) -> Double? {
        if arguments.has("remove") {
            if arguments.operands.count > 1 {
                throw UsageError("--remove needs no number; leave out \"\(arguments.operands[1])\"")
            }
            return nil
        }
        guard arguments.operands.count > 1 else {
            throw UsageError("rate needs FILM and a number from 0 to 10, or FILM --remove")
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
