import Films
import FoundationEssentials
import LazyImages
import SystemSupport
import TerminalGraphics

/// The commands for the poster of a selected film.
struct SelectedPoster {
    private let movie: Movie
    private let request: ImageRequest

    /// - Throws: why the film has no poster.
    init(_ movie: Movie, of base: BaseURL, _ environment: Browser.Environment) throws(Failure) {
        guard let address = movie.poster else {
            throw Failure("The catalogue names no poster of this film")
        }
        self.movie = movie
        switch environment.poster(address, base, nil) {
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

    /// Saves the file.
    func save(_ environment: Browser.Environment) async -> SavedPoster {
        await environment.save(movie, request)
    }
}

/// A poster that was saved as a file in the working directory, or was not.
struct SavedPoster: Sendable {
    let isSaved: Bool
    /// The result in one line.
    let line: String

    /// The results of several posters in one line.
    static func summary(_ saved: [SavedPoster], _ problems: [String]) -> String {
        if saved.count + problems.count == 1 { return saved.first?.line ?? problems[0] }
        let posters = saved.count == 1 ? "1 poster saved" : "\(saved.count) posters saved"
        return problems.isEmpty ? posters : "\(posters), \(problems.count) not: \(problems[0])"
    }

    /// Saves a poster's file as it is in the cache; if it is not there, it is loaded first. Never overwrites a file. A
    /// file appears whole or not at all. Blocks no thread of the cooperative pool.
    static func save(
        _ movie: Movie, _ request: ImageRequest, _ loader: FileLoader, in folder: String
    ) async -> SavedPoster {
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
            return SavedPoster(
                isSaved: true, line: (saved.outcome == .same ? "Saved already: " : "Saved as ") + saved.path)
        } catch let error as Failure {
            return SavedPoster(isSaved: false, line: error.description)
        } catch {
            return SavedPoster(isSaved: false, line: ImageLoadingError.advised(error))
        }
    }
}

/// Films saved as a catalogue in the working directory.
enum SavedFilms {
    /// Saves films as JSON, with the members that Marquee knows and their ids. Never overwrites a file.
    /// - Parameter films: the films that they are from.
    /// - Returns: the result in one line.
    static func save(_ movies: [Movie], of films: FilmSet, in folder: String) async -> String {
        var isWithoutPosters = false
        let texts = movies.map { movie in
            var document = SourceFilm(movie, ids: films.ids[movie.id] ?? [:]).document
            for member in FilmMember.addresses {
                guard let address = movie.text(member) else { continue }
                let whole = films.base.whole(address)
                let isInner = member == .poster && whole.map(hasOnlyInnerMeaning) == true
                if isInner { isWithoutPosters = true }
                document[member.name] = isInner ? nil : whole.map { JSONText($0) }
            }
            return document.json()
        }
        let bytes = Data("{\"movies\":[\(texts.joined(separator: ",\n"))]}\n".utf8)
        let output = OutputFile(folder: folder, stem: "films", ending: ".json")
        do throws(Failure) {
            let written = try await BlockingThreads(count: 1, name: "Saving").run({
                Failure($0, doing: "saving")
            }) {
                () throws(Failure) in try output.write(bytes, .number)
            }
            let count = movies.count == 1 ? "1 film" : "\(movies.count) films"
            let lack =
                isWithoutPosters
                ? ", without posters, which are not at an address; marquee export saves them too" : ""
            return "\(count) saved as \(written.path)" + lack
        } catch {
            return error.description
        }
    }

    /// Whether an address works only within this program.
    private static func hasOnlyInnerMeaning(_ address: String) -> Bool {
        guard let url = URL(string: address) else { return false }
        return url.lowercasedHost == CatalogueSource.sampleHost || LibraryTransport.serves(url)
    }
}
