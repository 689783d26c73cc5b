import TestTraits
import Testing

@testable import HTTPServer

@Suite("InputBuffer", .bounded)
struct InputBufferTests {
    private let two = Array("\r\nGET /a HTTP/1.1\r\nHost: x\r\n\r\n\r\n\r\nGET /b HTTP/1.0\r\n\r\n".utf8)
    private let heads = ["GET /a HTTP/1.1\r\nHost: x", "GET /b HTTP/1.0"]

    @Test("heads are returned whole, however the bytes are split")
    func pieces() {
        for size in 1...two.count {
            var buffer = InputBuffer()
            var found: [String] = []
            for start in stride(from: 0, to: two.count, by: size) {
                buffer.append(two[start..<min(start + size, two.count)])
                while let head = buffer.takeHead() { found.append(String(decoding: head, as: UTF8.self)) }
            }
            #expect(found == heads, "in pieces of \(size)")
            #expect(buffer.isEmpty)
        }
    }

    @Test("empty lines before a request are skipped")
    func emptyLines() {
        var buffer = InputBuffer()
        for _ in 0..<3 { buffer.append(Array("\r\n".utf8)[...]) }
        #expect(buffer.takeHead() == nil)
        #expect(buffer.isEmpty)
        buffer.append(Array("G".utf8)[...])
        #expect(buffer.takeHead() == nil)
        #expect(!buffer.isEmpty)
    }

    @Test(
        "a line feed alone ends the head at once, so that its refusal need not wait for more",
        arguments: [
            "\n", "\r\n\n", "GET /\n", "GET / HTTP/1.1\r\nHost: x\n", "GET / HTTP/1.1\r\nHost: x\r\n\n",
            "GET / HTTP/1.0\r\n\nGET /b",
        ])
    func lineFeeds(text: String) throws {
        for size in 1...text.utf8.count {
            var buffer = InputBuffer()
            var head: ArraySlice<UInt8>?
            var rest = Array(text.utf8)[...]
            while head == nil, !rest.isEmpty {
                buffer.append(rest.prefix(size))
                rest = rest.dropFirst(size)
                head = buffer.takeHead()
            }
            #expect(try #require(head).last == UInt8(ascii: "\n"))
            #expect(throws: RequestHead.Refusal.self) { try RequestHead(parsing: try #require(head)) }
        }
    }
}
