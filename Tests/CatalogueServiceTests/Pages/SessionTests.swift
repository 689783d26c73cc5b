import FilmSources
import Films
import Foundation
import HTTPSemantics
import LazyImages
import TestSupport
import TestTraits
import Testing

@testable import CatalogueService
@testable import HTTPServer

/// Sessions of browsers at instances that share a library and a file of tokens. Each instance has the library open for
/// itself, as programs do.
@Suite("Sessions of browsers", .bounded, .ownThread)
struct SessionTests {
    private static let token = "0123456789abcdefghijklmn"
    private static let hour = 3600
    private let folder: TemporaryFolder
    private let path: String
    /// The time at all instances.
    private let now = Shared(1_790_000_000)

    init() throws {
        folder = try TemporaryFolder()
        path = folder.file("films.db")
        let library = try FilmLibrary(path: path, access: .creating)
        _ = try library.insert(FilmDocument(json: JSONText(parsing: Array(#"{"title":"A"}"#.utf8))), id: "a")
    }

    /// An instance that has just started.
    /// - Parameter skew: how many seconds its clock is ahead.
    private func instance(skew: Int = 0) throws -> FilmClient {
        try FilmClient(library: FilmLibrary(path: path, access: .writing)) {
            $0.writers = WriteAccess(
                [WriteAccess.Token(name: "laptop", value: Self.token)],
                clock: WallClock { [now] in now.value + skew })
        }
    }

    /// The cookie that an answer sets.
    private func cookie(_ answer: FilmClient.Answer) -> String? {
        answer["set-cookie"].flatMap { $0.split(separator: ";").first }.map(String.init)
    }

    private func signIn(_ instance: FilmClient) throws -> String {
        try #require(cookie(try instance.get("/login?token=\(Self.token)")))
    }

    private func signOut(_ instance: FilmClient, _ cookie: String) throws -> FilmClient.Answer {
        try instance.send(
            "POST", "/login", "out=1", type: "application/x-www-form-urlencoded", ["Cookie": cookie])
    }

    /// The status of a write.
    private func write(_ instance: FilmClient, _ cookie: String) throws -> Int {
        try instance.send("PUT", "/films/a/ratings/me", #"{"value":8}"#, ["Cookie": cookie]).status
    }

    private func page(_ instance: FilmClient, _ cookie: String) throws -> FilmClient.Answer {
        try instance.get("/films/a", ["Accept": "text/html", "Cookie": cookie])
    }

    @Test("each instance with the token takes the cookie of another, and so does a restarted one")
    func otherInstances() throws {
        let first = try instance()
        let cookie = try signIn(first)
        #expect(try write(first, cookie) == 201)
        #expect(try write(instance(), cookie) == 200)
        #expect(try page(instance(), cookie).text.contains("Sign out"))
        let other = try FilmClient(library: FilmLibrary(path: path, access: .writing)) {
            $0.writers = WriteAccess([WriteAccess.Token(name: "laptop", value: Self.token + "2")])
        }
        #expect(try write(other, cookie) == 401)
    }

    @Test("after signing out the cookie writes at no instance, and not after a restart")
    func signOut() throws {
        let (first, second) = (try instance(), try instance())
        let (cookie, another) = (try signIn(first), try signIn(first))
        #expect(try write(second, cookie) == 201)
        let answer = try signOut(first, cookie)
        #expect(answer.status == 303 && answer["set-cookie"]?.contains("Max-Age=0") == true)
        for instance in [first, second, try instance()] {
            #expect(try write(instance, cookie) == 401)
            #expect(try page(instance, cookie).text.contains("Sign out") == false)
            #expect(try write(instance, another) == 200)
        }
    }

    @Test("a session ends twelve hours after its cookie was made, and a page renews the cookie before")
    func renewal() throws {
        let instance = try instance()
        let first = try signIn(instance)
        #expect(cookie(try page(instance, first)) == nil)
        now.change { $0 += 3 * Self.hour + 1 }
        let second = try #require(cookie(try page(instance, first)))
        #expect(second != first)
        // Caches share other answers, and a page that is kept in memory goes to others too.
        for target in ["/films/a", "/films/a/poster", "/films/style/icon.svg"] {
            #expect(try instance.get(target, ["Cookie": first])["set-cookie"] == nil, "\(target)")
        }
        #expect(cookie(try page(instance, second)) == nil)
        now.change { $0 += 9 * Self.hour - 1 }
        #expect(try write(instance, first) == 401)
        #expect(try write(instance, second) == 201)
        let third = try #require(cookie(try page(instance, second)))
        #expect(try signOut(instance, third).status == 303)
        // The sign-out ends the whole session.
        #expect(try write(instance, second) == 401)
    }

    @Test("clocks of instances may differ by minutes, and a cookie of the far future is not valid")
    func clocks() throws {
        let instance = try instance()
        #expect(try write(instance, try signIn(self.instance(skew: 240))) == 201)
        #expect(try write(instance, try signIn(self.instance(skew: 600))) == 401)
    }

    @Test("only the sign-out of a valid session is stored")
    func strangers() throws {
        let instance = try instance()
        let cookie = try signIn(instance)
        let stored = instance.library.writeCounts.stored
        let name = try #require(cookie.split(separator: "=").first)
        for stranger in ["\(name)=a.1790000000.b", "\(name)=", cookie + "x", "a=b"] {
            #expect(try signOut(instance, stranger).status == 303)
        }
        #expect(instance.library.writeCounts.stored == stored)
        for _ in 0..<2 { #expect(try signOut(instance, cookie).status == 303) }
        #expect(instance.library.writeCounts.stored == stored + 1)
    }

    @Test("a sign-out that cannot be stored says so, and removes the cookie from the browser")
    func failedSignOut() throws {
        let instance = try instance()
        let cookie = try signIn(instance)
        try FileManager.default.moveItem(atPath: path, toPath: path + ".old")
        let answer = try signOut(instance, cookie)
        #expect(answer.status == 503 && answer["set-cookie"]?.contains("Max-Age=0") == true)
    }

    @Test(
        "an address with the token signs nobody in from another site's page, which could be a stranger's token",
        arguments: ["cross-site", "same-site"])
    func otherSites(_ site: String) throws {
        let instance = try instance()
        let target = "/login?token=\(Self.token)&to=add"
        let asked = try instance.get(target, ["Accept": "text/html", "Sec-Fetch-Site": site])
        #expect(asked.status == 200 && asked["set-cookie"] == nil)
        #expect(asked.text.contains(#"value="add""#) && !asked.text.contains(Self.token))
        for own in ["none", "same-origin"] {
            let answer = try instance.get(target, ["Accept": "text/html", "Sec-Fetch-Site": own])
            #expect(answer.status == 303 && answer["set-cookie"] != nil)
        }
    }

    @Test("each refused token is reported once, in a field or a form, and no accepted one")
    func refusals() throws {
        let peers = Shared<[String]>([])
        let client = try FilmClient {
            $0.writers = WriteAccess([WriteAccess.Token(name: "laptop", value: Self.token)])
            $0.reportRefusedToken = { [peers] _, peer in peers.change { $0.append(peer.address ?? "") } }
        }
        let wrong = Self.token + "x"
        let film = #"{"title":"A"}"#
        func count(_ body: () throws -> Int) rethrows -> (status: Int, reports: Int) {
            let before = peers.value.count
            return (try body(), peers.value.count - before)
        }
        for token in [wrong, Self.token] {
            let expected = token == wrong ? 1 : 0
            let field: HeaderFields = ["Authorization": "Bearer \(token)", "Accept": "text/html"]
            let form = "application/x-www-form-urlencoded"
            let soap =
                #"<Envelope xmlns="http://schemas.xmlsoap.org/soap/envelope/"><Body><Top3AsXml xmlns="x"/></Body></Envelope>"#
            // A page shows whether a token is right.
            #expect(try count { try client.get("/films", field).status }.reports == expected)
            #expect(try count { try client.get("/login?token=\(token)").status }.reports == expected)
            #expect(
                try count { try client.send("POST", "/login", "token=\(token)", type: form).status }.reports
                    == expected)
            #expect(
                try count {
                    try client.send(
                        "POST", "/films", film, ["Authorization": "Bearer \(token)"]
                    ).status
                }.reports == expected)
            #expect(
                try count {
                    try client.send("POST", "/soap", soap, type: "text/xml", field).status
                }.reports == expected)
        }
        #expect(peers.value == Array(repeating: "127.0.0.1", count: 5))
        #expect(try count { try client.send("POST", "/films", film).status } == (401, 0))
    }
}
