import HTTPSemantics
import TestTraits
import Testing

@Suite("RequestTarget, RFC 9112 section 3.2", .bounded)
struct RequestTargetTests {
    @Test(
        "a path is split before it is decoded, and is decoded once",
        arguments: [
            ("/", [""]), ("/films", ["films"]), ("/films/", ["films", ""]), ("/films?limit=2", ["films"]),
            ("/films/El%20Cami%C3%B3n", ["films", "El Camión"]), ("/films/a+b", ["films", "a+b"]),
            ("/films/100%2525", ["films", "100%25"]), ("/films/a%3Fb", ["films", "a?b"]), ("*", []),
            ("http://host:80/a/b", ["a", "b"]), ("HTTPS://host/a", ["a"]), ("/..", [".."]),
            ("//a", ["", "a"]),
        ] as [(String, [String])])
    func segments(target: String, segments: [String]) throws {
        #expect(try RequestTarget(target).segments == segments)
    }

    @Test("a query is decoded as a form")
    func query() throws {
        let query = try RequestTarget("/films?q=El+Cami%C3%B3n&q=b%26c?d").query
        #expect(query.values(of: "q") == ["El Camión", "b&c?d"])
    }

    @Test("the authority of the absolute form is returned")
    func authority() throws {
        #expect(try RequestTarget("http://Nas:8080/films").authority == "Nas:8080")
        #expect(try RequestTarget("http://nas?x").authority == "nas")
        #expect(try RequestTarget("/films").authority == nil)
    }

    @Test(
        "a malformed target is refused",
        arguments: [
            "films", "ftp://host/a", "http://", "http:///a", "http://me@host/", "/a#b", "", "host:443",
        ])
    func malformed(target: String) {
        #expect(throws: RequestTarget.Failure.malformed) { try RequestTarget(target) }
    }

    @Test(
        "bad encodings, NUL and an encoded slash within a segment are refused",
        arguments: ["/%", "/%4", "/%zz", "/%ff", "/a%2Fb", "/a%00", "/a?b=%", "/%+1"])
    func badEncoding(target: String) {
        #expect(throws: RequestTarget.Failure.badEncoding) { try RequestTarget(target) }
    }
}
