import Coalescing
import TestTraits
import Testing

@Suite("A waiting line", .bounded)
struct WaitingLineTests {
    @Test("whatever comes and leaves, the first is the smallest, and all stand in their order")
    func order() {
        var random = SystemRandomNumberGenerator()
        var (line, expected) = (WaitingLine<Int, String>(), Set<Int>())
        for step in 0..<20_000 {
            let place = Int.random(in: 0..<2_000, using: &random)
            switch Int.random(in: 0..<8, using: &random) {
            case 0..<(step < 10_000 ? 5 : 2) where expected.insert(place).inserted:
                line.insert("\(place)", at: place)
            case 5..<7:
                let waiter = expected.remove(place).map { "\($0)" }
                #expect(line.remove(place) == waiter)
            case 7 where !expected.isEmpty:
                if let first = expected.min() { expected.remove(first) }
                line.removeFirst()
            default: break
            }
            #expect(line.count == expected.count && line.firstPlace == expected.min())
        }
        for place in expected.sorted() {
            #expect(line.firstPlace == place && line.first == "\(place)")
            line.removeFirst()
        }
        #expect(line.count == 0 && line.first == nil && line.firstPlace == nil)
    }

    @Test("four times the work takes about four times as long to cancel, to raise and to admit")
    func manyWaiters() {
        let changes: [(name: String, change: (inout Slots, Int) -> Void)] = [
            (
                "cancelled in order",
                { slots, count in for number in 1...count { _ = slots.cancel(number) } }
            ),
            (
                "the last first",
                { slots, count in for number in (1...count).reversed() { _ = slots.cancel(number) } }
            ),
            (
                "scattered",
                { slots, count in for number in 1...count { _ = slots.cancel(number * 7_919 % count + 1) } }
            ),
            ("raised", { slots, count in for number in 1...count { slots.reorder(number, 4) } }),
            (
                "raised, the last first",
                { slots, count in for number in (1...count).reversed() { slots.reorder(number, 4) } }
            ),
            (
                "admitted",
                { slots, _ in
                    while let next = slots.next(now: .zero) {
                        slots.leave(next.number, .answered, now: .zero)
                    }
                }
            ),
        ]
        for (name, change) in changes {
            let growth = ProcessorTime.growth { count in
                var slots = Slots(
                    perHost: 6, total: 32, breaker: HostCircuitBreaker(failures: .max, pause: .zero))
                for number in 1...count { slots.enter(number, host: "a", priority: 2) }
                change(&slots, count)
            }
            #expect(growth < 10, "\(name)")
        }
    }
}
