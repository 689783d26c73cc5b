import Dispatch
import FilmSources
import Foundation
import LazyImages
import SystemSupport
import TestSupport
import TestTraits
import Testing

@testable import CatalogueService
@testable import HTTPServer

@Suite("Rendered answers that are kept", .bounded, .ownThread)
struct KeptAnswersTests {
    /// The address of an answer's bytes: two answers with one address share them.
    private func place(_ answer: FilmClient.Answer) -> UInt {
        unsafe answer.bytes.withUnsafeBytes { UInt(bitPattern: $0.baseAddress) }
    }

    private func fill(_ client: FilmClient, _ count: Int = 30) throws {
        for number in 1...count {
            let film = #"{"id":"film-\#(number)","title":"Film \#(number)","overview":"What happens in it."}"#
            #expect(try client.send("POST", "/films", film).status == 201)
        }
    }

    @Test(
        "an answer is rendered once, and again after a write",
        arguments: [
            "/films", "/films.xml", "/films.html", "/films/top3", "/films/film-1", "/films?q=film&limit=3",
        ])
    func once(target: String) throws {
        let client = try FilmClient()
        try fill(client)
        let first = try client.get(target)
        let second = try client.get(target)
        #expect(first.status == 200 && place(first) == place(second))
        #expect(try client.send("PUT", "/films/film-1", #"{"title":"Faust","year":1926}"#).status == 200)
        let third = try client.get(target)
        #expect(place(third) != place(first) && third["etag"] != first["etag"])
        #expect(third.text != first.text)
    }

    @Test("the next request sees what another program has written")
    func otherProgram() throws {
        let folder = try TemporaryFolder()
        let path = folder.file("films.db")
        let client = try FilmClient(library: FilmLibrary(path: path, access: .creating))
        try fill(client, 2)
        #expect(try client.get("/films").ids == ["film-1", "film-2"])
        let other = try FilmClient(library: FilmLibrary(path: path, access: .writing))
        for number in 3...20 {
            #expect(try other.send("PUT", "/films/film-\(number)", #"{"title":"A"}"#).status == 201)
            #expect(try client.get("/films").ids.last == "film-\(number)")
        }
    }

    @Test("requests for one answer wait for one rendering")
    func coalesced() throws {
        let answers = KeptAnswers(limit: 1 << 20)
        let (gate, delivered) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))
        let renderings = Lock(0)
        let state = try FilmLibrary(inMemoryFor: "test").state
        let head = try FilmClient.head("GET", "/a", [:], nil)
        for _ in 0..<20 {
            let pending = PendingAnswer { _ in delivered.signal() }
            answers.render(CacheKey(id: "a"), state, for: pending, head) {
                gate.wait()
                renderings.withLock { $0 += 1 }
                return KeptAnswer(HTTPResponse(status: .ok, body: .bytes([1])))
            }
        }
        gate.signal()
        for _ in 0..<20 { delivered.wait() }
        #expect(renderings.withLock { $0 } == 1)
        #expect(answers.answer(CacheKey(id: "a"), state) != nil)
    }

    @Test("text comes compressed to a client that takes gzip, with a tag of its own")
    func gzip() throws {
        let folder = try TemporaryFolder()
        let client = try FilmClient()
        try fill(client)
        for target in ["/films", "/films.xml", "/films.html", "/soap?wsdl"] {
            let plain = try client.get(target)
            let packed = try client.get(target, ["Accept-Encoding": "deflate, gzip;q=0.8, br"])
            #expect(plain["content-encoding"] == nil && packed["content-encoding"] == "gzip")
            #expect(packed["vary"]?.hasSuffix("Accept-Encoding") == true && plain["vary"] == packed["vary"])
            #expect(packed.bytes.count < plain.bytes.count / 2)
            let file = folder.file("packed.gz")
            try Data(packed.bytes).write(to: URL(filePath: file))
            #expect(Shell.output("gzip -dc '\(file)'") == plain.text, "\(target)")
            guard let tag = packed["etag"] else { continue }
            #expect(tag != plain["etag"])
            #expect(try client.get(target, ["Accept-Encoding": "gzip", "If-None-Match": tag]).status == 304)
            #expect(try client.get(target, ["If-None-Match": tag]).status == 200)
        }
        for accepted in ["identity", "gzip;q=0", "br", "*;q=0", "identity, gzip;q=0.5"] {
            #expect(
                try client.get("/films", ["Accept-Encoding": accepted])["content-encoding"] == nil,
                "\(accepted)")
        }
        // Short answers are not worth it. Their tag counts in writes all the same.
        let film = try client.get("/films/film-1", ["Accept-Encoding": "gzip"])
        let tag = try #require(film["etag"])
        #expect(film["content-encoding"] == nil)
        #expect(try client.send("PATCH", "/films/film-1", #"{"year":1926}"#, ["If-Match": tag]).status == 200)
        #expect(try client.send("PATCH", "/films/film-1", #"{"year":1927}"#, ["If-Match": tag]).status == 412)
    }
}
