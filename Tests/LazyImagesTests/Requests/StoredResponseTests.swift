import FoundationEssentials
import Hashing
import TestSupport
import TestTraits
import Testing

@testable import LazyImages

@Suite("StoredResponse", .bounded)
struct StoredResponseTests {
    private let date = 1_763_714_400
    private let address = "https://example.org/posters/1.jpg"

    @Test(
        "an answer with a freshness lifetime gives the disk tier an expiry, and another does not")
    func expiry() async throws {
        func head(_ control: String) -> ResponseHead {
            ResponseHead(
                status: 200, fields: ["Cache-Control": control, "Age": "10", "Date": HTTPDate.format(date)])
        }
        #expect(StoredResponse(head("max-age=100"), address: address, received: date).expiry == date + 90)
        #expect(StoredResponse(head("no-cache"), address: address, received: date).expiry == nil)
        let folder = try TemporaryFolder()
        let disk = DiskCache(folder: folder.path)
        let fresh = HeldTransport { _ in HeldTransport.Answer.fresh(SampleImages.png) }
        let request = ImageRequest("http://localhost/a.png")
        _ = try await FileLoader(disk: disk, transport: fresh).file(for: request)
        #expect(await disk.entry(for: request.key)?.expiry != nil)
    }

    @Test("an encoded response has the bytes of the format's sample")
    func format() throws {
        let head = ResponseHead(
            status: 200,
            fields: [
                "Content-Type": "image/jpeg", "ETag": "\"5f3-61\"", "Date": HTTPDate.format(date - 12),
                "Cache-Control": "max-age=86400", "Vary": "Accept-Language",
            ])
        let response = StoredResponse(
            head, address: address, received: date, request: ["Accept-Language": "en"],
            redirects: [try step(301, "max-age=86412")])
        let text = """
            200 1763714400 12 86400 https://example.org/posters/1.jpg
            < vary accept-language a3c8a6ab54a5f4a5fbe3ff26c5ad7ea6a5fba4c6e1fa1a0cb8ba14ea0ea6d1a0
            < moved 1763800812 https://example.org/posters/1.jpg
            Content-Type: image/jpeg
            ETag: "5f3-61"
            Date: Fri, 21 Nov 2025 08:39:48 GMT
            Cache-Control: max-age=86400
            Vary: Accept-Language

            """
        let hash = SHA256.hash(of: "en").hexadecimal
        let expected = text.replacing(
            "a3c8a6ab54a5f4a5fbe3ff26c5ad7ea6a5fba4c6e1fa1a0cb8ba14ea0ea6d1a0", with: hash)
        #expect(String(decoding: response.encoded, as: UTF8.self) == expected)
        #expect(StoredResponse(decoding: response.encoded) == response)
        #expect(StoredResponse(decoding: response.encoded)?.moved == response.moved)
    }

    @Test("an encoded response is read back, with unusual values too; one with a line break is not stored")
    func roundTrip() throws {
        let stored = try response([
            "Content-Type": "image/jpeg", "Empty": "", "X": "a: b: c", "Latin": "Größe", "X": "again",
            "X-Mark": "\u{301}a", "X-Break": "a\r\nb", "A": "1\nB: 2", "< vary a": "x", "C": "3",
        ])
        let read = try #require(StoredResponse(decoding: stored.encoded))
        #expect(read == stored && read.variance.members.isEmpty)
        #expect(read.fields.values(of: "x") == ["a: b: c", "again"] && read.fields["empty"] == "")
        #expect(read.fields["latin"] == "Größe" && read.fields["x-mark"] == "\u{301}a")
        for name in ["x-break", "a", "b"] { #expect(read.fields[name] == nil) }
        #expect(read.fields["c"] == "3")
    }

    @Test(
        "RFC 9111 section 3.1: fields of the connection, fields that Connection names, and cookies are not stored"
    )
    func unkept() throws {
        let response = try response([
            "Set-Cookie": "secret", "connection": "close, A", "Transfer-Encoding": "chunked",
            "Keep-Alive": "5",
            "Proxy-Connection": "x", "a": "1", "Age": "7", "Date": HTTPDate.format(date),
        ])
        #expect(response.fields.fields.map(\.name) == ["Age", "Date"])
    }

    @Test("RFC 9111 section 5.2.2.4: fields that no-cache names are not stored")
    func namedByNoCache() throws {
        let response = try response([
            "Cache-Control": "no-cache=\"a, b\", max-age=9", "A": "1", "B": "2", "C": "3",
        ])
        #expect(response.fields["a"] == nil && response.fields["b"] == nil && response.fields["c"] == "3")
        #expect(response.isFresh(at: date))
    }

    @Test("RFC 9110 section 6.6.1: an answer without a Date gets the time of its arrival")
    func missingDate() throws {
        #expect(try response([:]).fields["date"] == HTTPDate.format(date))
    }

    @Test(
        "malformed bytes are not a response",
        arguments: [
            "", "\n", "200", "200 x 0 0 https://a\n", "x 1 0 0 https://a\n", "200 1 https://a\n",
            "200 1 0 0 https://a",
            "200 1 0 0 https://a\n< vary\n", "200 1 0 0 https://a\n< other a b\n",
            "200 1 0 0 https://a\nA: b",
        ])
    func malformed(text: String) {
        #expect(StoredResponse(decoding: Array(text.utf8)) == nil)
    }

    @Test("RFC 9111 section 3.2: the fields of a 304 replace the old ones, and other fields stay")
    func update() throws {
        let stored = try response([
            "A": "1", "B": "1", "B": "2", "Content-Length": "5", "Age": "30", "Cache-Control": "max-age=1",
            "Date": HTTPDate.format(date - 100),
        ])
        let head = stored.confirmed(
            by: ResponseHead(
                status: 304,
                fields: [
                    "b": "3", "B": "4", "Content-Length": "0", "Cache-Control": "max-age=3600",
                    "Content-Type": "x",
                ]))
        #expect(head.status == 200 && head.fields["a"] == "1" && head.fields.values(of: "b") == ["3", "4"])
        #expect(head.fields["content-length"] == "5" && head.fields["content-type"] == "x")
        #expect(head.fields["age"] == nil && head.fields["date"] == nil)
        let updated = StoredResponse(head, address: address, received: date + 50)
        #expect(updated.lifetime == 3600 && updated.age(at: date + 50) == 0)
    }

    @Test("RFC 9111 section 4.2: a response is fresh no longer than the redirects before it")
    func redirects() throws {
        let head = ResponseHead(status: 200, fields: ["Cache-Control": "max-age=1000"])
        func seconds(_ steps: [RedirectStep]) throws -> Int {
            StoredResponse(head, address: address, received: date, redirects: steps).lifetime
        }
        #expect(try seconds([step(302, "max-age=60")]) == 60)
        #expect(try seconds([step(301, "max-age=5000"), step(302, "max-age=60")]) == 60)
        #expect(try seconds([step(302, "")]) == 0)
        #expect(try seconds([step(301, "")]) == 1000)
        #expect(try seconds([step(308, "no-store")]) == 0)
    }

    @Test("permanent redirects before the first temporary one are stored while they are fresh")
    func moves() throws {
        func move(_ steps: RedirectStep...) throws -> StoredResponse.PermanentMove? {
            StoredResponse(ResponseHead(status: 200), address: address, received: date, redirects: steps)
                .moved
        }
        #expect(try move(step(301, "max-age=60"), step(308, "max-age=30"))?.until == date + 30)
        #expect(try move(step(301, ""))?.until == date + 86_400)
        #expect(try move(step(301, "max-age=60"), step(302, "max-age=60"))?.url == address)
        #expect(try move(step(302, "max-age=60"), step(301, "max-age=60")) == nil)
        #expect(try move(step(301, "no-store")) == nil && move() == nil)
    }

    private func step(_ status: Int, _ control: String) throws -> RedirectStep {
        let head = ResponseHead(status: status, fields: ["Cache-Control": control])
        return RedirectStep(head: head, target: try url(), received: date, delay: 0)
    }

    private func url() throws -> URL { try #require(URL(string: address)) }

    private func response(_ fields: HeaderFields) throws -> StoredResponse {
        StoredResponse(ResponseHead(status: 200, fields: fields), address: address, received: date)
    }
}
