import Dispatch
import FilmSources
import Foundation
import SystemSupport
import TestSupport
import TestTraits
import Testing

@testable import CatalogueService

@Suite("A film service under load", .bounded, .ownThread)
struct FilmServiceTests {
    @Test(
        "each failure of the library has its own status, reveals nothing about this machine, and names a failed request",
        arguments: [
            (.busy(path: "/secret"), 503), (.full(path: "/secret"), 507), (.readOnly(path: "/secret"), 403),
            (.corrupt(path: "/secret", reason: "/secret"), 500),
            (.system(path: "/secret", reason: "/secret"), 500),
            (.invalidID(id: "/", fault: "without /"), 422),
        ] as [(FilmLibraryError, Int)])
    func failures(error: FilmLibraryError, status: Int) throws {
        for format in FilmFormat.allCases {
            let head = try FilmClient.head("GET", "/films.\(format.rawValue)", [:], nil)
            let response = FilmRefusal(FilmError(error), request: "5f1c2a").response(to: head)
            #expect(response.status.rawValue == status)
            #expect((response.fields["retry-after"] != nil) == (status == 503))
            guard case .bytes(let bytes) = response.body else { return }
            let text = String(decoding: bytes, as: UTF8.self)
            #expect(!text.contains("secret"))
            #expect(text.contains("(request 5f1c2a)") == (status == 500))
        }
    }

    @Test("concurrent edits are neither lost nor doubled")
    func edits() throws {
        let folder = try TemporaryFolder()
        let client = try FilmClient(
            library: try FilmLibrary(path: folder.file("films.db"), access: .creating))
        #expect(try client.send("POST", "/films", #"{"id":"a","title":"A","count":0}"#).status == 201)
        let failures = Lock(0)
        let editors = DispatchGroup()
        for _ in 0..<8 {
            editors.enter()
            Thread.detachNewThread {
                defer { editors.leave() }
                for _ in 0..<25 {
                    do { try Self.addOne(client) } catch { failures.withLock { $0 += 1 } }
                }
            }
        }
        editors.wait()
        #expect(failures.withLock { $0 } == 0)
        #expect(try client.get("/films/a").film["count"]?.text == "200")
    }

    private static func addOne(_ client: FilmClient) throws {
        while true {
            let answer = try client.get("/films/a")
            let tag = try #require(answer["etag"])
            let count = Int(try answer.film["count"]?.number ?? -1)
            let patch = "{\"count\":\(count + 1)}"
            if try client.send("PATCH", "/films/a", patch, ["If-Match": tag]).status == 200 { return }
        }
    }

    @Test("no changed body traps")
    func fuzz() throws {
        let multipart = MultipartBody([("film[title]", "El Camión")], poster: SampleImages.png)
        let bodies: [(String, [UInt8])] = [
            (
                "application/json",
                Array(
                    #"{"film":{"title":"El \u0043\ud83c\udfac","year":1.922e3,"genres":["a",null,{"b":[]}]}}"#
                        .utf8)
            ),
            (
                "application/xml",
                Array(
                    "<catalogue><movie id='a'><title>T &amp; <![CDATA[x]]></title><x y='1'><z/></x></movie></catalogue>"
                        .utf8)
            ),
            (
                "application/x-www-form-urlencoded",
                Array("film[title]=El+Cami%C3%B3n&film[genres][]=Crime&film[year]=2019".utf8)
            ),
            (MultipartBody.type, multipart.bytes),
        ]
        let client = try FilmClient()
        var numbers = SeededNumbers(seed: 13)
        for (type, body) in bodies {
            for _ in 0..<Rounds.count(100, many: 1000) {
                var changed = body
                for _ in 0..<Int.random(in: 1...3, using: &numbers) where !changed.isEmpty {
                    let index = Int.random(in: 0..<changed.count, using: &numbers)
                    switch Int.random(in: 0..<3, using: &numbers) {
                    case 0: changed[index] = UInt8.random(in: 0...255, using: &numbers)
                    case 1: changed.remove(at: index)
                    default: changed = Array(changed[..<max(1, index)])
                    }
                }
                for (method, target) in [("POST", "/films"), ("PUT", "/films/a"), ("PATCH", "/films/a")] {
                    let status = try client.send(method, target, ["Content-Type": type], body: changed).status
                    #expect([200, 201, 400, 404, 409, 413, 422].contains(status), "\(method) \(changed)")
                }
                // The film that the last two may have changed. It is absent until one of them has stored it.
                #expect([200, 404].contains(try client.get("/films/a.xml").status), "\(changed)")
            }
            #expect(try client.get("/films.xml").status == 200)
        }
    }
}
