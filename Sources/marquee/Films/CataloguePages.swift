import FoundationEssentials
import HTTPSemantics
import LazyImages
import MovieCatalogue

/// A catalogue from the network, in one page or several: each links to the next (RFC 8288), at the same server.
struct CataloguePages: Sendable {
    struct Page: Sendable {
        let bytes: [UInt8]
        let base: BaseURL
        /// When the server last said that the page is so, in seconds since 1970; nil where nothing tells.
        var confirmed: Int?
        /// Whether none follows it.
        var isLast = true
    }

    /// Hears of each page as it comes, before the next one is asked for. What it throws ends the reading.
    typealias Listener = @Sendable (Page) async throws -> Void

    /// At least one.
    private(set) var pages: [Page] = []

    /// More pages, or bytes, than any library has.
    static let (maximumPages, maximumBytes) = (10_000, 512 << 20)

    private init() {}

    /// Pages that are here already, at least one.
    init(_ pages: [Page]) { self.pages = pages }

    /// One page.
    init(_ bytes: [UInt8], _ base: BaseURL) { pages = [Page(bytes: bytes, base: base)] }

    /// As `read`; nil where there is no such address, or offline where nothing is left of it.
    static func readIfThere(
        _ url: URL, _ opened: OpenLoader, _ session: Session, heard: Listener? = nil
    ) async throws -> CataloguePages? {
        let first: Answer
        do {
            first = try await answer(url, opened, session)
        } catch ImageLoadingError.httpStatus(_, status: 404), ImageLoadingError.notCached {
            return nil
        }
        return try await read(first, from: url, opened, session, heard: heard)
    }

    /// Reads the page at an address and all that follow it.
    static func read(
        _ url: URL, _ opened: OpenLoader, _ session: Session, heard: Listener? = nil
    ) async throws -> CataloguePages {
        try await read(
            try await answer(url, opened, session), from: url, opened, session, heard: heard)
    }

    /// Reads the pages that follow the first one. A reading that fails leaves the disk tier with the pages that it had, which
    /// are a whole catalogue where some new and some old ones need not be.
    private static func read(
        _ first: Answer, from url: URL, _ opened: OpenLoader, _ session: Session, heard: Listener?
    ) async throws -> CataloguePages {
        var replaced: [(file: LoadedFile, request: ImageRequest)] = []
        do {
            return try await read(first, from: url, opened, session, &replaced, heard: heard)
        } catch {
            for (file, request) in replaced { await opened.loader.restore(file, for: request) }
            throw error
        }
    }

    private static func read(
        _ first: Answer, from url: URL, _ opened: OpenLoader, _ session: Session,
        _ replaced: inout [(file: LoadedFile, request: ImageRequest)], heard: Listener?
    ) async throws -> CataloguePages {
        var result = CataloguePages()
        var visited: Set<String> = [CacheKey(url: url).text]
        var (url, answer) = (url, first)
        var bytes = 0
        while true {
            let file = answer.file
            if let before = answer.before { replaced.append((before, answer.request)) }
            let base = BaseURL(origin: url, redirectedTo: file.url)
            let next = try following(file, base.url)
            let page = Page(
                bytes: file.bytes.array, base: base,
                confirmed: file.freshness.map { $0.received - $0.initialAge }, isLast: next == nil)
            result.pages.append(page)
            try await heard?(page)
            bytes += file.bytes.count
            guard result.pages.count <= maximumPages, bytes <= maximumBytes else {
                throw Failure("\(url.displayText): the catalogue does not end; name a smaller one")
            }
            guard let next else { return result }
            guard visited.insert(CacheKey(url: next).text).inserted else {
                throw Failure("\(next.displayText): the pages of the catalogue lead in a circle")
            }
            (url, answer) = (next, try await self.answer(next, opened, session))
        }
    }

    /// What came for the request of a page.
    private struct Answer {
        let request: ImageRequest
        let file: LoadedFile
        /// What the disk tier had in its place before; nil for nothing, and for the same.
        var before: LoadedFile?
    }

    /// One page. The server is asked each time, whether what the disk tier has of it still holds; offline only that tier is.
    private static func answer(
        _ url: URL, _ opened: OpenLoader, _ session: Session
    ) async throws(ImageLoadingError) -> Answer {
        let loader = opened.loader
        if session.settings.isOffline {
            let request = try session.request(for: url.absoluteString, relativeTo: nil)
            return Answer(request: request, file: try await loader.file(for: request))
        }
        let request = try session.request(
            for: url.absoluteString, relativeTo: nil, adding: ["Cache-Control": "no-cache"])
        var cached = request
        cached.cachePolicy = .cacheOnly
        // Losing the error is right: nothing is cached.
        let before = try? await loader.file(for: cached)
        let file = try await loader.file(for: request)
        return Answer(request: request, file: file, before: file.source == .revalidated ? nil : before)
    }

    /// The page that an answer links to; nil for the last one.
    private static func following(_ file: LoadedFile, _ page: URL) throws -> URL? {
        guard let fields = file.fields, let target = LinkField.target("next", in: fields) else { return nil }
        let url = try URL(typed: target.isEmpty ? page.absoluteString : target, relativeTo: page)
        guard SecurityPolicy.haveSameOrigin(url, page) else {
            throw Failure(
                "\(page.displayText): its next page is at another server, \(url.displayText); "
                    + "name that one with --catalogue if you trust it")
        }
        return url
    }

    /// The films of all pages.
    func catalogue() throws(CatalogueError) -> OpenCatalogue {
        var parts = try CatalogueParts(pages[0])
        for page in pages.dropFirst() { try parts.append(page) }
        return parts.open
    }
}
