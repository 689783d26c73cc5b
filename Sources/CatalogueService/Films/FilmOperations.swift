package import FilmSources
package import Films
package import HTTPSemantics
import ImageCodecs
import SystemSupport

/// What can be done with the films of a library: values in, values out, errors typed. REST, the pages, SOAP and the
/// command line are faces of it: they read values from requests and write them as answers.
///
/// All calls block, as those of a library do. Safe for concurrent use.
package final class FilmOperations: Sendable {
    package let library: FilmLibrary
    private let keepsMetadata: Bool
    private let takesFiles: Bool
    /// Held while an uploaded picture is decoded, which takes up to some hundred megabytes.
    private let decoding = Lock(())

    /// - Parameters:
    ///   - keepsMetadata: whether uploaded posters keep Exif with its positions, texts and other metadata.
    ///   - takesFiles: whether films may name files of this machine. Clients on the network may not.
    package init(_ library: FilmLibrary, keepsMetadata: Bool = false, takesFiles: Bool = true) {
        self.library = library
        self.keepsMetadata = keepsMetadata
        self.takesFiles = takesFiles
    }

    // MARK: Reading

    /// A page of films.
    /// - Parameter bytes: the most bytes of the films' stored texts. Default: any number.
    /// - Returns: nil if the texts have more bytes.
    package func films(_ query: FilmQuery, ifAtMost bytes: Int? = nil) throws(FilmError) -> FilmQuery.Page? {
        try run { try library.films(query, ifAtMost: bytes) }
    }

    /// One vote, and its film.
    package func rating(of id: String, by rater: String) throws(FilmError) -> (
        value: Double, film: StoredFilm
    ) {
        let film = try library.existingFilm(id)
        guard let value = try run({ try library.rating(of: id, by: rater) }) else {
            throw .noRating(id: id, rater: rater)
        }
        return (value, film)
    }

    /// The bytes of a stored poster.
    package func poster(of id: String) throws(FilmError) -> StoredPoster {
        guard let poster = try run({ try library.poster(of: id) }) else { throw .noPoster(id: id) }
        return poster
    }

    /// A film as clients see it: with its id first, and the library's own members last.
    /// - Parameter toRoot: the relative path from the client's address to the root, where the poster's address begins.
    package static func document(of film: StoredFilm, toRoot: String) -> FilmDocument {
        FilmRendering(toRoot: toRoot).whole(film)
    }

    // MARK: Writing

    /// Adds a film. Without an id it gets one, made from title and year.
    package func add(
        _ document: FilmDocument, id: String?, poster: [UInt8]? = nil
    ) throws(FilmError) -> StoredFilm {
        if let id { try Self.check(id: id) }
        try check(document)
        let poster = try poster.map(checked)
        return try run { try library.insert(document, id: id, poster: poster) }
    }

    /// Replaces a film, or adds it under this id. Its votes stay.
    /// - Parameters:
    ///   - upload: another poster. Default: nil, the address in the document, or none.
    ///   - keepsPoster: whether a stored poster stays, unless the document has an address. Default: no.
    ///   - condition: called with the present film; throws to prevent the change.
    package func replace(
        _ id: String, with document: FilmDocument, poster upload: [UInt8]? = nil, keepsPoster: Bool = false,
        if condition: (StoredFilm?) throws(FilmError) -> Void = { _ in }
    ) throws(FilmError) -> (film: StoredFilm, isNew: Bool) {
        try Self.check(id: id)
        // The addresses are checked below, with those of the present film: they may stay.
        if !document.problems.isEmpty { throw .invalid(document.problems) }
        let poster = try change(upload, orElse: keepsPoster ? .keep : .asDocument)
        return try run {
            try library.replace(id, with: document, poster: poster) { existing in
                try condition(existing)
                try check(document, replacing: existing?.document)
            }
        }
    }

    /// Merges members into a film (RFC 7396), in one transaction with its condition. Null removes a member.
    /// - Parameters:
    ///   - upload: another poster.
    ///   - condition: throws to prevent the change.
    package func change(
        _ id: String, _ patch: FilmDocument, poster upload: [UInt8]? = nil,
        if condition: (StoredFilm) throws(FilmError) -> Void = { _ in }
    ) throws(FilmError) -> StoredFilm {
        let isRemoved = patch["poster"]?.isNull == true
        let poster = try change(upload, orElse: isRemoved ? .asDocument : .keep)
        let members = JSONText(members: patch.members)
        return try found(id) {
            try library.update(id, poster: poster) { existing in
                try condition(existing)
                var document = existing.document
                try document.merge(members)
                try check(document, replacing: existing.document)
                return document
            }
        }
    }

    /// Removes a film with its votes and its poster.
    /// - Parameter condition: throws to prevent it.
    package func remove(
        _ id: String, if condition: (StoredFilm) throws(FilmError) -> Void = { _ in }
    ) throws(FilmError) {
        guard try run({ try library.remove(id) { try condition($0) } }) else { throw .noFilm(id: id) }
    }

    /// Stores a picture as the film's poster.
    /// - Returns: the film, and whether it had no stored poster before.
    package func setPoster(
        of id: String, _ bytes: [UInt8], if condition: (StoredFilm) throws(FilmError) -> Void = { _ in }
    ) throws(FilmError) -> (film: StoredFilm, isNew: Bool) {
        // A picture is decoded only for a film that exists.
        _ = try library.existingFilm(id)
        let poster = try checked(bytes)
        var isNew = true
        let film = try found(id) {
            try library.update(id, poster: .store(poster)) { existing in
                if case .stored = existing.poster { isNew = false }
                try condition(existing)
                return existing.document
            }
        }
        return (film, isNew)
    }

    /// Removes a film's poster, even one that is elsewhere.
    package func removePoster(
        of id: String, if condition: (StoredFilm) throws(FilmError) -> Void = { _ in }
    ) throws(FilmError) {
        _ = try found(id) {
            try library.update(id, poster: .asDocument) { existing in
                guard existing.poster != .none else { throw FilmError.noPoster(id: id) }
                try condition(existing)
                var document = existing.document
                document["poster"] = nil
                return document
            }
        }
    }

    /// Sets a vote. Repeating it changes nothing.
    package func rate(
        _ id: String, by rater: String, _ value: Double
    ) throws(FilmError) -> (film: StoredFilm, isNew: Bool) {
        try Self.check(rater: rater)
        guard Movie.scores.contains(value) else {
            throw .invalid([FieldProblem(member: "value", detail: "must be a number from 0 to 10")])
        }
        var isNew = true
        let film = try found(id) {
            try library.rate(id, rater: rater, value: value) { _ in isNew = false }
        }
        return (film, isNew)
    }

    /// Removes a vote.
    package func unrate(_ id: String, by rater: String) throws(FilmError) {
        _ = try rating(of: id, by: rater)
        _ = try run { try library.unrate(id, rater: rater) }
    }

    // MARK: Checks

    /// Whether a rater may have this name: it is a segment of a path, like an id.
    static func isRater(_ name: String) -> Bool {
        (1...200).contains(name.utf8.count) && name != "." && name != ".." && !name.contains("/")
            && !name.unicodeScalars.contains { $0.properties.generalCategory == .control }
    }

    static func check(rater: String) throws(FilmError) {
        guard isRater(rater) else {
            throw .invalid([
                FieldProblem(
                    member: "rater", detail: "must have 1 to 200 bytes, without / and control characters")
            ])
        }
    }

    static func check(id: String) throws(FilmError) {
        if let fault = FilmID.fault(id) {
            throw .invalid([FieldProblem(member: "id", detail: "must be \(fault)")])
        }
    }

    /// - Parameter before: the film that is changed; its addresses may stay.
    private func check(_ document: FilmDocument, replacing before: FilmDocument? = nil) throws(FilmError) {
        var problems = document.problems
        if !takesFiles {
            problems += FilmMember.addresses.filter { member in
                let address = document[member.name]
                return address != before?[member.name] && address?.string.map(Self.namesFile) == true
            }.map { FieldProblem(member: $0.name, detail: "must be an address on the web, not a file") }
        }
        if !problems.isEmpty { throw .invalid(problems) }
    }

    /// Whether an address can only mean a file: it has the scheme, or `//` without a host.
    private static func namesFile(_ address: String) -> Bool {
        let text = address.drop { $0.isWhitespace }.lowercased()
        guard text.hasPrefix("//") else { return text.hasPrefix("file:") }
        return WebOrigin("http:" + text) == nil
    }

    private func change(
        _ upload: [UInt8]?, orElse other: PosterChange
    ) throws(FilmError) -> PosterChange {
        if let upload { .store(try checked(upload)) } else { other }
    }

    /// The most bytes of an uploaded poster. Of pixels it may have as many as pictures are made of.
    package static let posterBytes = 32 << 20

    /// The poster to store: a picture in a format of ours according to its bytes, decoded completely, and without the
    /// metadata of cameras and editors.
    private func checked(_ bytes: [UInt8]) throws(FilmError) -> PosterBytes {
        guard bytes.count <= Self.posterBytes else { throw .posterTooLarge(limit: Self.posterBytes) }
        do throws(ImageDecodingError) {
            guard let format = ImageDecoders.standard.format(of: bytes) else { throw .unrecognized }
            let limits = DecodingLimits(inputBytes: Self.posterBytes)
            // One picture at a time.
            let bitmap = try decoding.withLock { _ throws(ImageDecodingError) in
                try ImageDecoders.standard.decode(bytes, limits: limits)
            }
            if let damage = bitmap.damage { throw damage }
            return PosterBytes(
                mediaType: format.mediaType, bytes: keepsMetadata ? bytes : try ImageMetadata.strip(bytes))
        } catch {
            throw .invalid([FieldProblem(member: "poster", detail: "cannot be used: \(error)")])
        }
    }

    /// The result of work on a film.
    /// - Throws: `.noFilm` if there is none.
    private func found<Value>(_ id: String, _ work: () throws -> Value?) throws(FilmError) -> Value {
        guard let value = try run(work) else { throw .noFilm(id: id) }
        return value
    }

    private func run<Value>(_ work: () throws -> Value) throws(FilmError) -> Value {
        do {
            return try work()
        } catch {
            throw FilmError(error)
        }
    }
}

extension FilmLibrary {
    /// The film with an id.
    /// - Throws: `.noFilm` if there is none.
    package func existingFilm(_ id: String) throws(FilmError) -> StoredFilm {
        do { if let film = try film(id) { return film } } catch { throw FilmError(error) }
        throw .noFilm(id: id)
    }
}

/// Why an operation on films fails.
package enum FilmError: Error, Sendable {
    case noFilm(id: String)
    case noPoster(id: String)
    case noRating(id: String, rater: String)
    /// Another film has the id.
    case idTaken(id: String)
    /// Members have wrong values: at least one.
    case invalid([FieldProblem])
    /// The poster has more than `limit` bytes.
    case posterTooLarge(limit: Int)
    /// The caller's condition does not hold; the text says what to do.
    case conditionFailed(String)
    /// The cursor is not of this list.
    case invalidCursor
    /// The library or the system fails.
    case library(any Error)

    /// The error of a library.
    package init(_ error: any Error) {
        switch error {
        case let error as FilmError: self = error
        case FilmLibraryError.idTaken(let id): self = .idTaken(id: id)
        case FilmLibraryError.invalidCursor: self = .invalidCursor
        case FilmLibraryError.invalidID(_, let fault):
            self = .invalid([FieldProblem(member: "id", detail: "must be \(fault)")])
        default: self = .library(error)
        }
    }

    /// The problem in the client's words (RFC 9457). It names no path and no error of the system.
    /// - Parameters:
    ///   - toRoot: the relative path from the request's folder to the root.
    ///   - request: the id of the request, by which the operator finds a failure in the log.
    package func problem(toRoot: String = "", request: String = "") -> ProblemDetails {
        switch self {
        case .noFilm(let id): return ProblemDetails(.notFound, "there is no film \"\(id)\"")
        case .noPoster(let id): return ProblemDetails(.notFound, "the film \"\(id)\" has no stored poster")
        case .noRating(let id, let rater):
            return ProblemDetails(.notFound, "\"\(rater)\" has not rated the film \"\(id)\"")
        case .idTaken(let id):
            let path = toRoot + "films/" + PercentEncoding.encoded(id)
            return ProblemDetails(
                .conflict, "the film \"\(id)\" exists already, at \(path)",
                members: [("id", .text(id)), ("path", .text(path))])
        case .invalid(let problems):
            let more = problems.count > 1 ? ", and \(problems.count - 1) more" : ""
            let detail = problems.first.map { "the \($0.member) \($0.detail)\(more)" } ?? ""
            return ProblemDetails(
                .unprocessableContent, detail,
                errors: problems.map { (Self.pointer($0.member), $0.detail) })
        case .posterTooLarge(let limit):
            return ProblemDetails(.contentTooLarge, "a poster has at most \(limit) bytes")
        case .conditionFailed(let detail): return ProblemDetails(.preconditionFailed, detail)
        case .invalidCursor:
            return ProblemDetails(
                .badRequest, "the cursor is not from a Link of this list; begin again without it")
        case .library(let error): return Self.problem(error as? FilmLibraryError, request)
        }
    }

    /// A JSON pointer to a member (RFC 6901).
    private static func pointer(_ member: String) -> String {
        "/" + member.replacing("~", with: "~0").replacing("/", with: "~1")
    }

    private static func problem(_ error: FilmLibraryError?, _ request: String) -> ProblemDetails {
        switch error {
        case .busy:
            return ProblemDetails(.serviceUnavailable, "the library is busy; try again in a moment")
        case .full:
            return ProblemDetails(.insufficientStorage, "the library's disk is full; nothing was changed")
        case .replaced:
            return ProblemDetails(
                .serviceUnavailable,
                "the library's file is being replaced; the change is not stored; try again in a moment")
        case .filmTooLarge(_, let bytes, let limit):
            return ProblemDetails(
                .contentTooLarge, "the film has \(bytes) bytes as JSON; at most \(limit) are stored")
        case .tooManyMembers(_, let members, let limit):
            let detail = "the film has \(members) members; at most \(limit) are stored"
            return ProblemDetails(
                .unprocessableContent, detail, errors: [("", detail)])
        case .invalidFilm(let error): return FilmRefusal(error).problem
        case .readOnly: return ProblemDetails(.forbidden, "the library is not writable")
        default:
            let name = request.isEmpty ? "" : " (request \(request))"
            return ProblemDetails(
                .internalServerError,
                "the service failed; its operator finds the reason in its log\(name)")
        }
    }

    /// The seconds after which trying again makes sense; nil where it does not.
    var retryAfter: Int? {
        switch self {
        case .library(FilmLibraryError.busy): 1
        case .library(FilmLibraryError.replaced): 5
        default: nil
        }
    }
}
