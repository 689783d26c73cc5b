import TestTraits
import Testing

@testable import LazyImages

@Suite("RetryPolicy", .bounded)
struct RetryPolicyTests {
    private let policy = RetryPolicy(attempts: 10, firstPause: .milliseconds(200), longestPause: .seconds(10))

    @Test("the upper bound of the pause doubles up to the maximum, and the pause is random below it")
    func fullJitter() {
        let bounds = (1...9).map { policy.pause(afterTries: $0, random: 0.5) }
        let expected = [100, 200, 400, 800, 1600, 3200, 5000, 5000, 5000].map { Duration.milliseconds($0) }
        #expect(bounds == expected)
        #expect(policy.pause(afterTries: 5, random: 0) == .zero)
    }

    @Test("Retry-After is obeyed up to the limit; a longer one ends the attempts")
    func retryAfter() {
        #expect(policy.pause(afterTries: 1, retryAfter: 30, random: 0.5) == .seconds(30))
        #expect(policy.pause(afterTries: 1, retryAfter: 31, random: 0.5) == nil)
        #expect(policy.pause(afterTries: 1, retryAfter: 0, random: 0.5) == .milliseconds(100))
    }

    @Test("the pause does not overflow for any number of attempts")
    func overflow() {
        let patient = RetryPolicy(attempts: .max, longestPause: .seconds(10))
        #expect(patient.pause(afterTries: 100_000, random: 0.999) != nil)
    }

    @Test("RFC 9110 section 10.2.3: Retry-After in seconds or as a date, and nothing else")
    func retryAfterValues() {
        let now = 784_111_777
        func read(_ text: String) -> Int? { RetryAfter.seconds(["Retry-After": text], now: now) }
        #expect(read("120") == 120 && read(" 0 ") == 0)
        #expect(read("Sun, 06 Nov 1994 08:50:37 GMT") == 60)
        #expect(read("Sun, 06 Nov 1994 08:00:00 GMT") == 0)
        #expect(read("99999999999999999999") == 1 << 31)
        for odd in ["", "-1", "soon", "1.5"] { #expect(read(odd) == nil) }
        #expect(RetryAfter.seconds([:], now: now) == nil)
    }

    @Test("only transient failures are retried")
    func retryable() {
        let statuses = [408, 425, 429, 500, 502, 503, 504]
        for status in 200...599 {
            #expect(RetryPolicy.covers(.status(status)) == statuses.contains(status))
        }
        let url = "http://localhost/"
        #expect(RetryPolicy.covers(.error(.connectionFailed(url: url, reason: ""))))
        #expect(RetryPolicy.covers(.error(.connectionLost(url: url, received: 1, reason: ""))))
        #expect(RetryPolicy.covers(.error(.truncated(url: url, received: 1, expected: 2))))
        #expect(!RetryPolicy.covers(.error(.truncated(url: url, received: 1, expected: nil))))
        #expect(!RetryPolicy.covers(.error(.cancelled(url: url))))
        #expect(!RetryPolicy.covers(.error(.timedOut(url: url, phase: .stall, seconds: 1))))
        #expect(!RetryPolicy.covers(.error(.notAnImage(url: url, reason: ""))))
    }
}
