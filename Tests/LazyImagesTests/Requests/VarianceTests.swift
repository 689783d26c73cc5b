import TestTraits
import Testing

@testable import LazyImages

@Suite("Vary, RFC 9111 section 4.1", .bounded)
struct VarianceTests {
    @Test("the named fields must be equal, and other fields may differ")
    func matching() {
        #expect(matches("Foo", ["Foo": "1", "Other": "2"], ["Foo": "1", "Other": "3"]))
        #expect(!matches("Foo", ["Foo": "1"], ["Foo": "2"]))
        #expect(!matches("Foo", ["Foo": "1"], [:]))
        #expect(!matches("Foo", [:], ["Foo": "1"]))
        #expect(!matches("Foo", [:], ["Foo": ""]))
        #expect(matches("FOO", ["foo": "1"], ["Foo": "1"]))
        #expect(matches("", ["Foo": "1"], ["Foo": "2"]))
    }

    @Test("every listed name counts, in any order and across several fields")
    func several() {
        let request: HeaderFields = ["Foo": "1", "Bar": "abc"]
        #expect(matches("Foo, Bar, Baz", request, ["Bar": "abc", "Foo": "1"]))
        #expect(!matches("Foo, Bar, Baz", request, ["Bar": "abc", "Foo": "2"]))
        #expect(!matches("Foo, Bar, Baz", request, ["Bar": "abc", "Foo": "1", "Baz": "7"]))
        #expect(Vary.names(in: ["Vary": "b, A", "vary": " C ,"]) == ["a", "b", "c"])
    }

    @Test("a star matches nothing", arguments: ["*", "*, *", ", *", "*, Foo", "Foo, *", " * "])
    func star(vary: String) {
        #expect(Variance(["Vary": vary], request: [:]) == nil)
        #expect(Variance(["Vary": "Foo", "vary": vary], request: [:]) == nil)
    }

    @Test("several fields of one name are one list, and white space around its members is ignored")
    func normalised() {
        #expect(matches("Foo", ["Foo": "1,2"], ["Foo": " 1 ,  2 "]))
        #expect(matches("Foo", ["Foo": "1, 2"], ["Foo": "1", "foo": "2"]))
        #expect(!matches("Foo", ["Foo": "1, 2"], ["Foo": "2, 1"]))
        #expect(!matches("Foo", ["Foo": "a"], ["Foo": "A"]))
        #expect(!matches("Foo", ["Foo": "\"a,b\""], ["Foo": "\"a, b\""]))
    }

    @Test("the members of Accept fields match in any order and case")
    func accept() {
        #expect(
            matches(
                "Accept-Language", ["Accept-Language": "en, de;q=0.5"], ["Accept-Language": "DE; q=0.5,en"]))
        #expect(
            !matches("Accept-Language", ["Accept-Language": "en, de;q=0.5"], ["Accept-Language": "de, en"]))
    }

    @Test("a value is stored as a hash, since it may be a secret")
    func secrets() throws {
        let variance = try #require(Variance(["Vary": "Cookie"], request: ["Cookie": "session=secret"]))
        #expect(variance.members.count == 1 && variance.members[0].hash.utf8.count == 64)
    }

    private func matches(_ vary: String, _ first: HeaderFields, _ second: HeaderFields) -> Bool {
        Variance(["Vary": vary], request: first)?.matches(second) ?? false
    }
}
