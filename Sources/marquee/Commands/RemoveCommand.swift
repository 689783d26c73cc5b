/// `marquee remove FILM`: removes a film from a library or a service.
enum RemoveCommand: Command {
    static let specification = CommandSpecification(
        name: "remove", operands: "FILM", operandCount: 1...1,
        summary: "remove a film from a library or a service",
        examples: [
            ("marquee remove nosferatu", "asks first"),
            ("marquee remove nosferatu --yes", "for scripts, without the question"),
            ("marquee remove nosferatu --dry-run", "only say which film it would be"),
        ],
        options: Confirmation.options + [FilmWire.option])

    static func run(_ session: Session) async throws -> ExitStatus {
        let isRehearsal = session.arguments.has("dry-run")
        let isSure = try Confirmation.isNeedless(session.arguments, for: "remove")
        return try await session.withFilms(try session.arguments.choice("wire")) { client in
            let film = try await session.film(session.arguments.operands[0], of: client)
            if isRehearsal {
                session.output.line("would remove \(film.name)")
                return .done
            }
            let question = "remove \(film.name), its poster and its votes?"
            if !isSure, try await !Confirmation.isGiven(question, session.output) { return .nothingDone }
            guard try await client.remove(film) else {
                throw Failure(
                    "\(film.name) has changed since; run the command again", code: "changed-meanwhile")
            }
            return session.report(film, "removed \(film.name)")
        }
    }
}
