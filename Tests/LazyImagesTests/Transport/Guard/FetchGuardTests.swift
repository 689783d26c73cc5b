import FoundationEssentials
import TestSupport
import TestTraits
import Testing

import LazyImages

@Suite("FetchGuard", .bounded)
struct FetchGuardTests {
    private let policy: SecurityPolicy

    init() throws {
        var policy = SecurityPolicy(insecureHosts: ["old.example"])
        policy.fetchGuard = FetchGuard(
            sources: try [
                "Images.example", "port.example:8443", "http://plain.example", "http://nas.example:8080",
                "https://nas.example:8443", "old.example", "[2001:DB8:0::7]", "203.0.113.9", "localhost:8080",
                "*.Wide.example", "http://*.deep.wide.example:8080",
            ].map { try #require(FetchSource($0)) })
        self.policy = policy
    }

    @Test(
        "listed hosts are allowed at their port or the default ones, and over plain http only where the entry says so",
        arguments: [
            "https://images.example/a", "https://IMAGES.example:443/a", "https://images.example./a",
            "https://images.example:80", "https://images.example?a", "https://port.example:8443/a",
            "http://plain.example/a", "https://plain.example/a", "http://plain.example:80/",
            "http://nas.example:8080/a", "https://nas.example:8080/a", "https://nas.example:8443/a",
            "http://old.example/a", "https://[2001:db8::7]/a", "https://203.0.113.9/a",
            "http://localhost:8080/", "https://a.wide.example/a", "https://a.b.wide.example./a",
            "http://a.deep.wide.example:8080/", "https://a.deep.wide.example/",
        ])
    func allowed(text: String) throws { try policy.check(try #require(URL(string: text))) }

    @Test(
        "every other URL is refused, and the error names the rule",
        arguments: [
            ("ftp://images.example/a", FetchRule.scheme), ("file:///etc/passwd", .scheme),
            ("data:,a", .scheme), ("gopher://images.example:443/a", .scheme),
            ("http://images.example/a", .scheme),
            ("http://nas.example:8443/a", .scheme),
            ("https://other.example/a", .host), ("https://images.example.other/a", .host),
            ("https://a.images.example/a", .host), ("https://ximages.example/a", .host),
            ("https://images.example..", .host), ("https://images%2eexample/", .host),
            ("https://images.example@127.0.0.1/a", .host), ("https://images.example:443@127.0.0.1/", .host),
            ("https://anna@images.example/a", .host), ("https://anna:pw@images.example/a", .host),
            ("https://@images.example/a", .host), ("https:///images.example/a", .host),
            ("https:images.example", .host), ("https:/images.example", .host), ("https://", .host),
            ("https://images.example%00.other/", .host), ("https://127.0.0.1/?images.example", .host),
            ("https://127.0.0.1/#@images.example", .host), ("https://203.0.113.10/", .host),
            ("https://0xcb.0.113.9/", .host), ("https://[2001:db8::8]/", .host),
            ("https://[2001:db8::7%25eth0]/", .host), ("https://[::ffff:203.0.113.9]/", .host),
            ("https://images.example:8443/", .port), ("https://images.example:0/", .port),
            ("https://port.example/", .port), ("https://port.example:443/", .port),
            ("http://nas.example/", .port), ("https://images.example:22/", .port),
            ("http://localhost/", .port), ("https://wide.example/", .host),
            ("https://badwide.example/", .host), ("https://a.wide.example.other/", .host),
            ("https://a.wide.example:8080/", .port), ("http://a.wide.example/", .scheme),
            ("https://a..wide.example/", .host),
        ])
    func refused(text: String, rule: FetchRule) throws {
        // Foundation rejects some of these before the guard sees them.
        guard let url = URL(string: text) else { return }
        do throws(ImageLoadingError) {
            try policy.check(url)
            Issue.record("\(text) is allowed")
        } catch {
            guard case .addressRefused(_, rule, _) = error else { throw error }
            #expect(error.code == "address-refused" && !error.isRetryable)
            #expect(!error.description.contains("pw"))
        }
    }

    @Test(
        "a source is a host with or without a port; anything else is malformed",
        arguments: [
            "", "http://", "ftp://a.example", "a.example/", "https://a.example/b", "a.example?b",
            "anna@a.example",
            "*.example", "*", "a.*.example", "*a.wide.example", "*.203.0.113.9", "a.example:0",
            "a.example:65536", "a.example:x", "a b", "ä.example", "a%2eexample",
            "[::1", "[::1%25lo]", "[::1%lo]", "::1", ":80", "a.example\\b", "a.example\u{0}",
        ])
    func malformedSource(text: String) { #expect(FetchSource(text) == nil) }

    @Test("a redirect to an unlisted host is refused by the rule, and no request is sent there")
    func redirect() async throws {
        for (location, rule) in [
            ("https://other.example/b", FetchRule.host), ("https://images.example:22/", .port),
        ] {
            let transport = HeldTransport { _ in
                HeldTransport.Answer([], status: 302, fields: ["Location": location])
            }
            let downloader = ImageDownloader(
                transport: transport, configuration: .with { $0.security = policy })
            let outcome = await downloader.unjoinedCallers(of: ImageRequest("https://images.example/a"))
                .outcomes[0]
            guard case .addressRefused(location, rule, _)? = outcome.error else {
                Issue.record("\(location): \(outcome)")
                continue
            }
            #expect(transport.started.count == 1)
        }
    }

    @Test("with a guard no file and no data URL is read, but the caller's own bytes are accepted")
    func local() async throws {
        let loader = FileLoader.ephemeral(
            configuration: .with { $0.security = policy }, transport: HeldTransport())
        for text in ["file:///etc/hostname", "data:image/png;base64,iVBORw0KGgo="] {
            #expect(try await loader.error(for: ImageRequest(URL(typed: text)))?.code == "address-refused")
        }
        let request = ImageRequest("https://nobody.example/a")
        try await loader.store(SampleImages.png, for: request)
        #expect(try await loader.file(for: request).source == .memory)
    }
}
