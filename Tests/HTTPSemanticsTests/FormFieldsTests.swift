import HTTPSemantics
import TestTraits
import Testing

@Suite("FormFields", .bounded)
struct FormFieldsTests {
    @Test("names and values are decoded once, in order, with repetitions")
    func decoded() throws {
        let form = try FormFields(
            parsing: Array(
                "film[title]=El+Cami%C3%B3n&film%5Bgenres%5D[]=Crime&film[genres][]=100%2525&&x&=y&z==".utf8))
        #expect(
            form.fields == [
                .init(name: "film[title]", value: "El Camión"), .init(name: "film[genres][]", value: "Crime"),
                .init(name: "film[genres][]", value: "100%25"), .init(name: "x", value: ""),
                .init(name: "", value: "y"), .init(name: "z", value: "="),
            ])
        #expect(form.values(of: "film[genres][]") == ["Crime", "100%25"])
        #expect(try FormFields(parsing: [UInt8]()).fields.isEmpty)
    }

    @Test(
        "a bad encoding is reported with the number of its field",
        arguments: ["%", "a=%4", "a=%zz", "%ff=a", "a=%+1"])
    func badEncoding(field: String) {
        #expect(throws: FormFields.Failure.badEncoding(field: 2)) {
            try FormFields(parsing: Array("a=b&\(field)".utf8))
        }
    }

    @Test("a form with too many fields is refused")
    func tooMany() {
        let text = String(repeating: "a&", count: FormFields.maximumFields + 1)
        #expect(throws: FormFields.Failure.tooManyFields(limit: FormFields.maximumFields)) {
            try FormFields(parsing: Array(text.utf8))
        }
    }

    @Test("a percent-encoded text is one segment of a path, and decodes to itself")
    func encoded() {
        for text in ["El Camión/2019?#%+&", "a-b.c_d~e", "\u{1}\"<>", "日本"] {
            let encoded = PercentEncoding.encoded(text)
            #expect(encoded.utf8.allSatisfy { $0.isTokenCharacter })
            #expect(!encoded.contains("/") && !encoded.contains("+") && !encoded.contains("&"))
            #expect(PercentEncoding.decodedText(encoded.utf8) == text)
            #expect(PercentEncoding.decodedText(encoded.utf8, plusIsSpace: true) == text)
        }
        #expect(PercentEncoding.encoded("a:b") == "a%3Ab")
    }
}
