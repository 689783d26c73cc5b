import CSQLite
import FoundationEssentials
import SystemSupport

/// The system's SQLite, opened once per process, for the first library.
enum SQLite {
    /// Debian and its derivatives install it with Swift's own dependencies. The environment variable
    /// `MARQUEE_LIBSQLITE`, a path, overrides it.
    private static let name = "libsqlite3.so.0"

    private static let isOpen = Lock(false)

    /// Opens the shared library once.
    /// - Throws: `.sqliteMissing`. The next call tries again.
    static func open() throws(FilmLibraryError) {
        try isOpen.withLock { isOpen throws(FilmLibraryError) in
            if isOpen { return }
            let chosen = ProcessInfo.processInfo.environment["MARQUEE_LIBSQLITE"].flatMap {
                $0.isEmpty ? nil : $0
            }
            var reason = [CChar](repeating: 0, count: 512)
            guard unsafe csqlite_open_library(chosen ?? name, &reason, reason.count) == 0 else {
                throw .sqliteMissing(
                    reason: String(
                        decoding: reason.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self))
            }
            isOpen = true
        }
    }
}

extension FilmLibrary {
    /// The version of the system's SQLite, such as `3.40.1`.
    package static func engineVersion() throws(FilmLibraryError) -> String {
        try SQLite.open()
        return unsafe String(cString: csqlite_version())
    }
}

/// A value of a statement or a row.
enum SQLValue: Sendable {
    case null
    case integer(Int)
    case real(Double)
    case text(String)
    case blob([UInt8])

    /// Nil becomes NULL.
    init(_ text: String?) { self = text.map(Self.text) ?? .null }
    init(_ number: Double?) { self = number.map(Self.real) ?? .null }
}
