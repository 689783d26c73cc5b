import HTTPSemantics
import TestTraits
import Testing

@Suite("ContentType, RFC 9110 section 8.3.1", .bounded)
struct ContentTypeTests {
    @Test("types compare without case, and parameters keep their values")
    func read() {
        #expect(ContentType("Application/JSON")?.mediaType == "application/json")
        let form = ContentType("multipart/form-data ; Boundary=\"a; b\\\"c\" ;; x=Y")
        #expect(form?.mediaType == "multipart/form-data")
        #expect(form?.parameters == ["boundary": "a; b\"c", "x": "Y"])
    }

    @Test(
        "a malformed type is refused",
        arguments: [
            "", "json", "a/b/c", "/", "a/", "a b/c", "a/b; x", "a/b; =y", "a/b; x=", "a/b; x=\"y",
            "a/b; x=1; X=2", "a/b; x=y z",
        ])
    func malformed(text: String) { #expect(ContentType(text) == nil) }

    @Test("text is UTF-8 unless it names another character set")
    func charset() {
        #expect(ContentType("a/b")?.isUTF8 == true)
        #expect(ContentType("a/b; charset=\"UTF-8\"")?.isUTF8 == true)
        #expect(ContentType("a/b; charset=iso-8859-1")?.isUTF8 == false)
    }
}
