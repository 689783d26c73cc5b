import TestTraits
import Testing

@testable import CatalogueService

@Suite("RequestPath", .bounded)
struct RequestPathTests {
    private func read(_ target: String) -> Result<[String], RequestPath.Refusal> {
        do {
            return .success(try RequestPath(target: target).names.map { String(decoding: $0, as: UTF8.self) })
        } catch {
            return .failure(error)
        }
    }

    @Test(
        "a target names a file below the folder",
        arguments: [
            ("/", []), ("/?x=/../y", []), ("/a.jpg", ["a.jpg"]),
            ("/posters/a.jpg?size=2", ["posters", "a.jpg"]),
            ("/El%20Cami%C3%B3n.jpg", ["El Camión.jpg"]), ("/El Camión.jpg", ["El Camión.jpg"]),
            ("/100%2525.jpg", ["100%25.jpg"]), ("/a+b", ["a+b"]), ("/...x", nil), ("/a..b", ["a..b"]),
            ("http://host:80/a/b", ["a", "b"]), ("HTTP://host", []), ("https://host?x", []),
        ] as [(String, [String]?)])
    func names(target: String, names: [String]?) {
        #expect(read(target) == names.map { .success($0) } ?? .failure(.notServed))
    }

    @Test(
        "a target that leaves the folder or is not a path is malformed",
        arguments: [
            "", "a.jpg", "*", "host:443", "ftp://host/a", "/..", "/../etc/passwd", "/a/../b", "/%2e%2e/a",
            "/.%2E/a",
            "/a/..%2fb", "/a%2Fb", "/a%5Cb", "/a\\..\\b", "/a%00.jpg", "/%", "/%4", "/%zz", "/%+1", "/a#b",
            "//../a",
        ])
    func malformed(target: String) {
        #expect(read(target) == .failure(.malformed))
    }

    @Test(
        "hidden names, empty names and too many segments are not served",
        arguments: ["/.git/config", "/a/.hidden", "/.", "/./a", "//a", "/a/", "/a//b", "/%2egit"]
            + [String(repeating: "/a", count: 17)])
    func notServed(target: String) {
        #expect(read(target) == .failure(.notServed))
    }
}
