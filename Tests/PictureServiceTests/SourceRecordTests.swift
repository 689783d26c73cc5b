import HTTPSemantics
import ImageCodecs
import LazyImages
import PictureService
import Testing

@Suite("What is known of a source", .timeLimit(.minutes(5)))
struct SourceRecordTests {
    private static let now = 1_790_000_000

    private func record(_ fields: HTTPFields) -> SourceRecord {
        SourceRecord(
            content: SHA256.hash(of: "a").hexadecimal, byteCount: 42_250, format: .jpeg,
            size: ImageSize(width: 500, height: 750), fields: fields, received: Self.now, delay: 1)
    }

    @Test("a record is read as it was written, with the fields that matter and no other")
    func text() throws {
        let record = record([
            "ETag": "\"a\"", "Cache-Control": "s-maxage=60, max-age=5", "Set-Cookie": "secret=1",
            "Cache-control": "must-revalidate", "Age": "3",
        ])
        #expect(!record.text.contains("secret"))
        #expect(SourceRecord(record.text) == record)
        #expect(record.fields.values(of: "cache-control").count == 2)
        let bare = self.record([:])
        #expect(SourceRecord(bare.text) == bare)
    }

    @Test("what is cut off, changed or of another version is no record")
    func damaged() {
        let text = record(["ETag": "\"a\""]).text
        for count in 0..<text.utf8.count { #expect(SourceRecord(String(text.prefix(count))) == nil) }
        for (old, new) in [
            ("source 1", "source 2"), ("jpeg", "gif"), ("500", "0"), ("42250", "x"), ("etag", "set-cookie"),
            ("etag:", "etag"), ("content ", "content  "), ("answer", "Answer"),
        ] {
            #expect(SourceRecord(text.replacing(old, with: new)) == nil)
        }
    }

    @Test("it grows stale as a shared cache's answers do, and is validated by its tag or date")
    func freshness() {
        let record = record(["Cache-Control": "s-maxage=60, max-age=5", "Age": "10", "ETag": "\"a\""])
        #expect(record.lifetime == 60)
        #expect(record.age(now: Self.now + 5) == 16)
        #expect(record.use(now: Self.now + 40) == .fresh)
        #expect(record.use(now: Self.now + 60) == .validate)
        #expect(!record.allowsStale(now: Self.now + 60))
        #expect(record.conditions["if-none-match"] == "\"a\"")
        #expect(self.record([:]).conditions.fields.isEmpty)
        #expect(self.record(["Cache-Control": "max-age=5"]).allowsStale(now: Self.now + 60))
    }

    @Test("a 304 makes it fresh again, with the same content and keys")
    func confirmed() throws {
        let old = record(["Cache-Control": "max-age=60", "Age": "50", "ETag": "\"a\""])
        let new = old.confirmed(by: ["Cache-Control": "max-age=100"], received: Self.now + 70, delay: 0)
        #expect(new.use(now: Self.now + 169) == .fresh)
        #expect(new.use(now: Self.now + 170) == .validate)
        #expect(new.conditions["if-none-match"] == "\"a\"")
        let recipe = try PictureRecipe("w342")
        #expect(new.key(recipe) == old.key(recipe))
    }
}
