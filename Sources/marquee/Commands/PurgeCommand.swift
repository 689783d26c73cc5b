import FoundationEssentials
import HTTPSemantics
import LazyImages
import PictureService

/// `marquee purge URL...`: removes sources from a picture service, so that they are fetched again.
enum PurgeCommand: Command {
    static let specification = CommandSpecification(
        name: "purge", operands: "URL...", operandCount: 1...Int.max,
        summary: "remove sources and their pictures from the picture service",
        examples: [
            ("marquee purge https://example.org/a.jpg --admin 127.0.0.1:9090", "from a running service"),
            ("marquee purge https://example.org/a.jpg", "from one that is not running"),
        ],
        options: [
            Option(
                name: "admin", value: "ADDRESS",
                help: "the service's admin address, HOST:PORT, as in marquee serve")
        ], readsEnvironment: true)

    static func run(_ session: Session) async throws -> ExitStatus {
        let sources = try session.arguments.operands.map { text throws(UsageError) in
            do {
                return try PictureSource(text)
            } catch {
                throw UsageError("\"\(text)\" is not an absolute address such as https://example.org/a.jpg")
            }
        }
        let admin = try session.arguments.value("admin").map(address)
        var unknown = 0
        for source in sources {
            let isKnown =
                if let admin { try await remove(source, from: admin, session) } else {
                    try await removeFromDisk(source, session)
                }
            if !isKnown {
                unknown += 1
                session.output.note("nothing is stored for \(source.text)")
            }
        }
        if admin == nil {
            session.output.note("a running service may have it in memory; name it with --admin HOST:PORT")
        }
        return unknown == sources.count ? .nothingDone : .done
    }

    private static func address(_ text: String) throws(UsageError) -> String {
        guard let name = HostName(text), name.port != nil else {
            throw UsageError("--admin needs HOST:PORT such as 127.0.0.1:9090, not \"\(text)\"")
        }
        return text
    }

    /// Removes a source from a running service.
    private static func remove(
        _ source: PictureSource, from admin: String, _ session: Session
    ) async throws -> Bool {
        let opened = session.makeLoader(keepsFiles: false)
        let request = Result { () throws(ImageLoadingError) in
            try UploadRequest("http://\(admin)/sources/" + Base64URL.encode(source.text.utf8), .delete)
        }
        let answer: Result<UploadResponse, any Error>
        do {
            answer = .success(try await Uploader(opened.loader).upload(try request.get()))
        } catch {
            answer = .failure(error)
        }
        await opened.close()
        let response = try answer.get()
        switch response.status {
        case 204: return true
        case 404: return false
        default: throw ServiceProblem(response, from: "http://\(admin)/").failure
        }
    }

    /// Removes a source from the service's folder.
    private static func removeFromDisk(_ source: PictureSource, _ session: Session) async throws -> Bool {
        var configuration = PictureService.Configuration(rules: try PictureRules(sizes: []))
        configuration.disk = DiskCache(
            folder: ServeCommand.pictureFolder(session.settings), limit: session.settings.cacheLimit)
        let service = PictureService(configuration)
        let isKnown = await service.purge(source)
        await service.flush()
        return isKnown
    }
}
