import Films
import Hashing
import TestTraits
import Testing

@Suite("Manifest", .bounded)
struct ManifestTests {
    private let checksum = String(repeating: "0123456789abcdef", count: 4)

    private func manifest(_ text: String) throws -> Manifest { try Manifest(parsing: Array(text.utf8)) }

    @Test("a JSON manifest has addresses and objects, as a member or a bare array")
    func json() throws {
        let images = """
            [{"url": "a.jpg", "sha256": "\(checksum.uppercased())", "note": 1}, "b.jpg",
            {"url": "c d.jpg"}]
            """
        let expected = [
            Manifest.Entry(address: "a.jpg", checksum: checksum),
            Manifest.Entry(address: "b.jpg"),
            Manifest.Entry(address: "c d.jpg"),
        ]
        for text in [images, "{\"images\": \(images)}"] {
            let manifest = try manifest(text)
            #expect(manifest.entries == expected)
            #expect(manifest.problems == [])
        }
    }

    @Test("a list has one address per line, with comments, blank lines, CRLF and a byte order mark")
    func list() throws {
        let text =
            "\u{FEFF}# posters\r\nhttps://a.example/x.jpg#part\r\n\r\n  El Camión.jpg\t\r\n"
            + "b.jpg sha256:\(checksum)\r\n #c.jpg\r\nd.jpg  SHA256:\(checksum.uppercased())"
        let manifest = try manifest(text)
        #expect(
            manifest.entries == [
                Manifest.Entry(address: "https://a.example/x.jpg#part", line: 2),
                Manifest.Entry(address: "El Camión.jpg", line: 4),
                Manifest.Entry(address: "b.jpg", checksum: checksum, line: 5),
                Manifest.Entry(address: "d.jpg", checksum: checksum, line: 7),
            ])
        #expect(manifest.problems == [])
    }

    @Test("a malformed line does not affect the others")
    func badLines() throws {
        let long = String(repeating: "x", count: 9000)
        let bytes =
            Array("a.jpg\nb.jpg sha256:12\n\u{1B}[2Jc.jpg\n\(long)\n".utf8) + [0xFF, 0x0A]
            + Array("d.jpg".utf8)
        let manifest = try Manifest(parsing: bytes)
        #expect(manifest.entries.map(\.address) == ["a.jpg", "d.jpg"])
        #expect(manifest.entries.map(\.line) == [1, 6])
        #expect(manifest.problems.map(\.line) == [2, 3, 4, 5])
        #expect(manifest.problems.map(\.text)[0] == "b.jpg")
    }

    @Test("a malformed entry of a JSON manifest does not affect the others")
    func badEntries() throws {
        let manifest = try manifest(
            #"[1, {"url": 2}, "", {"sha256": "x"}, {"url": "a", "sha256": 5}, "z.jpg", null]"#)
        #expect(manifest.entries == [Manifest.Entry(address: "z.jpg")])
        #expect(manifest.problems.count == 6)
        #expect(manifest.problems.first?.text == "entry 1")
    }

    @Test("a catalogue is a manifest of its posters", arguments: [Fixtures.json, Fixtures.xml])
    func catalogue(text: String) throws {
        let manifest = try manifest(text)
        #expect(manifest.entries.map(\.address) == ["posters/nosferatu.jpg"])
        #expect(manifest.problems.isEmpty)
        #expect(manifest.filmsWithoutPoster == 1)
    }

    @Test("an invalid film still gives its poster")
    func badFilm() throws {
        let manifest = try manifest(
            #"[{"title": "A", "poster": "a.jpg"}, {"title": "B", "poster": 1}, {"title": "C", "poster": "c.jpg"}]"#
        )
        #expect(manifest.entries.map(\.address) == ["a.jpg", "c.jpg"])
        #expect(manifest.problems.map(\.reason) == ["has a poster that is not text"])
    }

    @Test("a document that is not a manifest is refused")
    func refused() {
        func error(_ text: String) -> CatalogueError? {
            thrown { () throws(CatalogueError) in _ = try Manifest(parsing: Array(text.utf8)) }
        }
        #expect(error("") == .empty)
        #expect(error("\u{89}PNG\0\u{1}") == .unrecognized)
        #expect(error("{\"pictures\": []}") != nil)
        #expect(
            error("[\n\"a\"")
                == .malformedJSON(reason: "unexpected end of the text", line: 2, column: 4))
        #expect(error("<html/>") != nil)
        #expect(error("<!DOCTYPE catalogue>") == .doctypeRefused(line: 1))
        #expect(error("<!DOCTYPE html>") == .webPage)
    }

    @Test("a list of only comments is an empty manifest")
    func onlyComments() throws {
        #expect(try manifest("# none\n").entries.isEmpty)
        #expect(try manifest("[]").entries.isEmpty)
    }
}
