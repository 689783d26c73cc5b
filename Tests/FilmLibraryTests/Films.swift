import FilmLibrary
import MovieCatalogue
import TestSupport

/// A film that has nothing but what a test says of it.
func film(_ json: String) throws -> FilmDocument {
    try FilmDocument(json: JSONText(parsing: Array(json.utf8)))
}

/// What `body` throws, or nil.
func libraryError(_ body: () throws -> Void) -> FilmLibraryError? {
    do {
        try body()
        return nil
    } catch {
        return error as? FilmLibraryError
    }
}

/// A library of its own in a folder of its own.
struct TestLibrary {
    let folder: TemporaryFolder
    let library: FilmLibrary
    var path: String { library.path }

    init(usesWords: Bool = true) throws {
        folder = try TemporaryFolder()
        library = try FilmLibrary(path: folder.file("films.db"), access: .creating, usesWords: usesWords)
    }

    func ids(
        _ sort: FilmQuery.Sort = .catalogue, search: String = "", limit: Int = 1000
    ) throws -> [String] {
        try library.films(FilmQuery(sort: sort, search: search, limit: limit)).films.map(\.id)
    }
}
