import HTTPSemantics
import ImageCodecs
import LazyImages
import TestTraits
import Testing

@testable import PictureServer
import PictureService

@Suite("The rules for sources and sizes", .bounded)
struct PictureRulesTests {
    private static let now = 1_790_000_000
    private static let file = Array("k \(String(repeating: "0b", count: 32))".utf8)

    private func name(_ text: String) throws -> FetchSource {
        try #require(FetchSource("http://\(text)"))
    }

    private func rules(
        sources: [String] = ["example.org", "other.example:8080", "[2001:db8::1]"], catalogue: [String] = []
    ) throws -> PictureRules {
        var rules = try PictureRules(sources: Set(sources.map(name)), keys: try SigningKeys(Self.file))
        rules.allow(Set(try catalogue.map(name)))
        return rules
    }

    /// The status that the rules decide, and the rule that refuses.
    private func verdict(
        _ recipe: String, _ source: String, isSigned: Bool = false, by rules: PictureRules
    ) throws -> String {
        let keys = isSigned ? try SigningKeys(Self.file) : nil
        do throws(PictureFailure) {
            let (recipe, source) = (try PictureFailure.recipe(recipe), try PictureSource(source))
            let address = PictureAddress(recipe, of: source, signedBy: keys)
            try rules.check(address, now: Self.now)
            return "200"
        } catch {
            return "\(error.status.rawValue) \(error.rule ?? "none")"
        }
    }

    @Test(
        "listed sizes of listed sources are allowed, and any size with a signature",
        arguments: [
            // recipe, source, unsigned, signed
            ("w342", "https://example.org/a", "200", "200"),
            ("w92.q80.v7", "https://example.org/a", "200", "200"),
            ("original", "http://example.org/a", "200", "200"),
            ("w343", "https://example.org/a", "403 size", "200"),
            ("w342.q81", "https://example.org/a", "403 size", "200"),
            ("w342.png", "https://example.org/a", "403 size", "200"),
            ("342x513.fill", "https://example.org/a", "403 size", "200"),
            ("20000x25000", "https://example.org/a", "403 size", "200"),
            ("20000x25001", "https://example.org/a", "403 size", "403 size"),
            ("w342.e1790000001", "https://example.org/a", "200", "200"),
            ("w342.e1790000000", "https://example.org/a", "403 expiry", "403 expiry"),
            ("w342", "https://evil.example/a", "403 source", "403 source"),
            ("w342", "https://example.org.evil.example/a", "403 source", "403 source"),
            ("w342", "https://sub.example.org/a", "403 source", "403 source"),
            ("w342", "https://example.org:8443/a", "403 source", "403 source"),
            ("w342", "https://example.org:0/a", "403 source", "403 source"),
            ("w342", "https://example.org:65536/a", "403 source", "403 source"),
            ("w342", "http://example.org:443/a", "200", "200"),
            ("w342", "http://other.example:8080/a", "200", "200"),
            ("w342", "http://other.example/a", "403 source", "403 source"),
            ("w342", "http://[2001:DB8::1]/a", "200", "200"),
            ("w342", "http://EXAMPLE.org./a", "200", "200"),
            ("w342", "http://example.org@evil.example/a", "403 source", "403 source"),
            ("w342", "http://me@example.org/a", "403 source", "403 source"),
            ("w342", "ftp://example.org/a", "403 scheme", "403 scheme"),
            ("w342", "file:///etc/passwd", "403 scheme", "403 scheme"),
            ("w342", "data:image/png;base64,AA", "403 scheme", "403 scheme"),
            ("w342", "gopher://example.org/a", "403 scheme", "403 scheme"),
            ("w0", "https://example.org/a", "400 recipe", "400 recipe"),
            ("w342", "example.org/a", "400 address", "400 address"),
        ])
    func table(recipe: String, source: String, unsigned: String, signed: String) throws {
        let rules = try rules()
        #expect(try verdict(recipe, source, by: rules) == unsigned)
        #expect(try verdict(recipe, source, isSigned: true, by: rules) == signed)
    }

    @Test(
        "without listed sources a signature allows any host, but no other scheme, port or user")
    func signedSources() throws {
        let rules = try rules(sources: [], catalogue: ["films.example"])
        #expect(try verdict("w342", "https://anywhere.example:8443/a", by: rules) == "403 source")
        #expect(try verdict("w342", "https://films.example/a", by: rules) == "200")
        for source in ["https://anywhere.example/a", "https://films.example/a"] {
            #expect(try verdict("w342", source, isSigned: true, by: rules) == "200")
        }
        // A signature does not allow another port.
        #expect(
            try verdict("w342", "https://anywhere.example:8443/a", isSigned: true, by: rules) == "403 source")
        #expect(try verdict("w342", "file:///a", isSigned: true, by: rules) == "403 scheme")
        #expect(try verdict("w342", "https://a@films.example/", isSigned: true, by: rules) == "403 source")
    }

    @Test("a refusal says what is wrong: the host, its port, or the user name, and whether a signature helps")
    func reasons() throws {
        let open = try PictureRules(keys: try SigningKeys(Self.file))
        let listed = try rules(sources: ["example.org", "*.example.net:8080"])
        for (source, isSigned, rules, reason) in [
            (
                "https://a.example:22/", true, open,
                "a.example is not listed; allow it with --source a.example:22"
            ),
            (
                "https://a.example:22/", false, open,
                "a.example is not listed; allow it with --source a.example:22"
            ),
            (
                "https://a.example/", false, open,
                "a.example is not listed; allow it with --source a.example, or sign the address"
            ),
            // Where sources are listed, a signature allows no other.
            (
                "https://a.example/", false, listed,
                "a.example is not listed; allow it with --source a.example"
            ),
            ("https://a.example/", true, listed, "a.example is not listed; allow it with --source a.example"),
            (
                "https://example.org:22/", false, listed,
                "port 22 of example.org is not listed; allow it with --source example.org:22"
            ),
            (
                "https://b.example.net/", true, listed,
                "port 443 of b.example.net is not listed; allow it with --source b.example.net"
            ),
            (
                "https://me@example.org/", false, listed,
                "addresses with a user name or a password are not fetched; leave them out"
            ),
        ] as [(String, Bool, PictureRules, String)] {
            let source = try PictureSource(source)
            do throws(PictureFailure) {
                try rules.check(source, isSigned: isSigned)
                Issue.record("\(source.text) is allowed")
            } catch {
                #expect("\(error)" == reason && error.status == .forbidden && error.rule == "source")
            }
        }
    }

    @Test("*.domain allows subdomains at any depth, and neither the domain itself nor its look-alikes")
    func patterns() throws {
        let rules = try rules(sources: ["*.example.org", "*.ports.example:8080"])
        for (source, verdict) in [
            ("https://www.example.org/a", "200"), ("https://a.b.c.example.org/a", "200"),
            ("https://WWW.Example.Org./a", "200"), ("http://a.ports.example:8080/", "200"),
            ("https://example.org/a", "403 source"), ("https://badexample.org/a", "403 source"),
            ("https://www.example.org.evil.example/a", "403 source"), ("https://org/a", "403 source"),
            ("https://www.example.org:8443/a", "403 source"), ("https://a.ports.example/", "403 source"),
            ("https://www.example.org@evil.example/a", "403 source"),
        ] {
            #expect(try self.verdict("w342", source, by: rules) == verdict, "\(source)")
        }
    }

    @Test("the address of a film's poster never becomes a pattern")
    func noPattern() throws {
        #expect(FetchSource(try #require(WebOrigin("https://*.example.org/a.jpg"))) == nil)
        let source = try #require(WebOrigin("https://www.example.org/a.jpg"))
        #expect(FetchSource(source) == (try name("www.example.org")))
    }

    @Test("a wrong signature is always 403, and so is any signature if there are no keys")
    func wrongSignature() throws {
        let source = Base64URL.encode("https://example.org/a".utf8)
        let keyless = try PictureRules(sources: [name("example.org")])
        for rules in [try rules(), keyless] {
            for signature in ["x", "k.", String(repeating: "A", count: 43), "--", "0"] {
                let address = try PictureAddress(segments: ["image", signature, "w342", source])
                #expect(throws: PictureFailure.wrongSignature) { try rules.check(address, now: Self.now) }
            }
        }
        #expect(PictureFailure.wrongSignature.status == .forbidden)
    }

    @Test("without a rule every picture is refused, and an offered size may have every part of a recipe")
    func ownSizes() throws {
        let none = try PictureRules(sizes: [])
        #expect(try verdict("w342", "https://example.org/a", by: none) == "403 source")
        let own = try PictureRules(sources: [name("example.org")], sizes: ["342x513.fill.q60"])
        #expect(try verdict("342x513.fill.q60.v1", "https://example.org/a", by: own) == "200")
        #expect(try verdict("342x513.fill", "https://example.org/a", by: own) == "403 size")
        #expect(try verdict("w342", "https://example.org/a", by: own) == "403 size")
        #expect(throws: PictureFailure(.malformedRecipe("342", part: "342"))) {
            try PictureRules(sizes: ["342"])
        }
    }

    @Test("a film's poster is allowed in the offered sizes, until its expiry")
    func friendly() throws {
        let rules = try rules()
        try rules.check(PictureRecipe("w342.v1"), now: Self.now)
        #expect(throws: PictureFailure.unlistedSize(try PictureRecipe("w343"))) {
            try rules.check(PictureRecipe("w343"), now: Self.now)
        }
        #expect(throws: PictureFailure.expired(5)) {
            try rules.check(PictureRecipe("w342.e5"), now: Self.now)
        }
    }
}
