import FoundationEssentials
import HTTPSemantics
import LazyImages
import MovieCatalogue

/// A catalogue from the network, in one page or several: each links to the next (RFC 8288), at the same server.
struct CataloguePages: Sendable {
    struct Page: Sendable {
        let bytes: [UInt8]
        let base: BaseURL
    }

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
        _ url: URL, _ opened: OpenLoader, _ session: Session
    ) async throws -> CataloguePages? {
        do {
            return try await read(url, opened, session)
        } catch ImageLoadingError.httpStatus(_, status: 404), ImageLoadingError.notCached {
            return nil
        }
    }

    /// Reads the page at an address and all that follow it.
    static func read(_ url: URL, _ opened: OpenLoader, _ session: Session) async throws -> CataloguePages {
        var result = CataloguePages()
        var visited: Set<String> = []
        var next: URL? = url
        var bytes = 0
        while let url = next {
            guard visited.insert(CacheKey(url: url).text).inserted else {
                throw Failure("\(url.displayText): the pages of the catalogue lead in a circle")
            }
            var request = try session.request(for: url.absoluteString, relativeTo: nil)
            if !session.settings.isOffline { request.cachePolicy = .reload }
            let file = try await opened.loader.timedFile(for: request).file.get()
            let base = BaseURL(origin: url, redirectedTo: file.url)
            result.pages.append(Page(bytes: file.bytes.array, base: base))
            bytes += file.bytes.count
            guard result.pages.count <= maximumPages, bytes <= maximumBytes else {
                throw Failure("\(url.displayText): the catalogue does not end; name a smaller one")
            }
            next = try following(file, base.url)
        }
        return result
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
        var parsed: [(catalogue: Catalogue, base: BaseURL)] = []
        for page in pages { parsed.append((try Catalogue(parsing: page.bytes), page.base)) }
        let first = parsed[0]
        let rest = parsed.dropFirst().map { page in
            // Addresses are relative to their own page.
            page.base.url.deletingLastPathComponent() == first.base.url.deletingLastPathComponent()
                ? page.catalogue : page.catalogue.resolvingPosters(against: page.base.url)
        }
        return OpenCatalogue(catalogue: first.catalogue.appending(rest), base: first.base)
    }
}
