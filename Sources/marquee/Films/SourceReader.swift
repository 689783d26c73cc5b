import FilmSources
import Films
import FoundationEssentials
import HTTPSemantics
import LazyImages
import SystemSupport

/// Reads the films of a source with the loader of a session, so that its answers are cached like those of a catalogue.
struct SourceReader: SourceAnswers {
    private let source: any FilmSource
    private let replaced: ReplacedFiles
    private let session: Session

    init(_ source: any FilmSource, _ opened: OpenLoader, _ session: Session) {
        (self.source, self.session) = (source, session)
        replaced = ReplacedFiles(opened, session)
    }

    /// The user's token for the source's server; nil for none.
    static func token(for source: any FilmSource, _ settings: Settings) -> String? {
        (settings.downloads.authenticator as? NamedCredentials)?.token(for: source.server)
    }

    /// Reads all pages; of an endless source those of the session. If the reading fails, the disk tier keeps its old pages.
    func read(take: CataloguePage.Taker) async throws {
        do {
            try await readPages(take)
        } catch {
            await replaced.restore()
            throw error
        }
    }

    private func readPages(_ take: CataloguePage.Taker) async throws {
        let base = BaseURL(source.server)
        var count = 0
        let (first, most) = source.isEndless ? (session.pages.lowerBound, session.pages.count) : (0, .max)
        do {
            try await source.readPages(after: first, self) { page in
                count += 1
                let isEnough = count >= most
                try await take(CataloguePage(page, base: base, isEnough: isEnough))
                if isEnough { throw Enough() }
            }
        } catch is Enough {
        } catch let error as FilmSourceError {
            throw Failure("\(source.name): \(error)", code: error.code)
        } catch let error as CatalogueError {
            throw Failure("\(source.name): page \(first + count + 1): \(error)")
        }
    }

    /// Ends the reading of an endless source.
    private struct Enough: Error {}

    func answer(to url: URL) async throws -> SourceAnswer {
        var fields: HeaderFields = ["Accept": "application/json"]
        if !session.settings.isOffline { fields["Cache-Control"] = "no-cache" }
        let request = try session.request(
            for: url.absoluteString, relativeTo: BaseURL(source.server), adding: fields)
        do {
            let file = try await replaced.file(for: request)
            return SourceAnswer(
                file.bytes.array, confirmed: file.freshness.map { $0.received - $0.initialAge })
        } catch {
            guard case .httpStatus(let url, let status) = error else { throw error }
            switch status {
            case 401, 403: throw refusal
            case 404: throw FilmSourceError.missing(url: url)
            default: throw error
            }
        }
    }

    /// The server wants a credential, or another.
    private var refusal: FilmSourceError {
        let host = source.server.host() ?? ""
        let place = source.server.port.map { "\(host):\($0)" } ?? host
        let named = session.settings.downloads.authenticator as? NamedCredentials
        let hasToken = named?.token(for: source.server) != nil
        let hasPassword = named?.hasCredential(for: source.server) ?? false
        let setting = "set MARQUEE_CREDENTIALS to \"\(place) Bearer TOKEN\""
        let advice =
            hasToken
            ? "make another token, and " + setting
            : hasPassword ? "it takes a token, and not a name with a password: " + setting : setting
        return .refused(server: place, hasCredential: hasToken, advice: advice)
    }

    // MARK: Folders

    /// Reads a folder of films, on a thread of its own.
    static func read(_ folder: FilmFolder, take: CataloguePage.Taker) async throws {
        let base = BaseURL(URL(filePath: folder.path, directoryHint: .isDirectory))
        let (stream, continuation) = AsyncThrowingStream.makeStream(of: SourcePage.self)
        try BlockingThreads.startThread(name: "marquee-folder") {
            do {
                try folder.readPages { page in
                    if case .terminated = continuation.yield(page) { throw CancellationError() }
                }
                continuation.finish()
            } catch {
                continuation.finish(throwing: error)
            }
        }
        do {
            for try await page in stream { try await take(CataloguePage(page, base: base)) }
        } catch let fault as FileFault {
            throw Failure("\(folder.path): the folder cannot be read: \(fault)")
        }
    }
}

extension FilmSourceError {
    /// A short, stable name for programs.
    fileprivate var code: String {
        switch self {
        case .invalidName: "invalid-source"
        case .refused: "credential-refused"
        case .missing: "no-such-list"
        }
    }
}
