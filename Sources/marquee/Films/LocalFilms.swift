import CatalogueService
import FilmSources
import Films
import HTTPSemantics
import SystemSupport

/// The films of a library file, for the commands that change them. No service is between them and the file.
struct LocalFilms: ChangeableFilms {
    private let operations: FilmOperations
    /// The library's name in messages.
    private let name: String
    private let threads = BlockingThreads(count: 1, name: "marquee-library")

    /// Opens the library for writing.
    init(path: String) throws(FilmLibraryError) {
        operations = FilmOperations(try FilmLibrary(path: path, access: .writing))
        name = path
    }

    var addsPosters: Bool { true }

    func perform(_ change: FilmChange, expecting expected: Set<Int>) async throws -> FilmOutcome {
        var picture: [UInt8]?
        switch change {
        case .add(_, let poster?, _), .setPoster(let poster, _):
            picture = try await Input.file(poster.path, limit: FilmOperations.posterBytes)
        default: break
        }
        return try await threads.run({ Failure($0, doing: name) }) { [self, picture] () throws(Failure) in
            do throws(FilmError) {
                return .done(try make(change, picture))
            } catch {
                let status = error.problem().status.rawValue
                if expected.contains(status) { return .refused(status, isRepeated: false) }
                throw failure(error)
            }
        }
    }

    private func make(_ change: FilmChange, _ picture: [UInt8]?) throws(FilmError) -> FilmClient.Film? {
        switch change {
        case .read(let id): return FilmClient.Film(try operations.library.existingFilm(id))
        case .add(var film, _, _):
            let id = film["id"]?.string
            film["id"] = nil
            return FilmClient.Film(try operations.add(film, id: id, poster: picture), toRoot: "")
        case .merge(let patch, let film):
            return FilmClient.Film(try operations.change(film.id, patch, if: film.isUnchanged))
        case .remove(let film): try operations.remove(film.id, if: film.isUnchanged)
        case .setPoster(_, let film): _ = try operations.setPoster(of: film.id, picture ?? [])
        case .rate(let film, let rater, let value?): _ = try operations.rate(film.id, by: rater, value)
        case .rate(let film, let rater, nil): try operations.unrate(film.id, by: rater)
        }
        return nil
    }

    /// The failure for the user, in one line.
    private func failure(_ error: FilmError) -> Failure {
        switch error {
        case .library(FilmLibraryError.filmTooLarge), .library(FilmLibraryError.tooManyMembers),
            .library(FilmLibraryError.invalidFilm):
            break
        case .library(let error): return Failure("\(error)")
        default: break
        }
        let problem = error.problem()
        let errors = problem.errors.map { "\($0.pointer) \($0.detail)" }.joined(separator: "; ")
        // A single error repeats the detail.
        return Failure("\(name): \(problem.detail)" + (problem.errors.count > 1 ? " (\(errors))" : ""))
    }
}

extension FilmClient.Film {
    /// A film of a library.
    /// - Parameter toRoot: the relative path to the library's root, from where the poster's address begins.
    fileprivate init(_ film: StoredFilm, toRoot: String = "../") {
        self.init(
            document: FilmOperations.document(of: film, toRoot: toRoot), tag: "\(film.revision)")
    }

    /// Throws if the stored film is another version.
    fileprivate func isUnchanged(_ film: StoredFilm) throws(FilmError) {
        if tag != "\(film.revision)" { throw .conditionFailed("\(name) has changed since") }
    }
}
