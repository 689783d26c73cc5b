import FilmBrowser
import HTTPSemantics
import TestTraits
import Testing

@testable import marquee

@Suite("An answer as text", .bounded)
struct AnswerTextTests {
    private func lines(_ body: String, type: String?) -> [String] {
        AnswerText(
            address: "http://a/b", because: .httpStatus(url: "http://a/b", status: 404),
            head: ResponseHead(status: 404), body: Array(body.utf8), type: type
        ).paragraphs.flatMap { $0.lines(width: 76) }.flatMap { $0 }.map(\.text)
    }

    @Test(
        "a long body is cut between characters, in the charset of the whole",
        arguments: ["text/plain", nil])
    func long(type: String?) {
        // An odd number of bytes before characters of two bytes: a cut by bytes would split one.
        let lines = lines("x" + String(repeating: "é", count: AnswerText.longestBody), type: type)
        #expect(lines.last == "(cut: the body has \(1 + 2 * AnswerText.longestBody) bytes)")
        #expect(lines.joined().filter { $0 == "é" }.count == AnswerText.longestBody - 1)
        #expect(!lines.joined().contains("Ã"))
    }
}
