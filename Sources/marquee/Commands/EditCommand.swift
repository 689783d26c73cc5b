import Films
import LazyImages

/// `marquee edit FILM`: changes a film of a library or a service.
enum EditCommand: Command {
    static let specification = CommandSpecification(
        name: "edit", operands: "FILM", operandCount: 1...1,
        summary: "change a film of a library or a service",
        examples: [
            ("marquee edit nosferatu --year 1922", "by id, or by a part of the title"),
            ("marquee edit faust --country ''", "an empty value removes the country"),
            ("marquee edit faust --poster faust.jpg", "another poster"),
        ],
        options: FilmMembers.options + [FilmWire.option])

    static func run(_ session: Session) async throws -> ExitStatus {
        let arguments = session.arguments
        var members = try FilmMembers.members(arguments)
        if members.contains(where: { $0.name == "title" && $0.value.isNull }) {
            throw UsageError("a film needs a title; leave out --title to keep it")
        }
        var poster: PosterArgument?
        if let text = arguments.value("poster") { poster = try await PosterArgument(text, session) }
        switch poster {
        case .address(let address)?:
            members.append(JSONText.Member(name: "poster", value: JSONText(address)))
        case PosterArgument.none?: members.append(JSONText.Member(name: "poster", value: .null))
        case .file?, nil: break
        }
        guard !members.isEmpty || poster != nil else {
            throw UsageError("edit needs something to change, such as --year 1922; see marquee edit --help")
        }
        let patch = members.isEmpty ? nil : JSONText(members: members)
        return try await session.withFilms(try arguments.choice("wire")) { client in
            var film = try await session.film(arguments.operands[0], of: client)
            if let patch { film = try await change(film, patch, client) }
            switch poster {
            case .file(let file)?: film = try await client.setPoster(of: film, file)
            case .address?, PosterArgument.none?:
                await client.forgetPoster(of: film)
            case nil: break
            }
            return session.report(film, "changed \(film.name)")
        }
    }

    private static func change(
        _ film: FilmClient.Film, _ patch: JSONText, _ client: FilmClient
    ) async throws -> FilmClient.Film {
        let merge = FilmChange.merge(try FilmDocument(json: patch), into: film)
        if let changed = try await client.perform(merge, expecting: [412]).film { return changed }
        // If the answer to the first try was lost, the film has our own change already.
        if let now = try await client.film(film.id) {
            var wanted = now.document
            try wanted.merge(patch)
            if wanted == now.document { return now }
        }
        throw Failure("\(film.name) has changed since; run the command again", code: "changed-meanwhile")
    }
}
