import FoundationEssentials
import TestTraits
import Testing

import LazyImages

@Suite("URL(typed:)", .bounded)
struct URLTypedTests {
    @Test(
        "a typed text becomes a URL, and encoded characters stay encoded",
        arguments: [
            ("https://example.org/El Camión.jpg", "https://example.org/El%20Cami%C3%B3n.jpg"),
            ("https://example.org/El%20Cami%C3%B3n.jpg", "https://example.org/El%20Cami%C3%B3n.jpg"),
            ("https://example.org/El%20Camión 2.jpg", "https://example.org/El%20Cami%C3%B3n%202.jpg"),
            ("https://example.org/100%.jpg", "https://example.org/100%25.jpg"),
            ("https://example.org/100%zz%4", "https://example.org/100%25zz%254"),
            ("https://example.org/a%2Fb", "https://example.org/a%2Fb"),
            ("  https://example.org/a.jpg\t\n", "https://example.org/a.jpg"),
            ("http://[::1]:8080/a[1].jpg", "http://[::1]:8080/a%5B1%5D.jpg"),
            ("https://example.org?a=[1]", "https://example.org?a=%5B1%5D"),
            ("https://example.org/a?b=c d#e#f", "https://example.org/a?b=c%20d#e%23f"),
            ("https://example.org/\"<>\\^`{|}", "https://example.org/%22%3C%3E%5C%5E%60%7B%7C%7D"),
            ("https://example.org/a\u{0}b", "https://example.org/a%00b"),
            ("file:///tmp/a b.png", "file:///tmp/a%20b.png"),
            ("data:image/png;base64,AAAA", "data:image/png;base64,AAAA"),
            ("HTTPS://Example.org/a", "HTTPS://Example.org/a"),
        ])
    func typed(text: String, expected: String) throws {
        #expect(try URL(typed: text).absoluteString == expected)
    }

    @Test(
        "a relative text is resolved against its base, also a title with a colon",
        arguments: [
            ("posters/a.jpg", "https://example.org/films/posters/a.jpg"),
            ("../Häxan.jpg", "https://example.org/H%C3%A4xan.jpg"),
            ("/a.jpg", "https://example.org/a.jpg"),
            ("//other.example/a.jpg", "https://other.example/a.jpg"),
            ("?b", "https://example.org/films/movies.json?b"),
            ("Mission: Impossible.jpg", "https://example.org/films/Mission:%20Impossible.jpg"),
            ("2001: A Space Odyssey.jpg", "https://example.org/films/2001:%20A%20Space%20Odyssey.jpg"),
            ("Häxan: The Film.jpg", "https://example.org/films/H%C3%A4xan:%20The%20Film.jpg"),
            ("http://localhost/a.jpg", "http://localhost/a.jpg"),
        ])
    func relative(text: String, expected: String) throws {
        let base = try URL(typed: "https://example.org/films/movies.json?a")
        #expect(try URL(typed: text, relativeTo: base).absoluteString == expected)
    }

    @Test(
        "a text that is not a URL, or has no scheme or host, is refused with a reason",
        arguments: [
            ("", "it is empty"), (" \n ", "it is empty"), ("posters/a.jpg", "it has no scheme"),
            ("//example.org/a", "it has no scheme"), ("http:///a.jpg", "it names no host"),
            ("https:a.jpg", "it names no host"), ("https://", "it names no host"),
            ("http://localhost:99999/", "99999 is not a port; use 1 to 65535"),
            ("http://localhost:0/", "0 is not a port; use 1 to 65535"),
        ])
    func refused(text: String, reason: String) throws {
        #expect(throws: ImageLoadingError.invalidURL(text: text, reason: reason)) { _ = try URL(typed: text) }
    }

    @Test(
        "the error names an unsupported scheme",
        arguments: [("ftp://example.org/a", "ftp"), ("javascript:alert(1)", "javascript"), ("C:/a.jpg", "c")])
    func schemes(text: String, scheme: String) throws {
        let error = try #require(throws: ImageLoadingError.self) { _ = try URL(typed: text) }
        #expect(error == .unsupportedScheme(url: text, scheme: scheme))
        let base = try URL(typed: "https://example.org/")
        if text.contains("//") {
            #expect(throws: error) { _ = try URL(typed: text, relativeTo: base) }
        }
    }

    @Test(
        "an error never shows a user or a password, and only the beginning of a data URL",
        arguments: [
            ("https://me:secret@example.org/a?b@c", "https://example.org/a?b@c"),
            ("https://me@example.org/a", "https://example.org/a"),
            ("https://me:se%40cret@example.org", "https://example.org"),
            ("https://example.org/a@b", "https://example.org/a@b"),
            ("data:,short", "data:,short"),
            (
                "data:," + String(repeating: "x", count: 100),
                "data:," + String(repeating: "x", count: 55) + "..."
            ),
        ])
    func display(text: String, shown: String) throws {
        #expect(try URL(typed: text).displayText == shown)
    }
}
