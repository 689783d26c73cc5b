import FilmSources
import Films
import TestSupport

/// A film with only the given members.
func film(_ json: String) throws -> FilmDocument {
    try FilmDocument(json: JSONText(parsing: Array(json.utf8)))
}

/// The error that `body` throws, or nil.
func libraryError(_ body: () throws -> Void) -> FilmLibraryError? {
    do {
        try body()
        return nil
    } catch {
        return error as? FilmLibraryError
    }
}

/// A library in a temporary folder.
struct TestLibrary {
    let folder: TemporaryFolder
    let library: FilmLibrary
    var path: String { library.path }

    init(usesTrigrams: Bool = true) throws {
        folder = try TemporaryFolder()
        library = try FilmLibrary(
            path: folder.file("films.db"), access: .creating, usesTrigrams: usesTrigrams)
    }

    func ids(
        _ sort: FilmQuery.Sort = .catalogue, search: String = "", limit: Int = 1000
    ) throws -> [String] {
        try library.films(FilmQuery(sort: sort, search: search, limit: limit)).films.map(\.id)
    }
}
