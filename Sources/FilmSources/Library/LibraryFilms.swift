import Films
import FoundationEssentials
package import LazyImages
import SystemSupport

/// The films of a library file: all of them, or only the needed ones.
package struct LibraryFilms: FilmProvider {
    private let path: String

    package init(_ path: String) { self.path = path }

    /// Whether a file is a library: its name says so, or it begins like an SQLite file.
    package static func isOne(_ path: String, beginning: ArraySlice<UInt8>) -> Bool {
        path.lowercased().hasSuffix(".db") || beginning.starts(with: "SQLite format 3\0".utf8)
    }

    package var name: String { path }

    package var abilities: FilmAbilities {
        FilmAbilities().with {
            ($0.writing, $0.serving) = (.library(path: path), .library(path: path))
            ($0.file, $0.isLibrary, $0.searches) = (path, true, true)
        }
    }

    /// More films than a search may find are too many to choose from.
    private static let mostFound = 1000

    package func readPages(
        _ selection: FilmSelection, _ access: any FilmAccess, _ take: CataloguePage.Taker
    ) async throws {
        let page = try await run { library throws(FilmLibraryError) -> CataloguePage? in
            if let words = selection.words {
                let found = try library.films(FilmQuery(search: words, limit: Self.mostFound))
                return found.next == nil ? self.page(found.films, name: nil) : nil
            }
            if let (count, order) = selection.first {
                let sort = FilmQuery.Sort(rawValue: order.rawValue) ?? .catalogue
                return self.page(
                    try library.films(FilmQuery(sort: sort, limit: count)).films, name: try library.name)
            }
            var films: [StoredFilm] = []
            try library.forEach { film throws(FilmLibraryError) in
                films.append(film)
                return true
            }
            return self.page(films, name: try library.name)
        }
        if let page { _ = try await take(page) }
    }

    package func film(_ id: String, _ access: any FilmAccess) async throws -> FoundFilm? {
        try await run { library throws(FilmLibraryError) in
            try library.film(id).flatMap { movie($0) }.map { FoundFilm($0, base: base) }
        }
    }

    package func network(_ network: any Transport) -> any Transport {
        LibraryPosters(path: path).beside(network)
    }

    private var base: BaseURL { BaseURL(URL(filePath: path)) }

    private func page(_ films: [StoredFilm], name: String?) -> CataloguePage {
        CataloguePage(films.compactMap { movie($0) }.map { SourceFilm($0) }, name: name, base: base)
    }

    /// Nil for a film that is wrong. Films are checked on their way into the library, so it does not occur.
    private func movie(_ film: StoredFilm) -> Movie? {
        try? film.movie(poster: LibraryPosters.address(of: film, LibraryPosters.base(path)))
    }

    /// Every call of a library blocks.
    private func run<Value: Sendable>(
        _ work: @escaping @Sendable (FilmLibrary) throws(FilmLibraryError) -> Value
    ) async throws -> Value {
        try await BlockingThreads(count: 1, name: "marquee-library").run({ $0 as any Error }) { () throws in
            try work(try FilmLibrary(path: path, access: .reading))
        }
    }
}
