import FilmSources
import Films
import FoundationEssentials
import LazyImages
import SystemSupport

/// The kinds of films. This is the only place that knows them all: the type of each is in the file of its name.
enum FilmProviders {
    /// The films that a name means. Nil means the sample catalogue, and so does `sample`, unless a file is called so.
    static func provider(named name: String?) -> any FilmProvider {
        guard let name, name != SampleCatalogue.word || FetchTarget.isFile(name) else {
            return SampleCatalogue()
        }
        do throws(FilmFault) {
            if let server = try FilmServers.server(named: name) { return server }
        } catch {
            return NoFilms(FilmFault("--catalogue: \(error)", code: error.code))
        }
        if name.contains("://") {
            // Ignored: reading reports an invalid address.
            let service = (try? URL(typed: name)).flatMap { FilmsAddress(catalogue: $0) }
            return if let service, service.isSoap { SoapFilms(service, name: name) } else { WebFilms(name) }
        }
        if FileKind(name) == .folder {
            let files = ["movies.json", "movies.xml"].map { name + "/" + $0 }
            if let catalogue = files.first(where: FetchTarget.isFile) { return CatalogueFile(catalogue) }
            return FilmFolder.hasFilms(name) ? FilmFolder(name) : PictureFolder(name)
        }
        return isLibrary(name) ? LibraryFilms(name) : CatalogueFile(name)
    }

    /// The films of a job that needs only its list.
    static let none = NoFilms(
        FilmFault("no catalogue is named; use --catalogue FILE or --catalogue URL"))

    /// Whether a file is a library: its name says so, or it begins like an SQLite file. An unreadable file is not;
    /// reading it will report the error.
    private static func isLibrary(_ path: String) -> Bool {
        if path.lowercased().hasSuffix(".db") { return true }
        // Only for a regular file: bytes read from a pipe would be lost.
        guard FileKind(path) == .file else { return false }
        return (try? Input.beginning(of: path).starts(with: "SQLite format 3\0".utf8)) ?? false
    }
}
