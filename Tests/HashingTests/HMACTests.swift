import Hashing
import TestTraits
import Testing

@Suite("HMAC-SHA256, RFC 2104", .bounded)
struct HMACTests {
    private struct Vector: Sendable {
        let key: [UInt8]
        let message: [UInt8]
        let code: String
    }

    private static let vectors = [
        Vector(
            key: Array(repeating: 0x0B, count: 20), message: Array("Hi There".utf8),
            code: "b0344c61d8db38535ca8afceaf0bf12b881dc200c9833da726e9376c2e32cff7"),
        Vector(
            key: Array("Jefe".utf8), message: Array("what do ya want for nothing?".utf8),
            code: "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843"),
        Vector(
            key: Array(repeating: 0xAA, count: 20), message: Array(repeating: 0xDD, count: 50),
            code: "773ea91e36800e46854db8ebd09181a72959098b3ef8c122d9635514ced565fe"),
        Vector(
            key: Array(1...25), message: Array(repeating: 0xCD, count: 50),
            code: "82558a389a443c0ea4cc819899f2083a85f0faa3e578f8077a2e3ff46729665b"),
        Vector(
            key: Array(repeating: 0xAA, count: 131),
            message: Array("Test Using Larger Than Block-Size Key - Hash Key First".utf8),
            code: "60e431591ee0b67f0d8a26aacbf5b77f8e0bc6213728c5140546040f0ee37f54"),
        Vector(
            key: Array(repeating: 0xAA, count: 131),
            message: Array(
                ("This is a test using a larger than block-size key and a larger than block-size data. "
                    + "The key needs to be hashed before being used by the HMAC algorithm.").utf8),
            code: "9b09ffa71b942fcb27635fbcd5b0e944bfdc63644f0713938a7f51535c3a35e2"),
    ]

    @Test("RFC 4231 sections 4.2 to 4.8", arguments: 0..<6)
    func vectors(index: Int) {
        let vector = Self.vectors[index]
        #expect(
            SHA256.authenticate(vector.message.span, with: vector.key.span).hexadecimal == vector.code)
    }

    @Test("section 4.6: a truncated code is the first 128 bits")
    func truncated() {
        let key = [UInt8](repeating: 0x0C, count: 20)
        let message = Array("Test With Truncation".utf8)
        let digest = SHA256.authenticate(message.span, with: key.span)
        #expect(digest.hexadecimal.hasPrefix("a3b6167473100ee06e0c796c2955552b"))
    }

    @Test("a key of one block is used as it is, and a longer one is hashed")
    func blockBoundary() {
        let whole = [UInt8](repeating: 7, count: 64)
        let longer = [UInt8](repeating: 7, count: 65)
        let hashed = SHA256.hash(of: longer.span).bytes
        let message = Array("m".utf8)
        #expect(
            SHA256.authenticate(message.span, with: longer.span)
                == SHA256.authenticate(message.span, with: hashed.span))
        #expect(
            SHA256.authenticate(message.span, with: whole.span)
                != SHA256.authenticate(message.span, with: longer.span))
    }

    @Test("the bytes of a digest are those of its hexadecimal digits")
    func digestBytes() {
        let digest = SHA256.hash(of: "abc")
        #expect(digest.bytes.count == SHA256.Digest.byteCount)
        #expect(
            digest.bytes.map { byte in String(byte >> 4, radix: 16) + String(byte & 15, radix: 16) }.joined()
                == digest.hexadecimal)
    }
}
