import TestTraits
import Testing

@testable import HTTPServer

@Suite("BodyDecoder", .bounded)
struct BodyDecoderTests {
    /// The body in `text`, fed in pieces of this size, and the bytes after it.
    private func decode(
        _ text: String, _ framing: RequestHead.BodyFraming, limit: Int = 1000, pieces: Int = .max
    ) throws(BodyDecoder.Failure) -> (body: String, rest: Int, isWhole: Bool) {
        var decoder = try BodyDecoder(framing, limit: limit)
        var input = InputBuffer()
        var left = Array(text.utf8)[...]
        var body: [UInt8] = []
        while true {
            switch try decoder.next(from: &input) {
            case .bytes(let bytes): body += bytes
            case .end: return (String(decoding: body, as: UTF8.self), input.count + left.count, true)
            case .needsMore:
                guard !left.isEmpty else { return (String(decoding: body, as: UTF8.self), 0, false) }
                input.append(left.prefix(pieces))
                left = left.dropFirst(min(pieces, left.count))
            }
        }
    }

    @Test("a body with a length ends at its last byte, however it is split")
    func length() throws {
        for pieces in 1...6 {
            let found = try decode("bodyGET", .length(4), pieces: pieces)
            #expect(found.body == "body")
            #expect(found.rest == 3)
            #expect(found.isWhole)
        }
        #expect(try decode("bo", .length(4)).isWhole == false)
        #expect(try decode("", .length(0)).isWhole)
        #expect(try decode("x", .none).rest == 1)
    }

    @Test("chunks are joined without extensions and trailers, however they are split")
    func chunks() throws {
        let text = "4\r\nbody\r\n0A ; name=\"value\"\r\n0123456789\r\n000\r\nTrailer: x\r\n\r\nGET"
        for pieces in 1...text.utf8.count {
            let found = try decode(text, .chunked, pieces: pieces)
            #expect(found.body == "body0123456789")
            #expect(found.rest == 3)
            #expect(found.isWhole)
        }
        #expect(try decode("4\r\nbody\r\n0\r\n", .chunked).isWhole == false)
    }

    @Test(
        "malformed chunks are refused",
        arguments: [
            "\r\n", "x\r\n", "-1\r\n", "+4\r\nbody\r\n", "0x4\r\nbody\r\n", "4 4\r\nbody\r\n",
            " 4\r\nbody\r\n",
            "4\r\nbodyx\r\n", "4\r\nbody4\r\n", "ffffffffffffffff\r\n", "4;\u{1}\r\nbody\r\n", "4\nbody\r\n",
            "4;\nbody\r\n", "4\r\nbody\n", "4;a\rb\r\nbody\r\n", "0\r\n\n",
            "0\r\nT: 1\n\r\n", "0\r\nT: 1\rGET\r\n\r\n",
            String(repeating: "0", count: 5000), "0\r\n" + String(repeating: "a: b\r\n", count: 100),
            "4;" + String(repeating: "x", count: 5000) + "\r\n", ";a\r\n",
        ])
    func grammar(text: String) {
        #expect { try decode(text, .chunked) } throws: { error in
            guard case BodyDecoder.Failure.malformed = error else { return false }
            return true
        }
    }

    @Test("a body above its limit is refused as soon as that is known")
    func limit() throws {
        #expect(throws: BodyDecoder.Failure.tooLong) { try decode("", .length(1001)) }
        #expect(throws: BodyDecoder.Failure.tooLong) { try decode("3e9\r\n", .chunked) }
        #expect(throws: BodyDecoder.Failure.tooLong) { try decode("4\r\nbody\r\n7\r\n", .chunked, limit: 10) }
        #expect(try decode("4\r\nbody\r\n6\r\n012345\r\n0\r\n\r\n", .chunked, limit: 10).isWhole)
    }
}
