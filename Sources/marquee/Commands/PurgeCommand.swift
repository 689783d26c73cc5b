import HTTPSemantics
import LazyImages
import PictureServer

/// `marquee purge URL...`: removes sources from picture services, so that they are fetched again.
enum PurgeCommand: Command {
    static let specification = CommandSpecification(
        name: "purge", operands: "URL...", operandCount: 1...Int.max,
        summary: "remove sources and their pictures from picture services",
        examples: [
            ("marquee purge https://example.org/a.jpg --admin 127.0.0.1:9090", "from a running service"),
            ("marquee purge https://example.org/a.jpg --admin-file members", "from all instances of a fleet"),
            ("marquee purge https://example.org/a.jpg", "from one that is not running"),
        ],
        options: [
            Option(
                name: "admin", value: "ADDRESS",
                help: "a service's admin address, HOST:PORT, as in marquee serve",
                isRepeatable: true),
            Option(name: "admin-file", value: "FILE", help: "a file of such addresses, one on each line"),
        ],
        notes: [
            "Exit status 1: some instances did not answer, and are named; they may still have the pictures."
        ], readsEnvironment: true)

    static func run(_ session: Session) async throws -> ExitStatus {
        let sources = try session.arguments.operands.map { text throws(UsageError) in
            do {
                return try PictureSource(text)
            } catch {
                throw UsageError("\"\(text)\" is not an absolute address such as https://example.org/a.jpg")
            }
        }
        let members = try await members(session.arguments)
        guard members.isEmpty else { return await purge(sources, from: members, session) }
        var known: Set<PictureSource> = []
        for source in sources where try await removeFromDisk(source, session) { known.insert(source) }
        session.output.notice("a running service may have it in memory; name it with --admin HOST:PORT")
        return status(of: sources, known: known, session)
    }

    /// Says which sources nothing was kept of.
    static func status(
        of sources: [PictureSource], known: Set<PictureSource>, _ session: Session
    ) -> ExitStatus {
        for source in sources where !known.contains(source) {
            session.output.notice("nothing is stored for \(source.text)")
        }
        return known.isEmpty ? .nothingDone : .done
    }

    /// The addresses of the options, each once.
    private static func members(_ arguments: Arguments) async throws -> [String] {
        var members = try arguments.values("admin").map { text throws(UsageError) in
            guard isMember(text) else {
                throw UsageError("--admin needs HOST:PORT such as 127.0.0.1:9090, not \"\(text)\"")
            }
            return text
        }
        if let path = arguments.value("admin-file") {
            let lines = String(decoding: try await Input.file(path), as: UTF8.self)
                .split(whereSeparator: \.isNewline)
            for (number, line) in lines.enumerated() {
                guard isMember(String(line)) else {
                    throw Failure(
                        "\(path): line \(number + 1) is not HOST:PORT, such as 127.0.0.1:9090: \"\(line)\"")
                }
                members.append(String(line))
            }
            if members.isEmpty { throw Failure("\(path) names no service; write HOST:PORT on each line") }
        }
        var seen: Set<String> = []
        return members.filter { seen.insert($0).inserted }
    }

    private static func isMember(_ text: String) -> Bool { HostAndPort(text)?.port != nil }

    /// Removes what the service's folder has.
    private static func removeFromDisk(_ source: PictureSource, _ session: Session) async throws -> Bool {
        var configuration = PictureServer.Configuration(rules: try PictureRules(sizes: []))
        configuration.disk = DiskCache(
            folder: ServeCommand.pictureFolder(session.settings), limit: session.settings.cacheLimit)
        configuration.shared = session.settings.shared?.tier
        let service = PictureServer(configuration)
        let isKnown = await service.purge(source)
        await service.flush()
        return isKnown
    }
}

/// Purging services that run: the members of a fleet, or one alone.
extension PurgeCommand {
    /// What one member did: the sources that it knew, and why it did not do all.
    private struct Reply: Sendable {
        var known: Set<PictureSource> = []
        var failure: (any Error)?
    }

    /// Has every member forget the sources, all members at once.
    ///
    /// Several members are asked twice. With a store between them, once is not enough:
    ///
    /// 1. A forgets the picture, and removes it from the store.
    /// 2. A client asks B, which still has it.
    /// 3. B writes to the store what it fetched just before.
    /// 4. A client asks A, which reads the old picture from the store.
    /// 5. B forgets the picture, and removes it from the store. A keeps the old one.
    ///
    /// After the first round no member holds the old picture but by step 4. The second round ends that.
    static func purge(
        _ sources: [PictureSource], from members: [String], _ session: Session
    ) async -> ExitStatus {
        let opened = session.makeLoader(keepsFiles: false)
        var replies = await round(sources, members, opened)
        if members.count > 1 {
            let answering = members.filter { replies[$0]?.failure == nil }
            for (member, reply) in await round(sources, answering, opened) {
                replies[member]?.failure = reply.failure
                replies[member]?.known.formUnion(reply.known)
            }
        }
        await opened.close()
        let failed = members.filter { replies[$0]?.failure != nil }
        for member in failed {
            guard let failure = replies[member]?.failure else { continue }
            session.output.failure(
                "\(ImageLoadingError.advised(failure)); \(member) may still have the pictures: purge them again when it runs"
            )
        }
        let known = replies.values.reduce(into: Set<PictureSource>()) { $0.formUnion($1.known) }
        guard failed.count < members.count else { return .nothingDone }
        let status = status(of: sources, known: known, session)
        return failed.isEmpty ? status : .someFailed
    }

    private static func round(
        _ sources: [PictureSource], _ members: [String], _ opened: OpenLoader
    ) async -> [String: Reply] {
        await withTaskGroup(of: (String, Reply).self) { group in
            for member in members {
                group.addTask { (member, await reply(of: member, to: sources, opened)) }
            }
            return await group.reduce(into: [:]) { $0[$1.0] = $1.1 }
        }
    }

    /// Has one member forget the sources, up to the first failure: a member that is down is not waited for again.
    private static func reply(
        of member: String, to sources: [PictureSource], _ opened: OpenLoader
    ) async -> Reply {
        var reply = Reply()
        do {
            for source in sources where try await remove(source, from: member, opened) {
                reply.known.insert(source)
            }
        } catch {
            reply.failure = error
        }
        return reply
    }

    private static func remove(
        _ source: PictureSource, from member: String, _ opened: OpenLoader
    ) async throws -> Bool {
        let address = "http://\(member)/sources/" + Base64URL.encode(source.text.utf8)
        let response = try await Uploader(opened.loader).upload(try UploadRequest(address, .delete))
        switch response.status {
        case 204: return true
        case 404: return false
        default: throw ServiceProblem(response.status, response.body, from: "http://\(member)/").failure
        }
    }
}
