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
        let first: LoadedFile
        do {
            first = try await file(url, opened, session)
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
            try await file(url, opened, session), from: url, opened, session, heard: heard)
    }

    /// Reads the pages that follow the first one.
    private static func read(
        _ first: LoadedFile, from url: URL, _ opened: OpenLoader, _ session: Session, heard: Listener?
    ) async throws -> CataloguePages {
        var result = CataloguePages()
        var visited: Set<String> = [CacheKey(url: url).text]
        var (url, file) = (url, first)
        var bytes = 0
        while true {
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
            (url, file) = (next, try await self.file(next, opened, session))
        }
    }

    /// One page. The server is asked each time, whether what the disk tier has of it still holds; offline only that tier is.
    private static func file(
        _ url: URL, _ opened: OpenLoader, _ session: Session
    ) async throws(ImageLoadingError) -> LoadedFile {
        let fields: HTTPFields = session.settings.isOffline ? [:] : ["Cache-Control": "no-cache"]
        let request = try session.request(for: url.absoluteString, relativeTo: nil, adding: fields)
        return try await opened.loader.file(for: request)
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
