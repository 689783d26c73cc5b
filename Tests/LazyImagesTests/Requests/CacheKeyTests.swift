import FoundationEssentials
import Hashing
import SystemSupport
import TestTraits
import Testing

@testable import LazyImages

@Suite("Cache keys", .bounded)
struct CacheKeyTests {
    @Test(
        "spellings of one URL make one key",
        arguments: [
            ("HTTP://Example.ORG/a.jpg", "http://example.org/a.jpg"),
            ("http://example.org:80/a.jpg", "http://example.org/a.jpg"),
            ("https://example.org:443", "https://example.org/"),
            ("https://example.org:/a", "https://example.org/a"),
            ("https://example.org:0443/a", "https://example.org/a"),
            ("https://example.org:8443/a", "https://example.org:8443/a"),
            ("http://[2001:DB8::1]:80/a", "http://[2001:db8::1]/a"),
            ("http://[::1]/a", "http://[::1]/a"),
            ("http://user:secret@example.org/a", "http://example.org/a"),
            ("http://example.org/a#top", "http://example.org/a"),
            ("http://example.org/a/./b/../c", "http://example.org/a/c"),
            ("http://example.org/a/..", "http://example.org/"),
            ("http://example.org/../../a/.", "http://example.org/a/"),
            ("http://example.org/%7euser/%2E%2e/x", "http://example.org/x"),
            ("http://example.org/a%2fb", "http://example.org/a%2Fb"),
            ("http://example.org/El%20Cami%c3%b3n.jpg", "http://example.org/El%20Cami%C3%B3n.jpg"),
            ("http://example.org?q=1", "http://example.org/?q=1"),
            ("http://example.org/a?q=%7e%2f&b=/../", "http://example.org/a?q=~%2F&b=/../"),
        ])
    func canonical(written: String, expected: String) throws {
        let key = CacheKey(url: try #require(URL(string: written)))
        #expect(key.text == expected)
        #expect(key.digest == SHA256.hash(of: expected))
    }

    @Test(
        "URLs whose answers may differ have different keys",
        arguments: [
            ("http://example.org/a", "https://example.org/a"),
            ("http://example.org/a", "http://example.org/A"),
            ("http://example.org/a", "http://example.org/a?"),
            ("http://example.org/a", "http://example.org/a/"),
            ("http://example.org/a%2Fb", "http://example.org/a/b"),
            ("http://example.org/?a=1&b=2", "http://example.org/?b=2&a=1"),
            ("http://example.org:81/", "http://example.org/"),
            ("http://example.org:443/", "http://example.org/"),
        ])
    func distinct(one: String, other: String) throws {
        #expect(
            CacheKey(url: try #require(URL(string: one))) != CacheKey(url: try #require(URL(string: other))))
    }

    @Test("no URL traps, and every key is printable")
    func hostileURLs() {
        let pieces = [
            "http:", "//", "@", ":", "[", "]", "%", "%2", "%zz", "?", "#", "/..", "é", " ", "\u{0}", "\n",
            "a",
        ]
        var count = 0
        for first in pieces {
            for second in pieces {
                for third in pieces {
                    guard let url = URL(string: first + second + third) else { continue }
                    count += 1
                    #expect(CacheKey(url: url).text.utf8.allSatisfy { $0 > 0x20 && $0 < 0x7f })
                }
            }
        }
        #expect(count > 1000)
    }

    @Test(
        "a plain address stays the same in Foundation, in the canonical spelling and as a typed URL"
    )
    func plainStays() throws {
        let pieces = [
            "http:", "https:", "//", "a", "/", "@", ":", "80", "1", "?", "#", ".", "..", "%41", "[", "]", "{",
            "\\", "^", "|", "\"", "<", "!", "é", " ", "\u{0}", "\n", "\u{7f}", "~", "*", "A",
        ]
        var random = SeededNumbers(seed: 1)
        var count = 0
        for _ in 0..<100_000 {
            let rest = (0..<Int.random(in: 0...6, using: &random)).map { _ in
                pieces[Int.random(in: pieces.indices, using: &random)]
            }
            let text = (Bool.random(using: &random) ? "http://a.b" : "https://c-1") + rest.joined()
            guard CanonicalURL.isPlain(text) else { continue }
            count += 1
            #expect(CanonicalURL.normalised(text) == text)
            #expect(URL.percentEncoded(text) == text)
            let url = try #require(URL(string: text))
            #expect(url.absoluteString == text && url.user() == nil && url.password() == nil)
            #expect(url.host()?.isEmpty == false && (1...65_535).contains(url.port ?? 1))
        }
        #expect(count > 1000)
    }

    @Test("a relative URL has the key of its absolute URL")
    func relativeURL() throws {
        let base = try #require(URL(string: "http://example.org/films/list"))
        let url = try #require(URL(string: "../posters/1.jpg", relativeTo: base))
        #expect(CacheKey(url: url).text == "http://example.org/posters/1.jpg")
    }

    @Test("fields are part of the key, in any case and order; their values never appear")
    func headers() throws {
        let url = try #require(URL(string: "http://example.org/a"))
        let one = CacheKey(url: url, headers: [("Authorization", "Bearer hush"), ("Accept-Language", "de")])
        let other = CacheKey(
            url: url, headers: [("accept-language", "de"), ("authorization", "Bearer hush")])
        #expect(one == other)
        #expect(
            one != CacheKey(url: url, headers: [("Authorization", "Bearer else"), ("Accept-Language", "de")]))
        #expect(one != CacheKey(url: url))
        #expect(!one.text.contains("hush") && one.text.contains("\nheader authorization sha256:"))
    }

    @Test("the values of one field keep their order")
    func repeatedHeaders() throws {
        let url = try #require(URL(string: "http://example.org/a"))
        #expect(
            CacheKey(url: url, headers: [("a", "1"), ("a", "2")])
                != CacheKey(url: url, headers: [("a", "2"), ("a", "1")]))
    }

    @Test("a variant makes a key of its own, the same by either initialiser, and cannot imitate another line")
    func variants() throws {
        let url = try #require(URL(string: "http://example.org/a"))
        let key = CacheKey(url: url)
        #expect(key.variant("w342") == CacheKey(url: url, variant: "w342"))
        #expect(key.variant("w342") != key)
        #expect(key.variant("x\nvariant y") != key.variant("x").variant("y"))
        #expect(key.variant("a%0ab") != key.variant("a\nb"))
        #expect(key.variant("w342").url == "http://example.org/a")
    }

    @Test(
        "query items that a rule names are left out of the key, and no others",
        arguments: [
            ("?id=1&utm_source=x&utm_medium=y", "?id=1"), ("?utm_source=x", ""), ("?a&utm_&b", "?a&b"),
            ("?xutm_source=1&UTM_source=2", "?xutm_source=1&UTM_source=2"),
            ("?session=1&sessions=2", "?sessions=2"),
            ("?utm%5Fsource=x&id=1", "?id=1"), ("?", "?"), ("?a=1&&b=2", "?a=1&&b=2"),
            ("?q=utm_source", "?q=utm_source"),
        ])
    func ignoredQuery(query: String, kept: String) throws {
        let url = try #require(URL(string: "http://example.org/a" + query))
        let key = CacheKey(url: url, ignoring: IgnoredQuery(["utm_*", "session"]))
        #expect(key.text == "http://example.org/a" + kept)
        #expect(
            CacheKey(url: url).text.utf8.count >= key.text.utf8.count,
            "and without a rule nothing is left out")
    }

    @Test("signed URLs of one image share a key under the rule for signatures, and are sent whole")
    func signedURLs() throws {
        let urls = [
            "https://b.s3.example/p.jpg?X-Amz-Date=1&X-Amz-Signature=aa&w=300",
            "https://b.s3.example/p.jpg?X-Amz-Date=2&X-Amz-Signature=bb&w=300",
        ]
        let requests = try urls.map {
            ImageRequest(
                try #require(URL(string: $0)),
                options: .init(ignoredQuery: IgnoredQuery.tracking.union(.signatures)))
        }
        #expect(
            requests[0].key == requests[1].key && requests[0].key.text == "https://b.s3.example/p.jpg?w=300")
        #expect(
            requests[0].transferKey != requests[1].transferKey && requests[1].url.absoluteString == urls[1])
        let plain = try urls.map { try ImageRequest(URL(typed: $0)) }
        #expect(plain[0].key != plain[1].key)
    }

    @Test(
        "the host is found in the text of any URL",
        arguments: [
            ("https://Example.org/a.jpg", "example.org"), ("http://u:p@h:8080/x", "h"),
            ("http://[::1]:80/x", "[::1]"), ("https://h?a=b://c/", "h"), ("file:///x", ""), ("none", ""),
        ])
    func hosts(ofText url: String, host: String) { #expect(CacheKey.host(ofURL: url[...]) == host) }
}
