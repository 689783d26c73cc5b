import Films

/// `marquee add --title T`: adds a film to a library or a service.
enum AddCommand: Command {
    static let specification = CommandSpecification(
        name: "add", summary: "add a film to a library or a service",
        examples: [
            ("marquee add --title Nosferatu --year 1922", "to the catalogue that --catalogue names"),
            (
                "curl -s URL | marquee add --title Faust --poster -",
                "with its poster, which may also be a file"
            ),
        ],
        options: FilmMembers.options + [
            Option(name: "id", value: "ID", help: "the film's id (default: made from title and year)"),
            Option(
                name: "wire", value: "FORMAT",
                help: "json, xml, form, multipart or soap (default: json; with a file, multipart)",
                choices: ["json", "xml", "form", "multipart", "soap"]),
        ])

    static func run(_ session: Session) async throws -> ExitStatus {
        let arguments = session.arguments
        let members = try FilmMembers.members(arguments).filter { !$0.value.isNull }
        guard let title = members.first(where: { $0.name == "title" })?.value.string else {
            throw UsageError("add needs --title; see marquee add --help")
        }
        let year = try arguments.number("year", in: 0...Int.max)
        let id = arguments.value("id") ?? FilmID.make(title: title, year: year)
        if let fault = FilmID.fault(id) { throw UsageError("--id must be \(fault)") }
        var poster: PosterFile?
        var film = FilmDocument()
        film["id"] = JSONText(id)
        for member in members { film[member.name] = member.value }
        if let text = arguments.value("poster") {
            switch try await PosterArgument(text, session) {
            case .address(let address): film["poster"] = JSONText(address)
            case .file(let file): poster = file
            case .none: break
            }
        }
        let named: FilmWire? = try arguments.choice("wire")
        return try await session.withFilms(named) { client in
            let wire = named ?? client.usualWire(hasPoster: poster != nil)
            let added = try await add(film, id: id, poster, wire, client)
            return session.report(added, "added \(added.name) as \(added.id)")
        }
    }

    /// Adds the film, and the poster if it was not sent along. An equal film that exists already counts as added if it
    /// was sent more than once: then an answer was lost.
    private static func add(
        _ film: FilmDocument, id: String, _ poster: PosterFile?, _ wire: FilmWire, _ client: FilmClient
    ) async throws -> FilmClient.Film {
        let goesAlong = client.sendsPoster(with: wire)
        let isRepeated: Bool
        switch try await client.perform(.add(film, goesAlong ? poster : nil, wire), expecting: [409]) {
        case .done(let stored):
            let added = stored ?? FilmClient.Film(document: film, tag: nil)
            guard let poster, !goesAlong else { return added }
            return try await client.setPoster(of: added, poster)
        // Its id is taken: by itself, if it was sent more than once and an answer was lost.
        case .refused(_, let wasSentBefore): isRepeated = wasSentBefore
        }
        guard let existing = try await client.film(id) else {
            throw Failure("the id \(id) was taken but is free again; run the command again")
        }
        guard existing.document.isSame(as: film) else {
            throw Failure(
                "the film \(id) exists already: \(existing.name); change it with marquee edit, "
                    + "or use another --id", code: "id-taken")
        }
        guard isRepeated else {
            throw Failure("\(existing.name) is there already, as \(id); nothing was added", code: "id-taken")
        }
        guard let poster else { return existing }
        return try await client.setPoster(of: existing, poster)
    }
}

extension FilmDocument {
    /// Whether a library's film equals the sent one.
    fileprivate func isSame(as sent: FilmDocument) -> Bool {
        func facts(_ document: FilmDocument) -> [String: JSONText] {
            var facts: [String: JSONText] = [:]
            for member in document.members where FilmMember(named: member.name)?.definition.rule != .library {
                // The library gives the address of a poster that was sent as a file.
                if member.name == "poster", sent["poster"] == nil { continue }
                facts[member.name] = member.value.canonical
            }
            return facts
        }
        return facts(self) == facts(sent)
    }
}

extension JSONText {
    /// The value for comparison: 8 equals 8.0, and escapes in a text do not matter.
    fileprivate var canonical: JSONText {
        if let string { return JSONText(string) }
        if let number { return JSONText(number) }
        return elements.map { JSONText(elements: $0.map(\.canonical)) } ?? self
    }
}
