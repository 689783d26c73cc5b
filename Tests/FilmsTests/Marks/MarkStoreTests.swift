import Dispatch
import Films
import FoundationEssentials
import TestSupport
import TestTraits
import Testing

@testable import FilmSources

@Suite("The store of a person's marks", .bounded)
struct MarkStoreTests {
    private let home: TemporaryFolder
    private var path: String { home.file("data/marquee/marks.db") }

    init() throws { home = try TemporaryFolder() }

    private func change(
        _ key: String, _ mark: FilmMark, _ value: Int, film: String? = nil
    ) -> MarkStore.Change {
        MarkStore.Change(key: key, mark: mark, value: value, film: film)
    }

    private func values(_ store: MarkStore) throws -> [String] {
        try store.marks().map { "\($0.key) \($0.mark.rawValue) \($0.value)" }.sorted()
    }

    @Test("marks stay, the last value counts, and another program sees what has changed")
    func stored() throws {
        let store = try MarkStore(path: path)
        try store.set([change("faust-1926", .seen, 1), change("faust-1926", .rating, 8)], for: nil, now: 10)
        let other = try MarkStore(path: path)
        #expect(try values(other) == ["faust-1926 rating 8", "faust-1926 seen 1"])
        let known = try #require(try other.marks().map(\.revision).max())
        try store.set([change("faust-1926", .seen, 0)], for: nil, now: 20)
        let news = try other.marks(after: known)
        #expect(news.map(\.mark) == [.seen] && news.map(\.value) == [0] && news.map(\.changed) == [20])
    }

    @Test("a server gets the last value of each mark once, whoever sends it")
    func unsent() throws {
        let (store, other) = (try MarkStore(path: path), try MarkStore(path: path))
        try store.set([change("a", .seen, 1, film: "f1"), change("a", .rating, 8)], for: "nas", now: 10)
        try other.set([change("a", .seen, 0, film: "f1")], for: "nas", now: 11)
        #expect(try store.unsent(to: "nas").map(\.value) == [0] && store.unsent(to: "else").isEmpty)
        let first = try #require(try store.claimUnsent(to: "nas", now: 1_000))
        #expect(first.film == "f1" && first.value == 0)
        #expect(try other.claimUnsent(to: "nas", now: 1_000) == nil)
        try store.end(first, to: "nas", isDone: false, now: 1_000)
        // A program that was killed keeps its claim for a while.
        let second = try #require(try other.claimUnsent(to: "nas", now: 1_001))
        #expect(try store.claimUnsent(to: "nas", now: 1_050) == nil)
        #expect(try store.claimUnsent(to: "nas", now: 1_200) == second)
        try store.end(second, to: "nas", isDone: true, now: 1_200)
        #expect(try store.unsent(to: "nas").isEmpty)
        // What has reached the server is as new as its list.
        #expect(try store.marks().first { $0.mark == .seen }?.changed == 1_200)
    }

    @Test("a mark that changes while it is sent is sent again")
    func changedMeanwhile() throws {
        let store = try MarkStore(path: path)
        try store.set([change("a", .seen, 1, film: "f1")], for: "nas", now: 10)
        let claimed = try #require(try store.claimUnsent(to: "nas", now: 1_000))
        try store.set([change("a", .seen, 0, film: "f1")], for: "nas", now: 1_001)
        try store.end(claimed, to: "nas", isDone: true, now: 1_002)
        #expect(try store.unsent(to: "nas").map(\.value) == [0])
        #expect(try store.marks().map(\.value) == [0])
    }

    @Test("without permission nothing waits for a server")
    func permission() throws {
        let store = try MarkStore(path: path)
        #expect(try store.isSending(to: "nas") == nil)
        try store.set([change("a", .seen, 1, film: "f1")], for: "nas", now: 10)
        try store.setSending(false, to: "nas")
        #expect(try store.isSending(to: "nas") == false && store.unsent(to: "nas").isEmpty)
        try store.setSending(true, to: "nas")
        #expect(try MarkStore(path: path).isSending(to: "nas") == true)
        #expect(try values(store) == ["a seen 1"])
    }

    @Test("a file that is no store of marks, or a later one, is refused and stays")
    func strangers() throws {
        let library = home.file("films.db")
        _ = try FilmLibrary(path: library, access: .creating)
        let error = #expect(throws: FilmLibraryError.self) { try MarkStore(path: library) }
        #expect(error.map { "\($0)".contains("no store of marks") } == true)
        _ = try FilmLibrary(path: library, access: .reading)
        try Data("text".utf8).write(to: URL(filePath: home.file("text.db")))
        #expect(throws: FilmLibraryError.self) { try MarkStore(path: home.file("text.db")) }
        _ = try MarkStore(path: path)
        let database = try Database(path: path, mode: .writing)
        try database.execute("PRAGMA user_version = 9")
        #expect(throws: FilmLibraryError.newerVersion(path: path)) { try MarkStore(path: path) }
        #expect(throws: FilmLibraryError.self) { try MarkStore(path: "/dev/null/marks.db") }
    }

    @Test("many writers at once lose no mark")
    func writers() throws {
        let path = path
        DispatchQueue.concurrentPerform(iterations: 4) { writer in
            do {
                let store = try MarkStore(path: path)
                for number in 0..<50 {
                    try store.set(
                        [MarkStore.Change(key: "\(number)", mark: .seen, value: 1, film: nil)], for: nil,
                        now: 1)
                    try store.set(
                        [MarkStore.Change(key: "\(writer)-\(number)", mark: .rating, value: 7, film: nil)],
                        for: nil,
                        now: 1)
                }
            } catch {
                Issue.record(error)
            }
        }
        let marks = try MarkStore(path: path).marks()
        #expect(marks.count == 250 && Set(marks.map(\.revision)).count == 250)
    }
}
