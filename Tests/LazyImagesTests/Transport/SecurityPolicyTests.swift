import FoundationEssentials
import TestTraits
import Testing

@testable import LazyImages

@Suite("SecurityPolicy", .bounded)
struct SecurityPolicyTests {
    @Test(
        "https is allowed everywhere, plain http only to this machine and to named hosts",
        arguments: [
            "https://example.org/a", "HTTPS://example.org/a", "http://localhost/a", "http://LocalHost:8080/a",
            "http://sample.localhost/a", "http://127.0.0.1/a", "http://127.255.3.4:99/a", "http://[::1]/a",
            "http://[::1]:8080/a", "http://old.example/a", "http://OLD.example:81/a",
        ])
    func allowed(text: String) throws {
        let policy = SecurityPolicy(insecureHosts: ["Old.Example"])
        try policy.check(try url(text))
    }

    @Test(
        "an exception holds for its host, and for subdomains where it says so; the nearest exception wins"
    )
    func exceptions() throws {
        var policy = SecurityPolicy()
        var exception = SecurityPolicy.HostException()
        exception.allowsInsecureHTTP = true
        policy.exceptions["own.example"] = exception
        exception.includesSubdomains = true
        policy.exceptions["wide.example"] = exception
        exception.allowsInsecureHTTP = false
        exception.minimumTLSVersion = .v1_3
        policy.exceptions["strict.wide.example"] = exception
        for host in ["own.example", "wide.example", "a.wide.example", "a.b.wide.example"] {
            try policy.check(try url("http://\(host)/a"))
        }
        for host in ["a.own.example", "xwide.example", "strict.wide.example", "a.strict.wide.example"] {
            let url = try url("http://\(host)/a")
            #expect(throws: ImageLoadingError.insecureConnection(url: url.absoluteString, host: host)) {
                try policy.check(url)
            }
        }
        let strict = policy.transportSecurity(for: WebOrigin(try url("https://a.strict.wide.example/")))
        #expect(strict?.minimumTLSVersion == .v1_3 && strict?.requiresForwardSecrecy == true)
        let other = policy.transportSecurity(for: WebOrigin(try url("https://example.org/")))
        #expect(other?.minimumTLSVersion == .v1_2 && other?.trust == .authorities(file: nil))
        #expect(policy.transportSecurity(for: WebOrigin(try url("http://localhost/"))) == nil)
    }

    @Test(
        "plain http to any other host is refused",
        arguments: [
            "http://example.org/a", "http://localhost.example.org/a", "http://notlocalhost/a",
            "http://127.0.0.1.example.org/a", "http://128.0.0.1/a", "http://127.0.0/a",
            "http://127.0.0.256/a",
            "http://[::2]/a", "http://sub.old.example/a", "http://0.0.0.0/a",
        ])
    func refused(text: String) throws {
        let policy = SecurityPolicy(insecureHosts: ["old.example"])
        let url = try url(text)
        let host = url.host() ?? ""
        #expect(throws: ImageLoadingError.insecureConnection(url: text, host: host)) { try policy.check(url) }
    }

    @Test("another scheme is refused", arguments: ["ftp://example.org/a", "file:///a", "data:,a"])
    func schemes(text: String) throws {
        let url = try url(text)
        let scheme = url.scheme ?? ""
        #expect(throws: ImageLoadingError.unsupportedScheme(url: text, scheme: scheme)) {
            try SecurityPolicy().check(url)
        }
    }

    @Test(
        "a redirect is resolved against the URL it came from",
        arguments: [
            ("b.png", "https://example.org/p/b.png"), ("../b.png", "https://example.org/b.png"),
            ("/b.png", "https://example.org/b.png"), ("?size=2", "https://example.org/p/a.png?size=2"),
            ("//other.example/b.png", "https://other.example/b.png"),
            ("https://other.example:8443/b%2Fc.png", "https://other.example:8443/b%2Fc.png"),
            ("El Camión.png", "https://example.org/p/El%20Cami%C3%B3n.png"),
        ])
    func redirects(location: String, expected: String) throws {
        for status in [301, 302, 303, 307, 308] {
            let head = ResponseHead(status: status, fields: ["Location": location])
            let target = try SecurityPolicy().redirect(head, from: try url("https://example.org/p/a.png?x=1"))
            #expect(target?.absoluteString == expected)
        }
    }

    @Test(
        "a redirect away from https, to plain http elsewhere, to another scheme or with credentials is refused",
        arguments: [
            ("https://example.org/a", "http://example.org/a", "it leads from https to http"),
            ("https://example.org/a", "http://localhost/a", "it leads from https to http"),
            ("https://example.org/a", "file:///etc/passwd", "only https and http are followed"),
            ("http://localhost/a", "file:///etc/passwd", "only https and http are followed"),
            ("http://localhost/a", "data:,x", "only https and http are followed"),
            ("http://localhost/a", "ftp://example.org/a", "only https and http are followed"),
            ("http://localhost/a", "javascript:alert(1)", "only https and http are followed"),
            ("http://localhost/a", "http://localhost:99999/", "it is not a valid URL"),
            ("http://localhost/a", "http://example.org/a", "plain http to example.org is not allowed"),
            ("https://example.org/a", "https://me:secret@example.org/a", "it contains credentials"),
            ("https://example.org/a", "https://me@example.org/a", "it contains credentials"),
            ("https://example.org/a", "", "it is not a valid URL"),
        ])
    func refusedRedirects(from: String, location: String, reason: String) throws {
        let head = ResponseHead(status: 302, fields: ["Location": location])
        let url = try url(from)
        #expect(throws: ImageLoadingError.redirectRefused(url: from, location: location, reason: reason)) {
            _ = try SecurityPolicy().redirect(head, from: url)
        }
    }

    @Test("a redirect without a Location is not followed, nor a Location without a redirect")
    func noRedirect() throws {
        let url = try url("https://example.org/a")
        #expect(try SecurityPolicy().redirect(ResponseHead(status: 302), from: url) == nil)
        for status in [200, 201, 304, 305, 404] {
            let head = ResponseHead(status: status, fields: ["Location": "/b"])
            #expect(try SecurityPolicy().redirect(head, from: url) == nil)
        }
    }

    private func url(_ text: String) throws -> URL { try #require(URL(string: text)) }
}
