import SystemSupport
import TestTraits
import Testing

@testable import HTTPServer

@Suite("TimerQueue", .bounded)
struct TimerQueueTests {
    @Test("entries are returned in order of time, and none early")
    func order() {
        let start = ContinuousClock.now
        var random = SeededNumbers(seed: 7)
        for count in [0, 1, 2, 3, 10, 500] {
            var queue = TimerQueue<Int>()
            let times = (0..<count).map { _ in Int.random(in: 0..<100, using: &random) }
            for time in times { queue.insert(time, at: start + .seconds(time)) }
            #expect(queue.next == times.min().map { start + .seconds($0) })
            var found: [Int] = []
            while let entry = queue.pop(until: start + .seconds(49)) { found.append(entry.key) }
            #expect(found == times.filter { $0 <= 49 }.sorted())
            while let entry = queue.pop(until: start + .seconds(100)) { found.append(entry.key) }
            #expect(found == times.sorted())
        }
    }
}
