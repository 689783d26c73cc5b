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
        let beginning = beginning(of: name)
        if CSVCatalogue.isOne(name, beginning: beginning) { return CSVCatalogue(name) }
        return LibraryFilms.isOne(name, beginning: beginning) ? LibraryFilms(name) : CatalogueFile(name)
    }

    /// The films of a job that needs only its list.
    static let none = NoFilms(
        FilmFault("no catalogue is named; use --catalogue FILE or --catalogue URL"))

    /// The first bytes of a file: none of an unreadable one, whose error the reading reports, and none of a pipe, where
    /// they would be lost.
    static func beginning(of path: String) -> ArraySlice<UInt8> {
        // Ignored: as above.
        FileKind(path) == .file ? (try? Input.beginning(of: path)) ?? [] : []
    }
}
