import CatalogueService
import Films
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
        try await run { operations throws(FilmError) in
            do throws(FilmError) {
                return FilmClient.Film(try operations.film(id))
            } catch {
                if case .noFilm = error { return nil }
                throw error
            }
        }
    }

    /// Adds a film that has an id, and its poster.
    func create(_ film: FilmDocument, _ poster: PosterFile?) async throws(Failure) -> FilmClient.Creation {
        let picture = try await bytes(poster)
        return try await run { operations throws(FilmError) in
            var document = film
            document["id"] = nil
            do throws(FilmError) {
                let added = try operations.add(document, id: film["id"]?.string, poster: picture)
                return .added(FilmClient.Film(added, toRoot: ""))
            } catch {
                if case .idTaken = error { return .taken(isRepeated: false) }
                throw error
            }
        }
    }

    /// Merges a patch into a film; nil if the film has changed since it was read.
    func change(_ film: FilmClient.Film, _ patch: FilmDocument) async throws(Failure) -> FilmClient.Film? {
        try await run { operations throws(FilmError) in
            do throws(FilmError) {
                return FilmClient.Film(try operations.change(film.id, patch, if: film.isUnchanged))
            } catch {
                if case .conditionFailed = error { return nil }
                throw error
            }
        }
    }

    /// Removes a film. A missing film counts as removed.
    /// - Returns: false if it has changed since it was read.
    func remove(_ film: FilmClient.Film) async throws(Failure) -> Bool {
        try await run { operations throws(FilmError) in
            do throws(FilmError) {
                try operations.remove(film.id, if: film.isUnchanged)
            } catch {
                if case .conditionFailed = error { return false }
                guard case .noFilm = error else { throw error }
            }
            return true
        }
    }

    /// Sets a film's poster, or removes it. A missing poster counts as removed.
    func setPoster(of film: FilmClient.Film, _ poster: PosterFile?) async throws(Failure) {
        let picture = try await bytes(poster)
        try await run { operations throws(FilmError) in
            guard let picture else {
                return try Self.ignoringMissing { () throws(FilmError) in
                    try operations.removePoster(of: film.id)
                }
            }
            _ = try operations.setPoster(of: film.id, picture)
        }
    }

    /// Sets a vote, or removes it if the value is nil. A missing vote counts as removed.
    func rate(_ film: FilmClient.Film, by rater: String, _ value: Double?) async throws(Failure) {
        try await run { operations throws(FilmError) in
            guard let value else {
                return try Self.ignoringMissing { () throws(FilmError) in
                    try operations.unrate(film.id, by: rater)
                }
            }
            _ = try operations.rate(film.id, by: rater, value)
        }
    }

    private static func ignoringMissing(_ removal: () throws(FilmError) -> Void) throws(FilmError) {
        do throws(FilmError) {
            try removal()
        } catch {
            switch error {
            case .noFilm, .noPoster, .noRating: break
            default: throw error
            }
        }
    }

    private func bytes(_ poster: PosterFile?) async throws(Failure) -> [UInt8]? {
        guard let poster else { return nil }
        return try await Input.file(poster.path, limit: FilmOperations.posterBytes)
    }

    private func run<Value: Sendable>(
        _ work: @escaping @Sendable (FilmOperations) throws(FilmError) -> Value
    ) async throws(Failure) -> Value {
        try await threads.run({ Failure($0, doing: name) }) { [self] () throws(Failure) in
            do throws(FilmError) {
                return try work(operations)
            } catch {
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
