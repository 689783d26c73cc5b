import TestTraits
import Testing

@testable import LazyImages

@Suite("StoreQueue", .bounded)
struct StoreQueueTests {
    private func entry(_ bytes: Int) -> StagingArea.Entry {
        StagingArea.Entry(body: ByteArray([UInt8](repeating: 0, count: bytes)), metadata: [])
    }

    /// What is begun next.
    private func order(of queue: inout StoreQueue) throws -> StoreQueue.Order {
        let next = queue.next()
        return try #require(next)
    }

    @Test("the oldest writes make room, by bytes and by count, and removals stay")
    func bounds() throws {
        var queue = StoreQueue(bytes: 100, count: 3)
        let keys = try (0..<6).map { try SharedFixture.key($0) }
        queue.remove(keys[0], sends: true)
        #expect(queue.put(entry(10), for: keys[1]) == 0)
        #expect(queue.put(entry(10), for: keys[2]) == 0)
        #expect(queue.put(entry(10), for: keys[3]) == 0)
        #expect(queue.put(entry(10), for: keys[4]) == 1)
        #expect(queue.put(entry(85), for: keys[5]) == 2)
        #expect(queue.count == 3)
        #expect(queue.next()?.key == keys[0])
        #expect(queue.next()?.key == keys[4])
        #expect(queue.next()?.key == keys[5])
        #expect(queue.next() == nil)
        #expect(queue.put(entry(101), for: keys[1]) == 1)
    }

    @Test("a running removal is not repeated if its key is written again")
    func replacedRemoval() throws {
        var queue = StoreQueue(bytes: 100, count: 3)
        let key = try SharedFixture.key()
        queue.remove(key, sends: true)
        let removal = try order(of: &queue)
        _ = queue.put(entry(1), for: key)
        queue.finish(removal, .failed("DELETE: status 500", isRefusal: false))
        let write = try order(of: &queue)
        guard case .put = write.work else {
            Issue.record("the write is lost")
            return
        }
        #expect(!queue.isRemoved(key))
    }
}
