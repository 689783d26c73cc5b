import TestTraits
import Testing

@testable import FilmSources

@Suite("Ended sessions in a library", .bounded)
struct EndedSessionsTests {
    @Test("every program that has the library open knows an ended session at once, and a later one too")
    func shared() throws {
        let test = try TestLibrary()
        let here = EndedSessions(test.library)
        let there = EndedSessions(try FilmLibrary(path: test.path, access: .writing))
        let reading = EndedSessions(try FilmLibrary(path: test.path, access: .reading))
        for sessions in [here, there, reading] { #expect(try !sessions.contains("a")) }
        try here.add("a", until: 100, now: 0)
        for sessions in [here, there, reading] {
            #expect(try sessions.contains("a") && !sessions.contains("b"))
        }
        let later = EndedSessions(try FilmLibrary(path: test.path, access: .writing))
        #expect(try later.contains("a"))
        // Twice is once.
        try there.add("a", until: 100, now: 0)
        #expect(try here.contains("a"))
    }

    @Test("a session is forgotten once no cookie of it can be valid")
    func forgotten() throws {
        let test = try TestLibrary()
        let sessions = EndedSessions(test.library)
        try sessions.add("a", until: 100, now: 0)
        try sessions.add("b", until: 200, now: 101)
        #expect(try !sessions.contains("a") && sessions.contains("b"))
    }

    @Test("neither the films' revision nor the library's version changes, so that older programs open it")
    func compatibility() throws {
        let test = try TestLibrary()
        let before = try test.library.revision
        try EndedSessions(test.library).add("a", until: 100, now: 0)
        #expect(try test.library.revision == before)
        let version = try test.library.read { database throws(FilmLibraryError) in
            try database.number("PRAGMA user_version")
        }
        #expect(version == 1)
        #expect(try EndedSessions(test.library).contains("a"))
    }
}
