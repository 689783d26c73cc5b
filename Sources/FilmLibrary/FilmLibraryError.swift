package import MovieCatalogue

/// Why a library cannot be opened, read or written.
package enum FilmLibraryError: Error, Sendable, Hashable {
    /// The system's SQLite cannot be opened.
    case sqliteMissing(reason: String)
    /// There is no file at this path.
    case missing(path: String)
    /// The file is not a library.
    case notALibrary(path: String)
    /// A later version of the program created it.
    case newerVersion(path: String)
    /// The file or its folder cannot be written.
    case readOnly(path: String)
    /// Another process has been writing for longer than the timeout.
    case busy(path: String)
    /// The disk is full, or a quota or the file size limit is reached. The library has not changed.
    case full(path: String)
    /// Another file, or none, has taken the place of the open one, and cannot be used; `reason` continues "the file".
    /// Unless it says otherwise, nothing was changed.
    case replaced(path: String, reason: String)
    /// The file's content is inconsistent.
    case corrupt(path: String, reason: String)
    /// Any other error of the system or SQLite.
    case system(path: String, reason: String)
    /// Another film has this id.
    case idTaken(id: String)
    /// The id is invalid; `fault` says what it must be.
    case invalidID(id: String, fault: String)
    /// The film is invalid.
    case invalidFilm(CatalogueError)
    /// The film's text would be longer than `limit` bytes, and longer than it is now.
    case filmTooLarge(id: String, bytes: Int, limit: Int)
    /// The film would have more than `limit` members, and more than it has now.
    case tooManyMembers(id: String, members: Int, limit: Int)
    /// The cursor does not belong to this library and sort order.
    case invalidCursor
}

extension FilmLibraryError: CustomStringConvertible {
    /// One line: what is wrong and what to do. Escape it for a terminal: ids may come from untrusted clients.
    package var description: String {
        switch self {
        case .sqliteMissing(let reason):
            "a library needs SQLite, which cannot be opened (\(reason)); "
                + "install it, on Debian and Ubuntu with: apt-get install libsqlite3-0"
        case .missing(let path): "\(path): there is no such file; create a library with marquee import"
        case .notALibrary(let path): "\(path): not a Marquee library; create one with marquee import"
        case .newerVersion(let path): "\(path): a later version of Marquee created it; use that version"
        case .readOnly(let path): "\(path): the file or its folder cannot be written; check its permissions"
        case .busy(let path): "\(path): another program is writing; try again"
        case .full(let path): "\(path): the disk is full; nothing was changed; make room and try again"
        case .replaced(let path, let reason): "\(path): the file \(reason)"
        case .corrupt(let path, let reason):
            "\(path): the library is damaged (\(reason)); restore a copy, or export the readable films"
        case .system(let path, let reason): "\(path): \(reason)"
        case .idTaken(let id): "there is a film \"\(id)\" already; choose another id"
        case .invalidID(let id, let fault): "the id \"\(id)\" must be \(fault)"
        case .invalidFilm(let error): "\(error)"
        case .filmTooLarge(let id, let bytes, let limit):
            "the film \"\(id)\" has \(bytes) bytes as JSON, and at most \(limit) are stored; make it smaller"
        case .tooManyMembers(let id, let members, let limit):
            "the film \"\(id)\" has \(members) members, and at most \(limit) are stored; remove some"
        case .invalidCursor: "the cursor is not valid for this list; start again without it"
        }
    }
}
