import Glibc
import HTTPSemantics
import SystemSupport
import TestTraits
import Testing

@testable import HTTPServer

@Suite("ResponseWriter", .bounded)
struct ResponseWriterTests {
    /// Both ends of a connection, closed with the object.
    private final class Pair {
        let near, far: Int32

        init() throws {
            var pair: [Int32] = [-1, -1]
            try #require(
                unsafe socketpair(AF_UNIX, Int32(SOCK_STREAM.rawValue | SOCK_NONBLOCK.rawValue), 0, &pair)
                    == 0)
            (near, far) = (pair[0], pair[1])
        }

        deinit {
            close(near)
            close(far)
        }

        func received() -> [UInt8] {
            var bytes = [UInt8](repeating: 0, count: 1 << 16)
            let count = unsafe recv(far, &bytes, bytes.count, 0)
            return Array(bytes.prefix(max(0, count)))
        }
    }

    @Test("a file whose file system has no sendfile is sent too")
    func withoutSendfile() throws {
        let pair = try Pair()
        // The kernel supports no splice for this file, which sendfile needs.
        let file = try #require(ServedFile(owning: Descriptor(unsafe open("/proc/self/cmdline", O_RDONLY))))
        var writer = ResponseWriter(head: [1, 2], body: .file(file, 0..<8))
        guard case .done = writer.write(to: pair.near, limit: 100, count: { _ in }) else {
            Issue.record("not done")
            return
        }
        var expected = [UInt8](repeating: 0, count: 8)
        #expect(unsafe pread(file.descriptor.number, &expected, expected.count, 0) == 8)
        #expect(pair.received() == [1, 2] + expected)
    }

    @Test("one call sends no more of a body than requested")
    func limit() throws {
        let pair = try Pair()
        let body = [UInt8](repeating: 7, count: 40_000)
        var writer = ResponseWriter(head: [1], body: .bytes(body))
        var counted = 0
        guard case .partial = writer.write(to: pair.near, limit: 30_000, count: { counted += $0 }) else {
            Issue.record("not partial")
            return
        }
        #expect(writer.sentOfBody == 30_000)
        #expect(counted == 30_001)
        #expect(pair.received().count == 30_001)
        guard case .done = writer.write(to: pair.near, limit: 30_000, count: { counted += $0 }) else {
            Issue.record("not done")
            return
        }
        #expect(counted == 40_001)
    }

    @Test("a client that reads nothing blocks, and one that is gone ends the answer")
    func blocked() throws {
        let pair = try Pair()
        var writer = ResponseWriter(head: [], body: .bytes([UInt8](repeating: 7, count: 8 << 20)))
        guard case .blocked = writer.write(to: pair.near, limit: .max, count: { _ in }) else {
            Issue.record("not blocked")
            return
        }
        shutdown(pair.far, Int32(SHUT_RDWR))
        guard case .failed = writer.write(to: pair.near, limit: .max, count: { _ in }) else {
            Issue.record("not failed")
            return
        }
    }

    @Test("a head has the date, the length, and close if the connection ends")
    func head() {
        let response = HTTPResponse(status: .ok, fields: ["Content-Type": "a/b"], body: .bytes([1, 2, 3]))
        func text(_ response: HTTPResponse, keepAlive: Bool = true, minorVersion: Int = 1) -> String {
            String(
                decoding: response.head(date: "D", keepAlive: keepAlive, minorVersion: minorVersion),
                as: UTF8.self)
        }
        #expect(
            text(response)
                == "HTTP/1.1 200 OK\r\nDate: D\r\nContent-Type: a/b\r\nContent-Length: 3\r\nX-Content-Type-Options: nosniff\r\n\r\n"
        )
        #expect(text(response, keepAlive: false).hasSuffix("\r\nConnection: close\r\n\r\n"))
        #expect(text(response, minorVersion: 0).hasSuffix("\r\nConnection: keep-alive\r\n\r\n"))
        for status in [HTTPStatus.noContent, .notModified] {
            #expect(!text(HTTPResponse(status: status)).contains("Content-Length"))
        }
        #expect(text(HTTPResponse(status: .found)).contains("Content-Length: 0"))
        let head = response.head(date: "D", keepAlive: true, minorVersion: 1, id: "5f1c")
        #expect(String(decoding: head, as: UTF8.self).hasSuffix("\r\nX-Request-Id: 5f1c\r\n\r\n"))
    }
}
