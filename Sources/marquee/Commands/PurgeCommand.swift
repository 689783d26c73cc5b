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
        session.output.note("a running service may have it in memory; name it with --admin HOST:PORT")
        return status(of: sources, known: known, session)
    }

    /// Says which sources nothing was kept of.
    static func status(
        of sources: [PictureSource], known: Set<PictureSource>, _ session: Session
    ) -> ExitStatus {
        for source in sources where !known.contains(source) {
            session.output.note("nothing is stored for \(source.text)")
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
