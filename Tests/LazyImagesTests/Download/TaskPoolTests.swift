import FoundationEssentials
import TestTraits
import Testing

@testable import LazyImages

@Suite("TaskPool", .bounded)
struct TaskPoolTests {
    private let pool = TaskPool<String, Int>()
    private let url = URL(filePath: "/a")

    private func join(
        _ key: String, since stamp: Int? = nil
    ) -> (work: SharedTask<Int>, caller: Int, isFirst: Bool)? {
        pool.join(key, url: url, priority: .normal, since: stamp)
    }

    @Test("the first caller of a key starts its task, and later callers join it")
    func sharing() throws {
        let (first, second, other) = (
            try #require(join("a")), try #require(join("a")), try #require(join("b"))
        )
        #expect(first.isFirst && !second.isFirst && other.isFirst)
        #expect(first.work === second.work && first.work !== other.work)
        #expect(first.work.number < other.work.number)
        #expect(pool.tasks.count == 2)
    }

    @Test("an abandoned task is not joined, and its end does not remove its successor")
    func abandoned() throws {
        let first = try #require(join("a"))
        first.work.leave(first.caller)
        #expect(pool.tasks.isEmpty)
        let second = try #require(join("a"))
        #expect(second.isFirst && second.work !== first.work)
        pool.finish("a", first.work, .success(1))
        #expect(pool["a"] === second.work)
    }

    @Test(
        "a caller that looked in the cache before the task of its key ended must look again, and no other caller must"
    )
    func stamps() throws {
        let before = pool.stamp
        let first = try #require(join("a", since: before))
        pool.finish("a", first.work, .success(1))
        #expect(join("a", since: before) == nil)
        #expect(join("b", since: before) != nil)
        #expect(join("a", since: pool.stamp)?.isFirst == true)
        #expect(join("a")?.isFirst == false)
    }

    @Test("a caller looks again when too many tasks have ended to remember them")
    func forgotten() throws {
        let before = pool.stamp
        for number in 0..<3_000 {
            let key = "\(number)"
            let joined = try #require(join(key))
            pool.finish(key, joined.work, .success(number))
        }
        #expect(join("never", since: before) == nil)
        #expect(join("never", since: pool.stamp) != nil)
    }

    @Test("a forgotten task continues for its callers, is not joined, and makes earlier callers look again")
    func forgetting() async throws {
        let before = pool.stamp
        let (first, other) = (try #require(join("a")), try #require(join("b")))
        #expect(!pool.hasForgotten(since: before))
        pool.forget { $0 == "a" }
        #expect(pool.hasForgotten(since: before) && !pool.hasForgotten(since: pool.stamp))
        #expect(first.work.isForgotten && !other.work.isForgotten)
        #expect(join("c", since: before) == nil, "whatever the key")
        let second = try #require(join("a", since: pool.stamp))
        #expect(second.isFirst && second.work !== first.work && !second.work.isForgotten)
        #expect(join("b")?.isFirst == false)
        pool.finish("a", first.work, .success(1))
        #expect(try await first.work.value(for: first.caller) == 1)
        #expect(pool["a"] === second.work)
    }
}
