import SystemSupport
import TestTraits
import Testing

@testable import HTTPServer

@Suite("hostile requests", .bounded)
struct HostileRequestsTests {
    private static let requests = [
        "POST /films HTTP/1.1\r\nHost: x\r\nContent-Length: 4\r\n\r\nbodyGET / HTTP/1.1\r\nHost: x\r\n\r\n",
        "PUT /a HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n4;a=b\r\nbody\r\n0\r\nT: 1\r\n\r\n",
        "GET / HTTP/1.0\r\n\r\nGET / HTTP/1.1\r\nHost: y\r\nExpect: 100-continue\r\n\r\n",
    ].map { Array($0.utf8) }

    @Test("randomly changed bytes are accepted or refused, and every byte is counted")
    func noise() {
        var random = SeededNumbers(seed: 11)
        for round in 0..<5000 {
            var bytes = Self.requests[round % Self.requests.count]
            for _ in 0..<Int.random(in: 1...4, using: &random) {
                let index = Int.random(in: 0..<bytes.count, using: &random)
                switch Int.random(in: 0..<3, using: &random) {
                case 0: bytes[index] = UInt8.random(in: 0...255, using: &random)
                case 1: bytes.remove(at: index)
                default: bytes.insert(contentsOf: bytes[index...].prefix(20), at: index)
                }
                if bytes.isEmpty { bytes = [0] }
            }
            #expect(read(bytes, pieces: Int.random(in: 1...40, using: &random)) <= bytes.count)
        }
    }

    /// Reads requests until one is refused or the bytes end, and returns the number of body bytes.
    private func read(_ bytes: [UInt8], pieces: Int) -> Int {
        var input = InputBuffer()
        var rest = bytes[...]
        var decoder: BodyDecoder?
        var body = 0
        func receive() -> Bool {
            input.append(rest.prefix(pieces))
            defer { rest = rest.dropFirst(min(pieces, rest.count)) }
            return !rest.isEmpty
        }
        do {
            while true {
                if decoder == nil, let head = input.takeHead() {
                    decoder = try BodyDecoder(try RequestHead(parsing: head).framing, limit: 1 << 20)
                }
                switch try decoder?.next(from: &input) {
                case .bytes(let bytes): body += bytes.count
                case .end: decoder = nil
                case .needsMore, nil: if !receive() { return body }
                }
            }
        } catch {
            return body
        }
    }
}
