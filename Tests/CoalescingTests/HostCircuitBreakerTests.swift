import Coalescing
import TestTraits
import Testing

@Suite("HostCircuitBreaker", .bounded)
struct HostCircuitBreakerTests {
    private var breaker = HostCircuitBreaker(failures: 3, pause: .seconds(2))

    @Test("repeated failures open the circuit for that host alone")
    mutating func rests() {
        for second in 0..<3 {
            #expect(breaker.admit("a", now: .seconds(second)) == .admitted)
            breaker.record(.failed, of: "a", now: .seconds(second))
        }
        #expect(breaker.admit("a", now: .seconds(2)) == .refused(until: .seconds(4)))
        #expect(breaker.admit("b", now: .seconds(2)) == .admitted)
    }

    @Test("a success resets the count of failures")
    mutating func success() {
        for _ in 0..<10 {
            breaker.record(.failed, of: "a", now: .zero)
            breaker.record(.failed, of: "a", now: .zero)
            breaker.record(.answered, of: "a", now: .zero)
        }
        #expect(breaker.admit("a", now: .zero) == .admitted)
    }

    @Test(
        "after the pause one probe runs; each failed probe doubles the pause, up to a minute")
    mutating func probe() {
        for _ in 0..<3 { breaker.record(.failed, of: "a", now: .zero) }
        #expect(breaker.admit("a", now: .seconds(1)) == .refused(until: .seconds(2)))
        #expect(breaker.admit("a", now: .seconds(2)) == .admitted)
        #expect(breaker.admit("a", now: .seconds(2)) == .refused(until: .seconds(2)))
        breaker.record(.failed, of: "a", now: .seconds(3))
        #expect(breaker.admit("a", now: .seconds(6)) == .refused(until: .seconds(7)))
        var now = Duration.seconds(7)
        for _ in 0..<20 {
            #expect(breaker.admit("a", now: now) == .admitted)
            breaker.record(.failed, of: "a", now: now)
            now += .seconds(60)
        }
        #expect(breaker.admit("a", now: now - .milliseconds(1)) != .admitted)
    }

    @Test("a successful probe closes the circuit")
    mutating func recovery() {
        for _ in 0..<3 { breaker.record(.failed, of: "a", now: .zero) }
        #expect(breaker.admit("a", now: .seconds(2)) == .admitted)
        breaker.record(.answered, of: "a", now: .zero)
        for _ in 0..<3 { #expect(breaker.admit("a", now: .seconds(2)) == .admitted) }
    }

    @Test("a cancelled probe lets another one run")
    mutating func abandoned() {
        for _ in 0..<3 { breaker.record(.failed, of: "a", now: .zero) }
        #expect(breaker.admit("a", now: .seconds(2)) == .admitted)
        breaker.record(.inconclusive, of: "a", now: .zero)
        #expect(breaker.admit("a", now: .seconds(2)) == .admitted)
    }

    @Test("failures of transfers that were running when the circuit opened do not lengthen the pause")
    mutating func stragglers() {
        for _ in 0..<30 { breaker.record(.failed, of: "a", now: .seconds(1)) }
        #expect(breaker.admit("a", now: .seconds(3)) == .admitted)
    }

    @Test("hosts that fail rarely are forgotten in time")
    mutating func bounded() {
        for _ in 0..<3 { breaker.record(.failed, of: "dead", now: .zero) }
        for number in 0..<5000 { breaker.record(.failed, of: "host\(number)", now: .zero) }
        #expect(breaker.admit("dead", now: .zero) != .admitted)
        #expect(breaker.hostCount <= 1001)
    }

    @Test("an insisting request passes an open circuit, and its outcome counts as a probe's")
    mutating func insisting() {
        for _ in 0..<3 { breaker.record(.failed, of: "a", now: .zero) }
        #expect(breaker.admit("a", now: .seconds(1), overrides: true) == .admitted)
        #expect(breaker.admit("a", now: .seconds(1), overrides: true) == .admitted)
        breaker.record(.failed, of: "a", now: .seconds(1))
        #expect(breaker.admit("a", now: .seconds(2)) == .refused(until: .seconds(5)))
        #expect(breaker.admit("a", now: .seconds(2), overrides: true) == .admitted)
        breaker.record(.answered, of: "a", now: .zero)
        #expect(breaker.admit("a", now: .seconds(2)) == .admitted)
    }
}
