import Glibc
import HTTPServer
import SystemSupport
import TestSupport
import Testing

@testable import ServiceOperations

@Suite("RequestLog", .timeLimit(.minutes(30)))
struct RequestLogTests {
    private func answer(_ number: Int) -> HTTPServer.Answer {
        HTTPServer.Answer(
            method: "GET", target: "/\(number)", status: 200, bytes: 1, time: .zero,
            peer: Peer(address: "203.0.113.7", isLocal: false))
    }

    private func pipe() throws -> (reading: Int32, writing: Int32) {
        var ends: [Int32] = [0, 0]
        // A pipe could not be closed to other children in the same step.
        try #require(
            unsafe socketpair(AF_UNIX, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0, &ends) == 0)
        return (ends[0], ends[1])
    }

    private func lines(_ descriptor: Int32) -> [String] {
        var bytes: [UInt8] = []
        var buffer = [UInt8](repeating: 0, count: 65_536)
        while true {
            let count = unsafe read(descriptor, &buffer, buffer.count)
            guard count > 0 else { break }
            bytes += buffer[..<count]
        }
        return String(decoding: bytes, as: UTF8.self).split(separator: "\n").map(String.init)
    }

    @Test("lines come in order, those before the start too, and a close loses none")
    func order() throws {
        let (reading, writing) = try pipe()
        defer { close(reading) }
        let log = try RequestLog(.text, output: writing)
        for number in 0..<10 { log.record(answer(number)) }
        try log.start()
        for number in 10..<500 { log.record(answer(number)) }
        log.close()
        close(writing)
        let lines = lines(reading)
        #expect(lines.count == 500)
        #expect(lines.enumerated().allSatisfy { $1.contains("\"GET /\($0)\"") })
        #expect(log.droppedLines == 0)
    }

    @Test("a reader that takes nothing stops nobody: lines that find no room are dropped and counted")
    func slowReader() throws {
        let (reading, writing) = try pipe()
        let log = try RequestLog(.json, output: writing, limit: 64 << 10)
        try log.start()
        // More than the pipe and the queue hold together.
        for number in 0..<20_000 { log.record(answer(number)) }
        #expect(log.droppedLines > 10_000)
        let reader = Shared<[String]>([])
        let ended = Gate()
        try BlockingThreads.startThread {
            let lines = lines(reading)
            reader.change { $0 = lines }
            ended.open()
        }
        log.close()
        close(writing)
        ended.wait()
        close(reading)
        #expect(reader.value.count == 20_000 - log.droppedLines)
        #expect(reader.value.allSatisfy { $0.hasPrefix("{\"time\":\"") && $0.hasSuffix("}") })
    }

    @Test("a reader that has gone does not end the program, and its lines count as dropped")
    func goneReader() throws {
        let (reading, writing) = try pipe()
        defer { close(writing) }
        close(reading)
        let log = try RequestLog(.json, output: writing)
        log.record(answer(1))
        try log.start()
        log.close()
        #expect(log.droppedLines == 1)
        log.record(answer(2))
        #expect(log.droppedLines == 2)
    }

    @Test("an end waits no longer than a second for a reader that takes nothing")
    func stuckReader() throws {
        let (reading, writing) = try pipe()
        let log = try RequestLog(.json, output: writing)
        for number in 0..<5000 { log.record(answer(number)) }
        try log.start()
        log.close()
        // The thread still writes: its reader goes now.
        close(reading)
    }
}
