import HTTPSemantics
import TestTraits
import Testing

@Suite("ProblemDetails, RFC 9457", .bounded)
struct ProblemDetailsTests {
    private let problem = ProblemDetails(
        .unprocessableContent, "the \"year\" <1>\n\u{1} is wrong",
        errors: [("/year", "a & b")],
        members: [("film", .text("é\\")), ("line", .number(3))])

    @Test("written as JSON")
    func json() {
        #expect(
            problem.json == """
                {"type":"about:blank","title":"Unprocessable Content","status":422,\
                "detail":"the \\"year\\" <1>\\n\\u0001 is wrong","film":"é\\\\","line":3,\
                "errors":[{"pointer":"/year","detail":"a & b"}]}

                """)
    }

    @Test("written as XML, where invalid characters are replaced")
    func xml() {
        #expect(
            problem.xml == """
                <?xml version="1.0" encoding="UTF-8"?>
                <problem xmlns="urn:ietf:rfc:7807"><type>about:blank</type><title>Unprocessable Content</title>\
                <status>422</status><detail>the "year" &lt;1&gt;
                \u{FFFD} is wrong</detail><film>é\\</film><line>3</line>\
                <errors><i><pointer>/year</pointer><detail>a &amp; b</detail></i></errors></problem>

                """)
    }
}
