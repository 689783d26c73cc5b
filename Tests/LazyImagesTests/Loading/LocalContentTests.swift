import FoundationEssentials
import Glibc
import TestSupport
import TestTraits
import Testing

import LazyImages

@Suite("LocalContent", .bounded)
struct LocalContentTests {
    private let folder: TemporaryFolder

    init() throws { folder = try TemporaryFolder() }

    @Test(
        "a file is read, whatever characters its name has",
        arguments: ["a.png", "El Camión 100%.png", "a?b#c.png"])
    func file(name: String) throws {
        try write([1, 2, 3], to: name)
        #expect(try LocalContent.read(URL(filePath: folder.file(name)), limit: 3) == [1, 2, 3])
    }

    @Test("a file URL for localhost is read, one for another machine is refused")
    func host() throws {
        try write([1], to: "a")
        let here = try #require(URL(string: "file://localhost" + folder.file("a")))
        #expect(try LocalContent.read(here, limit: 9) == [1])
        let elsewhere = try #require(URL(string: "file://nas.example/a"))
        let error = ImageLoadingError.invalidURL(
            text: "file://nas.example/a", reason: "a file URL must not name another machine")
        #expect(throws: error) { _ = try LocalContent.read(elsewhere, limit: 9) }
    }

    @Test("a missing file, a folder and a file over the limit are refused with the reason")
    func refused() throws {
        let missing = folder.file("missing")
        expect(
            .unreadableFile(path: missing, reason: "No such file or directory"), for: URL(filePath: missing))
        expect(.unreadableFile(path: folder.path, reason: "it is a folder"), for: URL(filePath: folder.path))
        try write([1, 2, 3, 4], to: "large")
        let large = URL(filePath: folder.file("large"))
        expect(.tooLarge(url: large.absoluteString, limit: 3), for: large)
        try write([], to: "empty")
        let empty = URL(filePath: folder.file("empty"))
        expect(.empty(url: empty.absoluteString), for: empty)
    }

    @Test("a pipe and a device are refused without blocking")
    func pipe() {
        let path = folder.file("pipe")
        #expect(unsafe mkfifo(path, 0o600) == 0)
        expect(.unreadableFile(path: path, reason: "it is not a regular file"), for: URL(filePath: path))
        expect(
            .unreadableFile(path: "/dev/zero", reason: "it is not a regular file"),
            for: URL(filePath: "/dev/zero"))
    }

    @Test(
        "a data URL holds its content, percent-encoded or base64",
        arguments: [
            ("data:,a%20b", "a b"), ("data:text/plain;charset=utf-8,a+b", "a+b"),
            ("data:;base64,YWJj", "abc"),
            ("data:text/plain;BASE64,YWJj", "abc"), ("data:;base64,YW%4Aj", "abc"),
            ("data:,100%25%", "100%%"),
            ("data:image/png; base64 ,YWJj", "abc"), ("data:;%20base64,YWJj#fragment", "abc"),
            ("data:,a,b", "a,b"), ("data:;base64,YQ%3D%3D", "a"),
        ])
    func dataURL(text: String, content: String) throws {
        // With a space or a lone percent sign a text is not a URL; `URL(typed:)` encodes it.
        let url = try URL(typed: text)
        #expect(try LocalContent.read(url, limit: 100) == Array(content.utf8))
    }

    @Test("a data URL without a comma, with bad base64, empty or too large is refused")
    func refusedData() throws {
        let noComma = try #require(URL(string: "data:image/png;base64"))
        expect(
            .invalidURL(text: "data:image/png;base64", reason: "a data URL needs a comma before its content"),
            for: noComma)
        let badBase64 = try #require(URL(string: "data:;base64,A"))
        expect(.invalidURL(text: "data:;base64,A", reason: "its content is not base64"), for: badBase64)
        expect(.empty(url: "data:,"), for: try #require(URL(string: "data:,")))
        expect(.tooLarge(url: "data:,abcd", limit: 3), for: try #require(URL(string: "data:,abcd")))
    }

    @Test("the largest possible limit does not overflow")
    func largestLimit() throws {
        let url = try #require(URL(string: "data:,abcd"))
        #expect(try LocalContent.read(url, limit: .max).count == 4)
    }

    @Test("URLs that are neither file nor data URLs are not answered")
    func answers() throws {
        for (text, isLocal) in [
            ("file:///a", true), ("DATA:,a", true), ("https://a", false), ("http://a", false),
        ] {
            #expect(try #require(URL(string: text)).isLocal == isLocal)
        }
    }

    private func expect(_ error: ImageLoadingError, for url: URL) {
        #expect(throws: error) { _ = try LocalContent.read(url, limit: 3) }
    }

    private func write(_ bytes: [UInt8], to name: String) throws {
        try Data(bytes).write(to: URL(filePath: folder.file(name)))
    }
}
