import HTTPSemantics
import TestTraits
import Testing

@Suite("HostAndPort", .bounded)
struct HostAndPortTests {
    @Test(
        "host and port are separated, and names compare without case and final dot",
        arguments: [
            ("Nas:8080", "nas", 8080), ("films.example.org.", "films.example.org", nil),
            ("[::1]:80", "::1", 80),
            ("[FE80::1]", "fe80::1", nil), ("127.0.0.1:", "127.0.0.1", nil),
        ] as [(String, String, Int?)])
    func read(text: String, host: String, port: Int?) {
        #expect(HostAndPort(text)?.host == host)
        #expect(HostAndPort(text)?.port == port)
    }

    @Test(
        "a malformed host is refused",
        arguments: [
            "", ":80", "a:b", "a:70000", "a:1:2", "[::1", "[::1]x", "[nas]", "me@host", "a b", "a/b", "::1",
            "é",
        ])
    func malformed(text: String) { #expect(HostAndPort(text) == nil) }

    @Test("only this machine's own names are loopback")
    func loopback() {
        for text in ["localhost", "LOCALHOST:80", "127.0.0.1", "127.1.2.3:80", "[::1]:80"] {
            #expect(HostAndPort(text)?.isLoopback == true)
        }
        for text in [
            "127.0.0.1.evil.org", "localhost.evil.org", "127.evil", "128.0.0.1", "[::2]", "127.0.0.256",
        ] {
            #expect(HostAndPort(text)?.isLoopback == false)
        }
    }

    @Test("an origin with the scheme's default port equals one without a port")
    func origins() throws {
        #expect(WebOrigin("https://Films.example.org") == WebOrigin("https://films.example.org:443/path?x"))
        #expect(WebOrigin("http://nas") == WebOrigin(scheme: "http", try #require(HostAndPort("nas:80"))))
        #expect(WebOrigin("http://nas") != WebOrigin("http://nas:8080"))
        #expect(WebOrigin("http://nas") != WebOrigin("https://nas"))
        for text in ["null", "", "file:///a", "nas", "http://", "http://me@nas"] {
            #expect(WebOrigin(text) == nil)
        }
    }
}
