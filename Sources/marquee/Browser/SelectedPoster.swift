import Films
import LazyImages
import SystemSupport
import TerminalGraphics

/// The commands for the selected film's poster.
struct SelectedPoster {
    private let movie: Movie
    private let request: ImageRequest

    /// - Throws: why the film has no poster.
    init(_ list: FilmList, _ environment: Browser.Environment) throws(Failure) {
        guard let movie = list.selectedMovie else { throw Failure("No film is selected") }
        guard let address = movie.poster else {
            throw Failure("The catalogue names no poster of this film")
        }
        self.movie = movie
        switch environment.poster(address, list.films.base, nil) {
        case .success(let request): self.request = request
        case .failure(let error): throw Failure(error.advised)
        }
    }

    /// The bytes that make the terminal copy the address, and the message about it.
    /// - Throws: why there is nothing to copy: the address is too long, or has a meaning only within this program.
    func copying() throws(Failure) -> (bytes: [UInt8], notice: String) {
        let url = request.url
        let isOfSample = url.lowercasedHost == CatalogueSource.sampleHost
        if isOfSample || LibraryTransport.serves(url) {
            throw Failure(
                "Nothing is copied: this poster's address works only within marquee; "
                    + "marquee serve gives \(isOfSample ? "the films" : "a library") an address for others")
        }
        let address = url.scheme?.lowercased() == "data" ? url.absoluteString : url.displayText
        guard let bytes = TerminalClipboard.copying(address, isInTmux: Terminal.isInTmux) else {
            throw Failure("The address is too long to be copied; o saves the poster")
        }
        return (bytes, "Address copied: \(url.displayText)")
    }

    /// Saves the file, and then reports the result.
    func save(_ environment: Browser.Environment, onEnd: @escaping @Sendable (String) -> Void) {
        Task { [movie, request] in onEnd(await environment.save(movie, request)) }
    }
}

/// Saves a poster as a file in the working directory.
enum SavedPoster {
    /// Saves a poster's file as it is in the cache; if it is not there, it is loaded first. Never overwrites a file. A
    /// file appears whole or not at all. Blocks no thread of the cooperative pool.
    /// - Returns: the result in one line.
    static func save(_ movie: Movie, _ request: ImageRequest, _ loader: FileLoader, in folder: String) async
        -> String
    {
        var request = request
        if request.cachePolicy != .cacheOnly { request.cachePolicy = .returnCacheElseLoad }
        request.targetSize = nil
        do {
            let file = try await loader.file(for: request)
            let name = FilmID.make(title: movie.title, year: movie.year)
            let ending = file.header.map { "." + $0.format.fileExtension } ?? ""
            let output = OutputFile(folder: folder, stem: name, ending: ending)
            let threads = BlockingThreads(count: 1, name: "Saving")
            let saved = try await output.write(file, .number, on: threads)
            return (saved.outcome == .same ? "Saved already: " : "Saved as ") + saved.path
        } catch let error as Failure {
            return error.description
        } catch {
            return ImageLoadingError.advised(error)
        }
    }
}
