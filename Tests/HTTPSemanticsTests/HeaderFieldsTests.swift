import HTTPSemantics
import TestTraits
import Testing

@Suite("HeaderFields", .bounded)
struct HeaderFieldsTests {
    @Test("names compare without case, and the first value is returned")
    func lookup() {
        var fields: HeaderFields = ["Content-Type": "image/png"]
        fields.append(HeaderFields.Field(name: "content-type", value: "text/html"))
        #expect(fields["CONTENT-TYPE"] == "image/png")
        #expect(fields.values(of: "content-Type") == ["image/png", "text/html"])
        #expect(fields["Content_Type"] == nil)
    }

    @Test("setting a value replaces every field of the name, and nil removes them")
    func setting() {
        var fields: HeaderFields = ["A": "1", "B": "2", "a": "3"]
        fields["a"] = "4"
        #expect(fields.fields.map(\.name) == ["B", "a"])
        fields["A"] = nil
        fields["b"] = nil
        #expect(fields.isEmpty)
    }

    @Test(
        "only ASCII letters compare without case",
        arguments: [
            ("[", "{", false), ("@", "`", false), ("É", "é", false), ("Az-9", "aZ-9", true),
            ("a", "ab", false),
        ])
    func cases(one: String, other: String, isSame: Bool) {
        #expect(one.equalsIgnoringCase(other) == isSame)
    }

    @Test(
        "a malformed name or a control character in a value is a fault",
        arguments: [
            ("Accept", "a/b", nil), ("X-Größe", "1", "\"X-Größe\" is not the name of a header field"),
            ("", "1", "\"\" is not the name of a header field"),
            ("A:", "1", "\"A:\" is not the name of a header field"),
            ("A", "1\r\nHost: evil", "the value of A holds a control character"),
            ("A", "tab\tis fine, and so is ü", nil),
            ("A", "\u{7F}", "the value of A holds a control character"),
        ])
    func faults(name: String, value: String, fault: String?) {
        #expect(HeaderFields.fault(name: name, value: value) == fault)
    }

    @Test(
        "a Content-Length is a non-negative number",
        arguments: [
            ("12", 12), ("0", 0), ("-1", nil), ("12, 12", nil), ("", nil), ("99999999999999999999", nil),
        ])
    func contentLength(value: String, length: Int?) {
        #expect(ResponseHead(status: 200, fields: ["content-length": value]).contentLength == length)
        #expect(ResponseHead(status: 200).contentLength == nil)
    }
}
