import Films
import Foundation
import SystemSupport
import TestTraits
import Testing

/// Untrusted bytes cause a value or an error, never a trap.
@Suite("Hostile bytes", .bounded)
struct HostileBytesTests {
    private static let list =
        "# list\r\nposters/a.jpg sha256:\(String(repeating: "ab", count: 32))\r\nb.jpg\r\n"
    private static let feed = Feeds.atom(
        "<entry><id>a</id><title type='xhtml'><div>A <b>b</b></div></title><link rel='next'/></entry>")
    private static let samples = [
        Fixtures.json, Fixtures.xml, list, Feeds.topRated, Feeds.rss, Feeds.podcast,
    ]

    private func readBoth(_ bytes: [UInt8]) -> (Catalogue?, Manifest?) {
        _ = Catalogue.nextPage(in: bytes)
        if let documents = try? CatalogueDocuments(parsing: bytes) {
            documents.forEach { _, film in
                guard case .success(let film) = film else { return }
                _ = (film.problems, film.json(), film.xml())
            }
        }
        // Ignored: other tests check which error it is.
        return (try? Catalogue(parsing: bytes), try? Manifest(parsing: bytes))
    }

    @Test(
        "a document cut anywhere before its last bracket is refused",
        arguments: [Fixtures.json, Fixtures.xml, feed])
    func cut(text: String) {
        let bytes = Array(text.utf8)
        for length in 0..<bytes.count {
            let (catalogue, manifest) = readBoth(Array(bytes[..<length]))
            #expect(catalogue == nil && manifest == nil, "cut at \(length)")
        }
        #expect(readBoth(bytes).0 != nil)
    }

    @Test("a list cut anywhere gives its complete entries")
    func cutList() {
        let bytes = Array(Self.list.utf8)
        for length in 1..<bytes.count {
            #expect(readBoth(Array(bytes[..<length])).1 != nil, "cut at \(length)")
        }
    }

    @Test("flipped bits never trap", arguments: samples.indices)
    func flips(sample: Int) {
        let original = Array(Self.samples[sample].utf8)
        var random = SeededNumbers(seed: UInt64(sample) + 1)
        var refused = 0
        for _ in 0..<Rounds.count(60, many: 400) {
            var bytes = original
            for _ in 0...Int.random(in: 0..<3, using: &random) {
                bytes[Int.random(in: bytes.indices, using: &random)] ^=
                    1 << UInt8.random(in: 0..<8, using: &random)
            }
            if readBoth(bytes).0 == nil { refused += 1 }
        }
        #expect(refused > 0)
    }

    @Test("random JSON is malformed only where Foundation refuses it, and the fault has its place")
    func noise() {
        let pieces = [
            "{", "}", "[", "]", ",", ":", " ", "\n", "\"", "\"a\":", "\"title\":", "\"b\"", "\\",
            "\"\\u00e9\"", "\"\\ud83c\"",
            "0", "-1", "1.5e3", "01", "1.", "true", "null", "nul", "\u{1}", "\"\u{1}\"", "é", "<", "[]", "{}",
        ]
        var random = SeededNumbers(seed: 7)
        var (malformed, read) = (0, 0)
        for _ in 0..<5000 {
            let middle = (0..<Int.random(in: 0..<8, using: &random)).compactMap { _ in
                pieces.randomElement(using: &random)
            }.joined()
            let text = Bool.random(using: &random) ? "[\(middle)]" : "{\(middle)}"
            // Foundation takes a comma before a bracket, which RFC 8259 does not.
            if text.contains(/,\s*[\]}]/) { continue }
            let isJSON = (try? JSONSerialization.jsonObject(with: Data(text.utf8))) != nil
            if isJSON { read += 1 }
            do throws(CatalogueError) {
                _ = try Catalogue(parsing: Array(text.utf8))
            } catch .malformedJSON(_, let line, _) {
                malformed += 1
                #expect(!isJSON, "\(text.debugDescription)")
                #expect(
                    line.map { 1...text.split(separator: "\n").count + 1 ~= $0 } ?? false,
                    "\(text.debugDescription)")
            } catch {
                // Other tests check which other error it is.
            }
        }
        #expect(malformed > 1000 && read > 100, "\(malformed) malformed, \(read) read")
    }
}
