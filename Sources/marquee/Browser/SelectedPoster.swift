import FilmBrowser
import FilmSources
import Films
import FoundationEssentials
import LazyImages
import SystemSupport
import TerminalGraphics

/// The commands for the poster of a selected film.
struct SelectedPoster {
    private let movie: Movie
    private let request: ImageRequest

    private static let lack = "The catalogue names no poster of this film"

    /// - Throws: why the film has no poster.
    init(_ movie: Movie, of base: BaseURL, _ session: Session) throws(Failure) {
        guard let address = movie.poster else {
            throw Failure(Self.lack)
        }
        self.movie = movie
        request = try Failure.advising(
            try session.posterRequest(for: address, relativeTo: base, decodedAt: nil))
    }

    /// The bytes that make the terminal copy the address, and the message about it.
    /// - Parameter keys: the keys that the message names.
    /// - Throws: why there is nothing to copy: the address is too long, or has a meaning only within this program.
    func copying(_ keys: BrowserKeys) throws(Failure) -> (bytes: [UInt8], notice: String) {
        let url = request.url
        let isOfSample = url.lowercasedHost == SampleCatalogue.host
        if isOfSample || LibraryPosters.serves(url) {
            throw Failure(
                "Nothing is copied: this poster's address works only within marquee; "
                    + "marquee serve gives \(isOfSample ? "the films" : "a library") an address for others")
        }
        let address = url.scheme?.lowercased() == "data" ? url.absoluteString : url.displayText
        guard let bytes = TerminalClipboard.copying(address, isInTmux: Terminal.isInTmux) else {
            throw Failure("The address is too long to be copied" + keys.text("; {o} saves the poster"))
        }
        return (bytes, "Address copied: \(url.displayText)")
    }

    /// Saves the poster's file in the working directory as it is in the cache; if it is not there, it is loaded first.
    /// Never overwrites a file. A file appears whole or not at all. Blocks no thread of the cooperative pool.
    /// - Returns: the result in one line.
    func save(with loader: FileLoader) async throws(Failure) -> String {
        var request = request
        if request.cachePolicy != .cacheOnly { request.cachePolicy = .returnCacheElseLoad }
        request.targetSize = nil
        let file: LoadedFile
        do { file = try await loader.file(for: request) } catch { throw Failure(error) }
        let name = FilmID.make(title: movie.title, year: movie.year)
        let ending = file.header.map { "." + $0.format.fileExtension } ?? ""
        let output = OutputFile(
            folder: FileManager.default.currentDirectoryPath, stem: name, ending: ending)
        let threads = BlockingThreads(count: 1, name: "Saving")
        let saved = try await output.write(file, .number, on: threads)
        return (saved.outcome == .same ? "Saved already: " : "Saved as ") + saved.path
    }

    /// The results of saving several posters in one line.
    static func summary(_ saved: [String], _ problems: [String]) -> String {
        if saved.count + problems.count == 1 { return saved.first ?? problems[0] }
        let posters = saved.count == 1 ? "1 poster saved" : "\(saved.count) posters saved"
        if problems.isEmpty { return posters }
        let lacking = problems.count { $0 == lack }
        let others = problems.first { $0 != lack }.map { "\(problems.count - lacking) not: \($0)" }
        let none = lacking == 0 ? nil : lacking == 1 ? "1 film has none" : "\(lacking) films have none"
        return [posters, none, others].compactMap(\.self).joined(separator: ", ")
    }
}

/// Films saved as a catalogue in the working directory.
enum SavedFilms {
    /// Saves films as JSON, with the members that Marquee knows and their ids. Never overwrites a file.
    /// - Parameter films: the films that they are from.
    /// - Returns: the result in one line.
    static func save(_ movies: [Movie], of films: FilmSet) async -> String {
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
        let output = OutputFile(
            folder: FileManager.default.currentDirectoryPath, stem: "films", ending: ".json")
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
        return url.lowercasedHost == SampleCatalogue.host || LibraryPosters.serves(url)
    }
}
