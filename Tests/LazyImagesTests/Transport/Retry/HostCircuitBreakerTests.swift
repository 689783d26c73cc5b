import TestTraits
import Testing

@testable import LazyImages

@Suite("HostCircuitBreaker", .bounded)
struct HostCircuitBreakerTests {
    private var budget = HostCircuitBreaker(RetryPolicy(failuresOfHost: 3, pauseOfHost: .seconds(2)))

    @Test("repeated failures open the circuit for that host alone")
    mutating func rests() {
        for second in 0..<3 {
            #expect(budget.admit("a", now: .seconds(second)) == .allowed)
            budget.failed("a", now: .seconds(second))
        }
        #expect(budget.admit("a", now: .seconds(2)) == .refused(until: .seconds(4)))
        #expect(budget.admit("b", now: .seconds(2)) == .allowed)
    }

    @Test("a success resets the count of failures")
    mutating func success() {
        for _ in 0..<10 {
            budget.failed("a", now: .zero)
            budget.failed("a", now: .zero)
            budget.succeeded("a")
        }
        #expect(budget.admit("a", now: .zero) == .allowed)
    }

    @Test(
        "after the pause one probe runs; each failed probe doubles the pause, up to a minute")
    mutating func probe() {
        for _ in 0..<3 { budget.failed("a", now: .zero) }
        #expect(budget.admit("a", now: .seconds(1)) == .refused(until: .seconds(2)))
        #expect(budget.admit("a", now: .seconds(2)) == .allowed)
        #expect(budget.admit("a", now: .seconds(2)) == .refused(until: .seconds(2)))
        budget.failed("a", now: .seconds(3))
        #expect(budget.admit("a", now: .seconds(6)) == .refused(until: .seconds(7)))
        var now = Duration.seconds(7)
        for _ in 0..<20 {
            #expect(budget.admit("a", now: now) == .allowed)
            budget.failed("a", now: now)
            now += .seconds(60)
        }
        #expect(budget.admit("a", now: now - .milliseconds(1)) != .allowed)
    }

    @Test("a successful probe closes the circuit")
    mutating func recovery() {
        for _ in 0..<3 { budget.failed("a", now: .zero) }
        #expect(budget.admit("a", now: .seconds(2)) == .allowed)
        budget.succeeded("a")
        for _ in 0..<3 { #expect(budget.admit("a", now: .seconds(2)) == .allowed) }
    }

    @Test("a cancelled probe lets another one run")
    mutating func abandoned() {
        for _ in 0..<3 { budget.failed("a", now: .zero) }
        #expect(budget.admit("a", now: .seconds(2)) == .allowed)
        budget.inconclusive("a")
        #expect(budget.admit("a", now: .seconds(2)) == .allowed)
    }

    @Test("failures of transfers that were running when the circuit opened do not lengthen the pause")
    mutating func stragglers() {
        for _ in 0..<30 { budget.failed("a", now: .seconds(1)) }
        #expect(budget.admit("a", now: .seconds(3)) == .allowed)
    }

    @Test("hosts that fail rarely are forgotten in time")
    mutating func bounded() {
        for _ in 0..<3 { budget.failed("dead", now: .zero) }
        for number in 0..<5000 { budget.failed("host\(number)", now: .zero) }
        #expect(budget.admit("dead", now: .zero) != .allowed)
        #expect(budget.hostCount <= 1001)
    }

    @Test("an insisting request passes an open circuit, and its outcome counts as a probe's")
    mutating func insisting() {
        for _ in 0..<3 { budget.failed("a", now: .zero) }
        #expect(budget.admit("a", now: .seconds(1), overrides: true) == .allowed)
        #expect(budget.admit("a", now: .seconds(1), overrides: true) == .allowed)
        budget.failed("a", now: .seconds(1))
        #expect(budget.admit("a", now: .seconds(2)) == .refused(until: .seconds(5)))
        #expect(budget.admit("a", now: .seconds(2), overrides: true) == .allowed)
        budget.succeeded("a")
        #expect(budget.admit("a", now: .seconds(2)) == .allowed)
    }
}
