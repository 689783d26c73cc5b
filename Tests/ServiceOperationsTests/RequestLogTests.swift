import Glibc
import SystemSupport
import TestSupport
import TestTraits
import Testing

@testable import HTTPServer
@testable import ServiceOperations

@Suite("RequestLog", .bounded)
struct RequestLogTests {
    /// Longer than any test's log takes to close.
    private let patience = Duration.seconds(600)

    private func answer(_ number: Int) -> HTTPServer.Answer {
        HTTPServer.Answer(
            method: "GET", target: "/\(number)", status: 200, bytes: 1, time: .zero,
            peer: Peer(address: "203.0.113.7", isLocal: false))
    }

    private func pipe() throws -> (reading: Int32, writing: Int32) {
        var ends: [Int32] = [0, 0]
        // socketpair sets close-on-exec in the same step; pipe cannot.
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

    @Test("lines are written in order, also those before the start, and closing loses none")
    func order() throws {
        let (reading, writing) = try pipe()
        defer { close(reading) }
        let log = try RequestLog(.text, output: writing, lastWait: patience)
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

    @Test("a reader that does not read blocks no request: lines without room are dropped and counted")
    func slowReader() throws {
        let (reading, writing) = try pipe()
        let log = try RequestLog(.json, output: writing, limit: 64 << 10, lastWait: patience)
        try log.start()
        // More lines than the pipe and the queue hold.
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

    @Test("a reader that has closed does not end the program, and its lines count as dropped")
    func goneReader() throws {
        let (reading, writing) = try pipe()
        defer { close(writing) }
        close(reading)
        let log = try RequestLog(.json, output: writing, lastWait: patience)
        log.record(answer(1))
        try log.start()
        log.close()
        #expect(log.droppedLines == 1)
        log.record(answer(2))
        #expect(log.droppedLines == 2)
    }

    @Test("closing does not wait longer than its limit for a reader that does not read")
    func stuckReader() throws {
        let (reading, writing) = try pipe()
        defer { close(reading) }
        let log = try RequestLog(.json, output: writing, lastWait: .zero)
        // More than the pipe holds.
        for number in 0..<5000 { log.record(answer(number)) }
        try log.start()
        log.close()
        #expect(log.droppedLines == 0)
        // The thread still writes: now its reader takes all lines.
        var count = 0
        var buffer = [UInt8](repeating: 0, count: 65_536)
        while count < 5000 {
            let read = unsafe read(reading, &buffer, buffer.count)
            try #require(read > 0)
            count += buffer[..<read].count { $0 == UInt8(ascii: "\n") }
        }
        #expect(count == 5000 && log.droppedLines == 0)
    }
}
