import Glibc
import LazyImages
import MovieCatalogue

/// `marquee remove FILM`: removes a film from a library or a service.
enum RemoveCommand: Command {
    static let specification = CommandSpecification(
        name: "remove", operands: "FILM", operandCount: 1...1,
        summary: "remove a film from a library or a service",
        examples: [
            ("marquee remove nosferatu", "asks first"),
            ("marquee remove nosferatu --yes", "for scripts, without the question"),
        ],
        options: [Option(name: "yes", letter: "y", help: "remove without confirmation"), FilmWire.option])

    static func run(_ session: Session) async throws -> ExitStatus {
        let isSure = session.arguments.has("yes")
        guard isSure || isatty(STDIN_FILENO) == 1 && isatty(STDERR_FILENO) == 1 else {
            throw UsageError("remove asks before it removes, but there is no terminal; add --yes")
        }
        return try await session.withFilms(try FilmWire.named(session.arguments)) { client in
            let film = try await session.film(session.arguments.operands[0], of: client)
            if !isSure, try await !isConfirmed(film, session) {
                session.output.note("nothing was removed")
                return .nothingDone
            }
            guard try await client.remove(film) else {
                throw Failure(
                    "\(film.name) has changed since; run the command again", code: "changed-meanwhile")
            }
            if session.settings.wantsJSON {
                session.output.json(JSONText(members: film.document.members))
            } else {
                session.output.line("removed \(film.name)")
            }
            return .done
        }
    }

    private static func isConfirmed(_ film: FilmClient.Film, _ session: Session) async throws -> Bool {
        session.output.question("remove \(film.name), its poster and its votes? [y/N] ")
        let answer = try await InputLines().next()?.lowercased() ?? ""
        return answer == "y" || answer == "yes"
    }
}
