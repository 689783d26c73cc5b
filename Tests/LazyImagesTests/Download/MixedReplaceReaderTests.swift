import SystemSupport
import TestTraits
import Testing

@testable import LazyImages

@Suite("multipart/x-mixed-replace", .bounded)
struct MixedReplaceReaderTests {
    typealias Part = MixedReplaceReader.Part

    /// Feeds a body to the reader in pieces of a given size, and returns its parts.
    private func parts(
        _ body: String, _ type: String = "multipart/x-mixed-replace; boundary=cut", piece: Int = 1
    ) throws -> [Part] {
        var reader = try #require(MixedReplaceReader(contentType: type))
        var parts: [Part] = []
        let bytes = Array(body.utf8)
        for start in stride(from: 0, to: bytes.count, by: piece) {
            let some = Array(bytes[start..<min(bytes.count, start + piece)])
            if let part = reader.append(some.span) { parts.append(part) }
        }
        return parts
    }

    private static let two =
        "before--cut\r\n--cut\r\nContent-Type: image/png\r\n\r\none\r\n--cut\r\nContent-Length: 9\r\n\r\n1\r\n--cut2"
        + "\r\n--cut--\r\nbehind\r\n--cut\r\n\r\nx\r\n--cut"

    @Test("each complete part is returned, however the body is split; the text around parts is not")
    func pieces() throws {
        let expected = [
            Part(contentType: "image/png", body: Array("one".utf8)),
            Part(contentType: nil, body: Array("1\r\n--cut2".utf8)),
        ]
        for piece in 1...20 {
            #expect(try parts(Self.two, piece: piece) == expected, "\(piece)")
        }
        // The last of several parts that arrive together counts.
        #expect(try parts(Self.two, piece: 1000) == [expected[1]])
    }

    @Test("boundaries without CR and boundaries named with their hyphens, as cameras send them, are accepted")
    func cameras() throws {
        let body = "--cut\nContent-Type: a/b\n\none\ntwo\n--cut\n\n\n--cut\n"
        for type in [
            "multipart/x-mixed-replace;boundary=--cut", "Multipart/X-Mixed-Replace; boundary=\"cut\"",
        ] {
            #expect(
                try parts(body, type) == [
                    Part(contentType: "a/b", body: Array("one\ntwo".utf8)), Part(contentType: nil, body: []),
                ])
        }
    }

    @Test("an incomplete part is not returned, nor one without a boundary or without an end of its header")
    func incomplete() throws {
        #expect(try parts("--cut\r\n\r\none").isEmpty)
        #expect(try parts("--cut\r\nContent-Length: 4\r\n\r\none").isEmpty)
        #expect(try parts("--other\r\n\r\none\r\n--other--").isEmpty)
        #expect(try parts("--cut\r\nA: " + String(repeating: "x", count: 20_000), piece: 100).isEmpty)
        #expect(MixedReplaceReader(contentType: "multipart/x-mixed-replace") == nil)
        #expect(MixedReplaceReader(contentType: "multipart/form-data; boundary=cut") == nil)
    }

    @Test("random bytes do no harm, and the buffer stays small when there is no part")
    func hostile() throws {
        var numbers = SeededNumbers(seed: 3)
        let words = [
            "--cut", "\r\n", "\n", "--", "Content-Length: 99999999999", "Content-Length: -1", "x", "\r", ":",
        ]
        for _ in 0..<Rounds.count(300, many: 3000) {
            let body = (0..<numbers.below(30)).map { _ in words[numbers.below(words.count)] }.joined()
            _ = try parts(body, piece: 1 + numbers.below(7))
        }
        var reader = try #require(MixedReplaceReader(contentType: "multipart/x-mixed-replace; boundary=cut"))
        let piece = [UInt8](repeating: 0x41, count: 1000)
        for _ in 0..<100 { _ = reader.append(piece.span) }
        #expect(reader.held < 100)
    }
}
