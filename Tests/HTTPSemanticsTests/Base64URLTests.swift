import HTTPSemantics
import TestTraits
import Testing

@Suite("Base64url, RFC 4648 section 5", .bounded)
struct Base64URLTests {
    @Test(
        "section 10's vectors, without padding",
        arguments: [
            ("", ""), ("f", "Zg"), ("fo", "Zm8"), ("foo", "Zm9v"), ("foob", "Zm9vYg"), ("fooba", "Zm9vYmE"),
            ("foobar", "Zm9vYmFy"),
        ])
    func vectors(text: String, encoded: String) {
        #expect(Base64URL.encode(text.utf8) == encoded)
        #expect(Base64URL.decode(encoded) == Array(text.utf8))
    }

    @Test("all bytes are read back, with - and _ instead of + and /")
    func bytes() {
        for length in 0..<70 {
            let bytes = (0..<length).map { UInt8(truncatingIfNeeded: $0 &* 151 &+ length) }
            #expect(Base64URL.decode(Base64URL.encode(bytes)) == bytes)
        }
        #expect(Base64URL.encode([0xFB, 0xEF, 0xFF]) == "--__")
        #expect(Base64URL.decode("-_-_") == [0xFB, 0xFF, 0xBF])
    }

    @Test(
        "padding, leftover bits, other characters and an impossible length are refused",
        arguments: ["Zg==", "Zg=", "Zh", "Zm9", "Z", "Zm9vY", "+/+/", "Zg ", " Zg", "Zg\n", "Zé", "%5Ag"])
    func refused(text: String) { #expect(Base64URL.decode(text) == nil) }
}
