import TestTraits
import Testing

@testable import HTTPSemantics

@Suite("Link fields", .bounded)
struct LinkFieldTests {
    @Test(
        "the target of a relation is found among other parameters and links",
        arguments: [
            ("<?after=x>; rel=\"next\"", "?after=x"), ("<a>;rel=next", "a"), ("<a> ; REL = \"NEXT\"", "a"),
            ("<b>; rel=prev, <a>; rel=next", "a"),
            ("<b>; title=\"<x>; rel=next\", <a>; rel=\"up next\"", "a"),
            ("<a,b;c>; rel=next", "a,b;c"), ("<a>; title=\"q\\\", <c>; rel=next\"; rel=\"next\"", "a"),
            ("<>; rel=next", ""), ("<a>; rel=prev; rel=next", nil), ("<a>", nil), ("a; rel=next", nil),
            ("<a; rel=next", nil), ("", nil), ("<a>; rel=nextish", nil), ("x, <a>; rel=next", nil),
        ])
    func target(value: String, target: String?) {
        #expect(LinkField.target("next", in: ["Link": value]) == target)
    }

    @Test("links may be spread over several fields")
    func severalFields() {
        #expect(LinkField.target("next", in: ["Link": "<b>; rel=prev", "link": "<a>; rel=next"]) == "a")
    }
}
