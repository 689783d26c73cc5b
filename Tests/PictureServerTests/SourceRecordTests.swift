import Hashing
import ImageCodecs
import LazyImages
import PictureService
import TestTraits
import Testing

@testable import PictureServer

@Suite("The record of a source", .bounded)
struct SourceRecordTests {
    private static let now = 1_790_000_000

    private func record(
        _ control: [String] = [], lifetime: Int = 60, received: Int = now
    ) -> SourceRecord {
        SourceRecord(
            content: SHA256.hash(of: "a").hexadecimal, byteCount: 42_250, format: .jpeg,
            size: ImageSize(width: 500, height: 750), control: control, received: received,
            initialAge: 1, lifetime: lifetime)
    }

    @Test("a record is read as it was written")
    func text() {
        for record in [record(["s-maxage=60, max-age=5", "must-revalidate"]), record(), record(lifetime: 0)] {
            #expect(SourceRecord(record.text) == record)
        }
    }

    @Test("a truncated, changed or foreign record is refused")
    func damaged() {
        let text = record(["max-age=60"]).text
        for count in 0..<text.utf8.count { #expect(SourceRecord(String(text.prefix(count))) == nil) }
        for (old, new) in [
            ("source 2", "source 1"), ("jpeg", "avif"), ("500", "0"), ("42250", "x"), ("42250", "-1"),
            ("cache-control", "set-cookie"), ("cache-control:", "cache-control"), ("content ", "content  "),
            ("answer", "Answer"), ("max-age=60", "max-age=\r60"), ("end\n", "end\n\n"),
        ] {
            #expect(text.contains(old) && SourceRecord(text.replacing(old, with: new)) == nil, "\(new)")
        }
    }

    @Test("the key of a picture depends only on content and recipe")
    func keys() throws {
        let recipe = try PictureRecipe("w342")
        #expect(record().key(recipe) == record(["max-age=9"], lifetime: 9, received: 5).key(recipe))
        #expect(record().key(recipe) != record().key(try PictureRecipe("w500")))
    }
}
