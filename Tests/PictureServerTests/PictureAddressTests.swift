@testable import PictureServer
import PictureService
import TestTraits
import Testing

@Suite("Addresses of pictures", .bounded)
struct PictureAddressTests {
    private static let source = "https://example.org/a.jpg"
    private static let encoded = "aHR0cHM6Ly9leGFtcGxlLm9yZy9hLmpwZw"

    private func segments(_ path: String) -> [String] {
        path.dropFirst().split(separator: "/", omittingEmptySubsequences: false).map(String.init)
    }

    @Test("an unsigned address is parsed and printed")
    func unsigned() throws {
        let address = try PictureAddress(segments: ["image", "-", "w342", Self.encoded])
        #expect(address.signature == nil)
        #expect(address.recipe.description == "w342")
        #expect(address.source.text == Self.source)
        #expect(address.path == "/image/-/w342/\(Self.encoded)")
        #expect(
            try PictureAddress(PictureRecipe("w342"), of: PictureSource(Self.source)).path == address.path)
    }

    @Test("the signature is the HMAC of the recipe and the source as encoded in the address")
    func signature() throws {
        // printf %s "/w342/$ENCODED" | openssl dgst -sha256 -hmac "0123456789abcdef0123456789abcdef" -binary | base64
        let keys = try SigningKeys(
            Array("k 3031323334353637383961626364656630313233343536373839616263646566".utf8))
        let address = try PictureAddress(
            PictureRecipe("w342"), of: PictureSource(Self.source), signedBy: keys)
        #expect(address.path == "/image/k.a3q_N5XrNQjSfA0mFPCVK7cXZ5hH7cqorsmMfRvPc5w/w342/\(Self.encoded)")
        let read = try PictureAddress(segments: segments(address.path))
        #expect(read == address)
        #expect(read.isSigned(by: keys))
    }

    @Test(
        "a malformed address is 400",
        arguments: [
            "", "/", "/image", "/image/-/w342", "/image/-/w342/", "/image//w342/\(encoded)",
            "/images/-/w342/\(encoded)", "/image/-/w342/\(encoded)/", "/image/-/w342/\(encoded)/a.jpg",
            "/image/-/w342/\(encoded)==", "/image/-/w342/https:", "/image/-/w342/_-8",
        ])
    func malformed(path: String) {
        #expect(throws: PictureFailure.malformedAddress) { try PictureAddress(segments: segments(path)) }
        #expect(PictureFailure.malformedAddress.status == .badRequest)
        #expect(PictureFailure(.malformedRecipe("w", part: "w")).status == .badRequest)
    }

    @Test(
        "a source is an absolute URL with one host",
        arguments: [
            "", "a.jpg", "/a.jpg", "//example.org/a.jpg", "https://exam\u{0}ple.org/",
            "https://example.org\nb/",
        ])
    func noSource(text: String) {
        #expect(throws: PictureFailure.malformedAddress) { try PictureSource(text) }
    }

    @Test("blanks and accents may stand as they are: the signed text has them, and the URL has them encoded")
    func typed() throws {
        let source = try PictureSource("https://example.org/El Camión {a}.jpg")
        #expect(source.text == "https://example.org/El Camión {a}.jpg")
        #expect(source.url.absoluteString == "https://example.org/El%20Cami%C3%B3n%20%7Ba%7D.jpg")
        let path = PictureAddress(try PictureRecipe("w342"), of: source).path
        #expect(try PictureAddress(segments: segments(path)).source == source)
        #expect(try PictureSource("https://example.org\\@evil/").origin == nil)
    }

    @Test("host and port of a source are those of the connection; a malformed authority has none")
    func origin() throws {
        func origin(_ text: String) throws -> [String]? {
            try PictureSource(text).origin.map { [$0.scheme, $0.host, "\($0.port)"] }
        }
        #expect(try origin("HTTPS://Example.ORG/a") == ["https", "example.org", "443"])
        #expect(try origin("http://example.org:8080/a?b") == ["http", "example.org", "8080"])
        #expect(try origin("http://[::1]:81/a") == ["http", "::1", "81"])
        #expect(try origin("https://example.org./a") == ["https", "example.org", "443"])
        #expect(try origin("http://example.com@bad/a") == nil)
        #expect(try origin("http://user:secret@example.org/a") == nil)
        #expect(try origin("file:///etc/passwd") == nil)
        #expect(try origin("data:image/png;base64,AA") == nil)
    }
}
