import HTTPSemantics
import TestTraits
import Testing

@Suite("AcceptHeader, RFC 9110 section 12.5.1", .bounded)
struct AcceptHeaderTests {
    private let offers = [["application/json"], ["application/xml", "text/xml"]]

    private func preferred(_ value: String?) -> String? {
        let fields: HeaderFields = value.map { ["Accept": $0] } ?? [:]
        return AcceptHeader(fields).preferred(offers) { $0 }?.first
    }

    @Test(
        "the most preferred offer is chosen, and the first of equals",
        arguments: [
            (nil, "application/json"), ("", "application/json"), ("*/*", "application/json"),
            ("application/xml", "application/xml"), ("text/xml", "application/xml"),
            ("APPLICATION/XML", "application/xml"), ("*", "application/json"),
            ("application/json;q=0.5, application/xml;q=0.6", "application/xml"),
            ("application/xml;q=0.999,application/json", "application/json"),
            ("application/*, application/json;q=0.1", "application/xml"),
            ("*/*;q=0.1, text/*", "application/xml"),
            ("text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8", "application/xml"),
            ("*/*, application/json;q=0", "application/xml"),
            ("nonsense, application/xml", "application/xml"),
        ] as [(String?, String)])
    func chosen(accept: String?, type: String) { #expect(preferred(accept) == type) }

    @Test(
        "an offer that is not listed, or has the weight 0, is not accepted",
        arguments: [
            "text/html", "image/*", "application/json;q=0, application/xml;q=0.000", "*/*;q=0", "*/json",
            "application/json;q=2", "application/json;q=0.1234", "application/json;q=a", "/", "application",
        ])
    func refused(accept: String) { #expect(preferred(accept) == nil) }

    @Test("repeated fields are one list")
    func severalFields() {
        var fields: HeaderFields = ["Accept": "text/html"]
        fields.append(.init(name: "accept", value: "application/xml"))
        #expect(AcceptHeader(fields).quality(of: "application/xml") == 1000)
        #expect(AcceptHeader(fields).quality(of: "application/json") == 0)
    }
}
