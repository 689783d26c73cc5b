import FilmSources
import Films
import FoundationEssentials
import HTTPSemantics
import LazyImages
import SystemSupport

/// A page of films.
struct CataloguePage: Sendable {
    /// What a page is.
    enum Content: Sendable {
        /// A document with films.
        case document([UInt8])
        /// The films of a source, read already.
        case films(SourcePage)
    }

    let content: Content
    let base: BaseURL
    /// When the server last confirmed the page, in seconds since 1970; nil if that is unknown.
    var confirmed: Int?
    /// Whether it is the last page that is read.
    var isLast = true
    /// Whether the server has more pages.
    private(set) var hasMore = false

    init(bytes: [UInt8], base: BaseURL, confirmed: Int? = nil, isLast: Bool = true) {
        (content, self.base, self.confirmed, self.isLast) = (.document(bytes), base, confirmed, isLast)
    }

    /// A page of a source.
    /// - Parameter isEnough: whether no page after it is read.
    init(_ page: SourcePage, base: BaseURL, isEnough: Bool = false) {
        (content, self.base, confirmed) = (.films(page), base, page.confirmed)
        isLast = page.isLast || isEnough
        hasMore = isEnough && !page.isLast
    }

    /// What is wrong with films of a source.
    var problems: [CatalogueError] {
        if case .films(let page) = content { page.problems } else { [] }
    }

    /// The document; for films of a source a catalogue of them in JSON, with all that is known of each.
    var bytes: [UInt8] {
        switch content {
        case .document(let bytes): bytes
        case .films(let page):
            Array("{\"movies\":[\(page.films.map { $0.document.json() }.joined(separator: ","))]}".utf8)
        }
    }

    /// Called with each page before the next one is requested. An error that it throws ends the reading.
    typealias Taker = @Sendable (CataloguePage) async throws -> Void
}

/// Reads a catalogue from the network, in one or more pages. Each links to the next at the same server: in its Link field
/// (RFC 8288), or in a feed by its element `link` (RFC 5005, section 3).
enum CataloguePages {
    /// The most pages and bytes of a catalogue.
    static let (maximumPages, maximumBytes) = (10_000, 512 << 20)

    /// Like `read`; false if there is no such address, or if it is not cached while offline.
    static func readIfThere(
        _ url: URL, _ opened: OpenLoader, _ session: Session, take: @escaping CataloguePage.Taker
    ) async throws -> Bool {
        let replaced = ReplacedFiles(opened, session)
        let first: LoadedFile
        do {
            first = try await answer(url, replaced, session)
        } catch ImageLoadingError.httpStatus(_, status: 404), ImageLoadingError.notCached {
            return false
        }
        try await read(first, from: url, replaced, session, take: take)
        return true
    }

    /// Reads the page at an address and all pages after it.
    static func read(
        _ url: URL, _ opened: OpenLoader, _ session: Session, take: @escaping CataloguePage.Taker
    ) async throws {
        let replaced = ReplacedFiles(opened, session)
        try await read(
            try await answer(url, replaced, session), from: url, replaced, session, take: take)
    }

    /// Reads the pages after the first one. If that fails, the disk tier keeps its old pages.
    private static func read(
        _ first: LoadedFile, from url: URL, _ replaced: ReplacedFiles, _ session: Session,
        take: @escaping CataloguePage.Taker
    ) async throws {
        var visited: Set<String> = [CacheKey(url: url).text]
        var (url, file) = (url, first)
        var bytes = 0
        do {
            while true {
                let base = BaseURL(origin: url, redirectedTo: file.url)
                let next = try following(file, base.url, visited, session)
                try await take(
                    CataloguePage(
                        bytes: file.bytes.array, base: base,
                        confirmed: file.freshness.map { $0.received - $0.initialAge }, isLast: next == nil))
                bytes += file.bytes.count
                guard visited.count <= maximumPages, bytes <= maximumBytes else {
                    throw Failure("\(url.displayText): the catalogue is too large; name a smaller one")
                }
                guard let next else { return }
                guard visited.insert(CacheKey(url: next).text).inserted else {
                    throw Failure("\(next.displayText): the links of the catalogue's pages form a loop")
                }
                (url, file) = (next, try await answer(next, replaced, session))
            }
        } catch {
            await replaced.restore()
            throw error
        }
    }

    /// One page. It is revalidated with the server each time; offline it comes from the disk tier only.
    private static func answer(
        _ url: URL, _ replaced: ReplacedFiles, _ session: Session
    ) async throws(ImageLoadingError) -> LoadedFile {
        let fields: HeaderFields = session.settings.isOffline ? [:] : ["Cache-Control": "no-cache"]
        return try await replaced.file(
            for: try session.request(for: url.absoluteString, relativeTo: nil, adding: fields))
    }

    /// The page that an answer links to, by its field before its content; nil for the last one.
    ///
    /// The link of a feed that leads to a page already read, or to another server, ends the reading: a service that
    /// hands out one page of a feed hands out its link too.
    private static func following(
        _ file: LoadedFile, _ page: URL, _ visited: Set<String>, _ session: Session
    ) throws -> URL? {
        guard let target = file.fields.flatMap({ LinkField.target("next", in: $0) }) else {
            guard let target = Catalogue.nextPage(in: file.bytes.array) else { return nil }
            let url = try URL(typed: target, relativeTo: page)
            guard SecurityPolicy.haveSameOrigin(url, page) else {
                session.output.notice(
                    "\(page.displayText): the feed goes on at another server, \(url.displayText); "
                        + "name that address to read it")
                return nil
            }
            return visited.contains(CacheKey(url: url).text) ? nil : url
        }
        let url = try URL(typed: target.isEmpty ? page.absoluteString : target, relativeTo: page)
        guard SecurityPolicy.haveSameOrigin(url, page) else {
            throw Failure(
                "\(page.displayText): the next page is on another server, \(url.displayText); "
                    + "name that one with --catalogue if you trust it")
        }
        return url
    }
}

/// Loads the pages of a catalogue, and keeps those that they replace in the disk tier. If the reading fails, the old ones
/// come back: they are a whole catalogue, but a mixture of new and old pages might not be.
final class ReplacedFiles: Sendable {
    private let loader: FileLoader
    private let isOffline: Bool
    private let replaced = Lock<[(file: LoadedFile, request: ImageRequest)]>([])

    init(_ opened: OpenLoader, _ session: Session) {
        (loader, isOffline) = (opened.loader, session.settings.isOffline)
    }

    /// The file of a request, which replaces the one before in the disk tier.
    func file(for request: ImageRequest) async throws(ImageLoadingError) -> LoadedFile {
        if isOffline { return try await loader.file(for: request) }
        var cached = request
        cached.cachePolicy = .cacheOnly
        // Ignored: nothing is cached then.
        let before = try? await loader.file(for: cached)
        let file = try await loader.file(for: request)
        if let before, file.source != .revalidated { replaced.withLock { $0.append((before, request)) } }
        return file
    }

    /// Stores the replaced files again.
    func restore() async {
        for (file, request) in replaced.withLock({ $0 }) { await loader.restore(file, for: request) }
    }
}

/// The films of the pages that have arrived. Each page is parsed once.
struct CatalogueParts: Sendable {
    /// The films of all pages that `read` takes; nil if it takes none.
    /// - Parameter onPage: called with the films so far.
    static func all(
        onPage: @escaping @Sendable (CatalogueParts) -> Void = { _ in },
        _ read: (@escaping CataloguePage.Taker) async throws -> Void
    ) async throws -> OpenCatalogue? {
        let parts = Lock<CatalogueParts?>(nil)
        try await read { page in
            let soFar = try parts.withLock { parts throws(CatalogueError) in
                if parts == nil { parts = try CatalogueParts(page) } else { try parts?.append(page) }
                return parts
            }
            if let soFar { onPage(soFar) }
        }
        return parts.withLock { $0 }?.open
    }

    private var first: OpenCatalogue
    private var rest: [Catalogue] = []
    /// The number of films so far. A film on two pages counts twice.
    private(set) var films: Int
    /// Whether all pages are here.
    private(set) var isWhole: Bool

    /// The films of the first page.
    init(_ page: CataloguePage) throws(CatalogueError) {
        first = OpenCatalogue(
            catalogue: try Self.catalogue(page), base: page.base, confirmed: page.confirmed)
        films = first.catalogue.movies.count
        isWhole = page.isLast
        note(page)
    }

    /// Adds the films of the next page.
    mutating func append(_ page: CataloguePage) throws(CatalogueError) {
        let catalogue = try Self.catalogue(page)
        // Addresses are relative to their own page.
        let isBeside =
            page.base.url.deletingLastPathComponent() == first.base.url.deletingLastPathComponent()
        rest.append(isBeside ? catalogue : catalogue.resolvingAddresses(against: page.base.url))
        films += catalogue.movies.count
        isWhole = page.isLast
        // The catalogue is as old as its oldest page.
        first.confirmed = [first.confirmed, page.confirmed].compactMap(\.self).min()
        note(page)
    }

    private mutating func note(_ page: CataloguePage) {
        first.hasMore = page.hasMore
        guard case .films(let films) = page.content else { return }
        for film in films.films {
            if film.marks != FilmMarks() { first.served[film.movie.id] = film.marks }
            if !film.ids.isEmpty { first.ids[film.movie.id] = film.ids }
        }
    }

    /// The films of a page. Their web pages and files are shown as they are, so a relative address would lead nowhere.
    private static func catalogue(_ page: CataloguePage) throws(CatalogueError) -> Catalogue {
        let bytes: [UInt8]
        switch page.content {
        case .document(let document): bytes = document
        case .films(let films): return films.catalogue(name: nil)
        }
        let catalogue = try Catalogue(parsing: bytes)
        guard page.base.url.scheme?.lowercased().hasPrefix("http") == true,
            let base = URL(string: page.base.url.displayText)
        else { return catalogue }
        return catalogue.resolvingLinks(against: base)
    }

    /// The films so far as one catalogue.
    var open: OpenCatalogue {
        OpenCatalogue(
            catalogue: first.catalogue.appending(rest), base: first.base, served: first.served,
            ids: first.ids, hasMore: first.hasMore, confirmed: first.confirmed)
    }
}
