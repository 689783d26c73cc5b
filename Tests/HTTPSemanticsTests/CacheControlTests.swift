import HTTPSemantics
import TestTraits
import Testing

@Suite("Cache-Control, RFC 9111 section 5.2", .bounded)
struct CacheControlTests {
    @Test("every directive is read, in any case")
    func directives() {
        let control = read(
            "No-Store, PUBLIC, mUst-Revalidate, immutable, must-understand, private, only-if-cached")
        #expect(control.noStore && control.isPublic && control.mustRevalidate && control.isImmutable)
        #expect(control.mustUnderstand && control.isPrivate && control.onlyIfCached)
        let numbers = read("max-age=1, stale-while-revalidate=2, stale-if-error=3, min-fresh=4, max-stale=5")
        #expect(numbers.maxAge == 1 && numbers.staleWhileRevalidate == 2 && numbers.staleIfError == 3)
        #expect(numbers.minFresh == 4 && numbers.maxStale == 5)
        #expect(read("max-stale").maxStale == CacheControl.maximumSeconds)
        #expect(read("foobar, max-age=3600").maxAge == 3600)
    }

    @Test(
        "section 1.2.2: a number of seconds may be quoted, and is at most 31 bits",
        arguments: [
            ("3600", 3600), ("\"3600\"", 3600), ("003600", 3600), ("0", 0), ("2147483648", 1 << 31),
            ("99999999999", 1 << 31), ("99999999999999999999999999", 1 << 31),
        ])
    func seconds(text: String, seconds: Int) {
        #expect(read("max-age=\(text)").maxAge == seconds)
    }

    @Test(
        "section 4.2.1: a malformed max-age makes the answer stale",
        arguments: ["a3600", "3600a", "-100", "3600.0", "'3600'", "", " 3600", "\"3600", "+1", "1 2", "\"\""])
    func malformed(text: String) {
        #expect(read("max-age=\(text)").maxAge == 0)
    }

    @Test("a directive with white space before its equals sign is another directive")
    func spaceBeforeEquals() { #expect(read("max-age =3600").maxAge == nil) }

    @Test("section 4.2.1: the first of repeated directives counts, in one field or two")
    func duplicates() {
        #expect(read("max-age=1, max-age=1800").maxAge == 1)
        #expect(read("max-age=1800, max-age=1").maxAge == 1800)
        #expect(read("max-age=1800", "max-age=1").maxAge == 1800)
    }

    @Test(
        "a directive inside a quoted string is ignored",
        arguments: [
            "extension=\"max-age=3600\", max-age=1", "max-age=1, extension=\"max-age=3600\"",
            "extension=\"a, max-age=3600, no-store\", max-age=1",
            "extension=\"\\\", max-age=3600\", max-age=\"1\"",
        ])
    func quoted(text: String) {
        #expect(read(text).maxAge == 1)
        #expect(!read(text).noStore)
    }

    @Test("section 5.2.2.4: no-cache with names affects only those fields")
    func qualifiedNoCache() {
        #expect(read("no-cache").noCache)
        #expect(!read("no-cache=\"A, b\"").noCache)
        #expect(read("no-cache=\"A, b\"").noCacheFields == ["a", "b"])
        #expect(read("no-cache=a").noCacheFields == ["a"])
        #expect(read("no-cache=\"\"").noCache)
    }

    @Test("a missing or empty field has no directives")
    func empty() {
        #expect(CacheControl(["Expires": "0"]) == CacheControl([:]))
        #expect(read(", ,") == CacheControl([:]))
    }

    private func read(_ values: String...) -> CacheControl {
        var fields = HeaderFields()
        for value in values { fields.append(HeaderFields.Field(name: "cache-control", value: value)) }
        return CacheControl(fields)
    }
}
