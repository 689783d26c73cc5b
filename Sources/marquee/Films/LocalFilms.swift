import CatalogueService
import FilmSources
import Films
import HTTPSemantics
import SystemSupport

/// The films of a library file, for the commands that change them. No service is between them and the file.
struct LocalFilms: Sendable {
    private let operations: FilmOperations
    /// The library's name in messages.
    private let name: String
    private let threads = BlockingThreads(count: 1, name: "marquee-library")

    /// Opens the library for writing.
    init(path: String) throws(FilmLibraryError) {
        operations = FilmOperations(try FilmLibrary(path: path, access: .writing))
        name = path
    }

    /// The film with an id; nil if there is none.
    func film(_ id: String) async throws(Failure) -> FilmClient.Film? {
        try await run(expecting: .notFound) { operations throws(FilmError) in
            FilmClient.Film(try operations.film(id))
        }
    }

    /// Adds a film that has an id, and its poster.
    func create(_ film: FilmDocument, _ poster: PosterFile?) async throws(Failure) -> FilmClient.Creation {
        let picture = try await bytes(poster)
        let added = try await run(expecting: .conflict) { operations throws(FilmError) in
            var document = film
            document["id"] = nil
            let added = try operations.add(document, id: film["id"]?.string, poster: picture)
            return FilmClient.Film(added, toRoot: "")
        }
        return added.map { .added($0) } ?? .taken(isRepeated: false)
    }

    /// Merges a patch into a film; nil if the film has changed since it was read.
    func change(_ film: FilmClient.Film, _ patch: FilmDocument) async throws(Failure) -> FilmClient.Film? {
        try await run(expecting: .preconditionFailed) { operations throws(FilmError) in
            FilmClient.Film(try operations.change(film.id, patch, if: film.isUnchanged))
        }
    }

    /// Removes a film. A missing film counts as removed.
    /// - Returns: false if it has changed since it was read.
    func remove(_ film: FilmClient.Film) async throws(Failure) -> Bool {
        try await run(expecting: .preconditionFailed) { operations throws(FilmError) in
            do throws(FilmError) {
                try operations.remove(film.id, if: film.isUnchanged)
            } catch .noFilm {}
            return true
        } ?? false
    }

    /// Sets a film's poster.
    func setPoster(of film: FilmClient.Film, _ poster: PosterFile) async throws(Failure) {
        let picture = try await Input.file(poster.path, limit: FilmOperations.posterBytes)
        _ = try await run(expecting: nil) { operations throws(FilmError) in
            try operations.setPoster(of: film.id, picture)
        }
    }

    /// Sets a vote, or removes it if the value is nil. A missing vote counts as removed.
    func rate(_ film: FilmClient.Film, by rater: String, _ value: Double?) async throws(Failure) {
        _ = try await run(expecting: value == nil ? .notFound : nil) { operations throws(FilmError) in
            if let value {
                _ = try operations.rate(film.id, by: rater, value)
            } else {
                try operations.unrate(film.id, by: rater)
            }
        }
    }

    private func bytes(_ poster: PosterFile?) async throws(Failure) -> [UInt8]? {
        guard let poster else { return nil }
        return try await Input.file(poster.path, limit: FilmOperations.posterBytes)
    }

    /// - Parameter expected: the status of a refusal that is not a failure.
    /// - Returns: nil after such a refusal.
    private func run<Value: Sendable>(
        expecting expected: HTTPStatus?,
        _ work: @escaping @Sendable (FilmOperations) throws(FilmError) -> Value
    ) async throws(Failure) -> Value? {
        try await threads.run({ Failure($0, doing: name) }) { [self] () throws(Failure) in
            do throws(FilmError) {
                return try work(operations)
            } catch {
                if error.problem().status == expected { return nil }
                throw failure(error)
            }
        }
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
