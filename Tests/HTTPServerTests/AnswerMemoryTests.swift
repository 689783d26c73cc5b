import HTTPSemantics
import TestSupport
import TestTraits
import Testing

@testable import HTTPServer

private struct LargeHandler: HTTPHandler {
    func admit(_ head: RequestHead, from peer: Peer) -> Admission {
        let body = head.target == "/small" ? [1] : AnswerMemoryTests.large + [1]
        return .answer(HTTPResponse(status: .ok, body: .bytes(body)))
    }
}

@Suite("The memory of answers that clients have not taken", .bounded, .ownThread)
struct AnswerMemoryTests {
    /// Larger than what the system's buffers take.
    fileprivate static let large = [UInt8](repeating: 7, count: 16 << 20)

    @Test("answers that share their bytes count once, and no longer than they wait")
    func sharedBytes() {
        let memory = AnswerMemory(limit: 1 << 20)
        let body = HTTPResponse.Body.bytes(Self.large)
        let now = ContinuousClock.now
        let keys = (0..<3).map { _ in memory.enter(body) }
        #expect(memory.bytes == Self.large.count && memory.isFull(for: body))
        let other = HTTPResponse.Body.bytes(Self.large + [8])
        let otherKey = memory.enter(other)
        #expect(memory.bytes == 2 * Self.large.count + 1)
        if let otherKey { memory.leave(otherKey, other.count, now: now) }
        for (number, key) in keys.enumerated() {
            #expect(memory.bytes == Self.large.count && memory.trimTime == nil, "\(number)")
            if let key { memory.leave(key, body.count, now: now) }
        }
        #expect(memory.bytes == 0 && !memory.isFull(for: body))
        // Memory is given back once, after a while without answers that wait.
        #expect(!memory.takeTrim(now: now) && memory.takeTrim(now: now + .seconds(3)))
        #expect(!memory.takeTrim(now: now + .seconds(3)) && memory.trimTime == nil)
    }

    @Test("small answers and files never count")
    func small() {
        let memory = AnswerMemory(limit: 0)
        for body in [HTTPResponse.Body.none, .bytes([1, 2, 3])] {
            #expect(!memory.isFull(for: body) && memory.enter(body) == nil)
        }
        #expect(memory.isFull(for: .bytes(Self.large)))
    }

    @Test("when slow readers hold too much, a large answer becomes 503, and a small one does not")
    func slowReaders() async throws {
        let running = try RunningServer(LargeHandler()) { $0.answerMemory = 1 << 20 }
        let slow = try running.client()
        slow.send("GET / HTTP/1.1\r\nHost: localhost\r\n\r\n")
        try await eventually { running.server.statistics.waitingAnswerBytes > 0 }
        let client = try running.client()
        let answer = try client.get("/")
        #expect(answer.status == 503 && answer.fields["retry-after"] == "1")
        #expect(try client.get("/small").status == 200)
        #expect(running.server.statistics.shedAnswers >= 1)
        #expect(try slow.answer().body.count == Self.large.count + 1)
        try await eventually { running.server.statistics.waitingAnswerBytes == 0 }
        #expect(try client.get("/").status == 200)
    }
}
