import SystemSupport

/// The sessions of browsers that have signed out before their time. They are rows of the library, so that every program
/// that has it open knows them at once, and after a restart:
///
///     digest      until         a name of the session; the second, since 1970, from which on no cookie of it is valid
///     9f86d081…   1790086400
///
/// The first sign-out makes the table. Earlier versions ignore it. Safe for concurrent use.
package final class EndedSessions: Sendable {
    private let library: FilmLibrary
    /// All of them, as they were in a state of the library.
    private let known = Lock<(state: Int64, digests: Set<String>)?>(nil)

    package init(_ library: FilmLibrary) { self.library = library }

    /// Whether a session has ended. Takes microseconds, as `FilmLibrary.state` does; after a write it reads them anew.
    package func contains(_ digest: String) throws(FilmLibraryError) -> Bool {
        // Read before the rows: after a concurrent write they are kept for too old a state, never for too new a one.
        let state = try library.state
        if let known = known.withLock({ $0 }), known.state == state { return known.digests.contains(digest) }
        let digests = try library.read { database throws(FilmLibraryError) in
            let tables = "SELECT count(*) FROM sqlite_master WHERE name = 'ended_sessions'"
            guard try database.number(tables) > 0 else { return Set<String>() }
            return Set(
                try database.all("SELECT digest FROM ended_sessions") { row throws(FilmLibraryError) in
                    row.text(0)
                })
        }
        known.withLock { $0 = (state, digests) }
        return digests.contains(digest)
    }

    /// Ends a session, and forgets those whose time is over. Blocks.
    /// - Parameters:
    ///   - until: when no cookie of the session is valid any more, in seconds since 1970.
    ///   - now: the time, in the same unit.
    package func add(_ digest: String, until: Int, now: Int) throws {
        try library.write { transaction in
            let database = transaction.database
            try database.execute(
                "CREATE TABLE IF NOT EXISTS ended_sessions (digest TEXT PRIMARY KEY, until INTEGER NOT NULL)")
            try database.run("DELETE FROM ended_sessions WHERE until < ?", .integer(now))
            try database.run(
                "INSERT OR REPLACE INTO ended_sessions VALUES (?, ?)", .text(digest), .integer(until))
        }
    }
}
