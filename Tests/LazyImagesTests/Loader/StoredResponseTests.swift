import FoundationEssentials
import Testing

@testable import LazyImages

@Suite("StoredResponse", .timeLimit(.minutes(1)))
struct StoredResponseTests {
    private let date = Date(timeIntervalSince1970: 1_763_714_400.9)

    @Test("what is written is what the format's sample shows")
    func format() throws {
        let response = try response(["Content-Type": "image/jpeg", "ETag": "\"5f3-61\""])
        let text = """
            200 1763714400 https://example.org/posters/1.jpg
            Content-Type: image/jpeg
            ETag: "5f3-61"

            """
        #expect(String(decoding: response.encoded, as: UTF8.self) == text)
    }

    @Test(
        "a value that begins with a combining mark is read again, and one with a line break in it is not kept"
    )
    func oddValues() throws {
        let head = ResponseHead(
            status: 200, fields: ["X-Mark": "\u{301}a", "X-Break": "a\r\nb", "ETag": "\"1\""])
        let url = try #require(URL(string: "https://example.org/a.jpg"))
        let stored = StoredResponse(head, url: url, received: Date(timeIntervalSince1970: 7))
        let read = try #require(StoredResponse(decoding: stored.encoded))
        #expect(read == stored)
        #expect(
            read.fields["x-mark"] == "\u{301}a" && read.fields["x-break"] == nil
                && read.fields["etag"] == "\"1\"")
    }

    @Test("what is written reads back, odd values too")
    func roundTrip() throws {
        let response = try response([
            "Content-Type": "image/jpeg", "Empty": "", "X": "a: b: c", "Latin": "Größe", "X": "again",
        ])
        #expect(StoredResponse(decoding: response.encoded) == response)
        #expect(response.fields.values(of: "x") == ["a: b: c", "again"])
    }

    @Test("fields of the connection, and cookies, are not kept")
    func unkept() throws {
        let response = try response([
            "Set-Cookie": "secret", "connection": "close", "Transfer-Encoding": "chunked", "Keep-Alive": "5",
            "Age": "7",
        ])
        #expect(response.fields.fields.map(\.name) == ["Age"])
    }

    @Test("a value with a line break writes no second line")
    func lineBreak() throws {
        let response = try response(["A": "1\nB: 2", "C": "3"])
        #expect(StoredResponse(decoding: response.encoded)?.fields == ["C": "3"])
    }

    @Test(
        "anything else is no response",
        arguments: ["", "\n", "200", "200 x https://a", "x 1 https://a", "200 1 https://a\nno colon"])
    func malformed(text: String) {
        #expect(StoredResponse(decoding: Array(text.utf8)) == nil)
    }

    private func response(_ fields: HTTPFields) throws -> StoredResponse {
        StoredResponse(
            ResponseHead(status: 200, fields: fields),
            url: try #require(URL(string: "https://example.org/posters/1.jpg")), received: date)
    }
}
