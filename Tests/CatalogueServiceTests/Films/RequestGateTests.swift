import HTTPSemantics
import TestTraits
import Testing

@testable import CatalogueService
import PictureServer
@testable import HTTPServer

@Suite("Who may read and who may write", .bounded, .ownThread)
struct RequestGateTests {
    private let body = #"{"title":"A"}"#
    private let token = "0123456789abcdefghijklmn"
    private let far = Peer(address: "192.168.1.9", isLocal: false)
    private var writers: WriteAccess { WriteAccess([WriteAccess.Token(name: "laptop", value: token)]) }

    @Test(
        "a body that will be refused is refused before it is sent",
        arguments: [
            (["Content-Type": "application/json"], 411),
            (["Content-Type": "text/plain", "Content-Length": "9"], 415),
            (["Content-Type": "application/json", "Content-Encoding": "gzip", "Content-Length": "9"], 415),
            (["Content-Type": MultipartBody.type, "Content-Length": "67108865"], 413),
            (["Accept": "image/png", "Content-Type": "application/json", "Content-Length": "9"], 406),
        ] as [(HeaderFields, Int)])
    func bodies(fields: HeaderFields, status: Int) throws {
        let answer = try FilmClient().send("POST", "/films", fields)
        #expect(answer.isEarly && answer.status == status)
    }

    @Test("only this service's hosts are served")
    func hosts() throws {
        let client = try FilmClient {
            $0.listeningHosts = ["127.0.0.1", "192.168.1.5"]
            $0.publicAddresses = [PublicAddress("https://films.example.org")].compactMap { $0 }
        }
        for host in [
            "localhost", "LOCALHOST:99", "127.0.0.1:8080", "[::1]:80", "192.168.1.5", "films.example.org",
            "Films.Example.Org.:443",
        ] {
            #expect(try client.get("/films", ["Host": host]).status == 200, "\(host)")
        }
        for host in ["films.example.org.evil.example", "127.0.0.1.evil.example", "192.168.1.6", "nas"] {
            let answer = try client.get("/films", ["Host": host])
            #expect(answer.status == 403 && answer.isEarly, "\(host)")
        }
    }

    @Test("a service on all interfaces serves addresses and no names, against DNS rebinding")
    func everywhere() throws {
        let client = try FilmClient { $0.listeningHosts = ["0.0.0.0"] }
        #expect(try client.get("/films", ["Host": "192.168.1.5:8080"]).status == 200)
        #expect(try client.get("/films", ["Host": "[fe80::1]:8080"]).status == 200)
        #expect(try client.get("/films", ["Host": "nas:8080"]).status == 403)
    }

    @Test("pages of other sites may not write")
    func crossSite() throws {
        let client = try FilmClient {
            $0.publicAddresses = [PublicAddress("http://localhost:9000/films/")].compactMap { $0 }
        }
        func status(_ fields: HeaderFields) throws -> Int {
            try client.send("POST", "/films", body, fields).status
        }
        for fields in [
            ["Origin": "http://127.0.0.1:8080"], ["Origin": "http://localhost:9000"],
            ["Sec-Fetch-Site": "same-origin"],
            ["Sec-Fetch-Site": "none"],
        ] as [HeaderFields] {
            #expect(try status(fields) == 201, "\(fields)")
        }
        for fields in [
            ["Origin": "http://evil.example"], ["Origin": "null"], ["Origin": "http://127.0.0.1:3000"],
            ["Origin": "nonsense"],
            ["Origin": "https://127.0.0.1"], ["Sec-Fetch-Site": "cross-site"],
            ["Sec-Fetch-Site": "same-site"],
            ["Sec-Fetch-Site": "nonsense"],
        ] as [HeaderFields] {
            let answer = try client.send("POST", "/films", body, fields)
            #expect(answer.status == 403 && answer.isEarly, "\(fields)")
        }
        #expect(try client.get("/films", ["Origin": "http://evil.example"]).status == 200)
    }

    @Test("a page over http may not write to a service whose public address is https")
    func plainPage() throws {
        let client = try FilmClient {
            $0.publicAddresses = [PublicAddress("https://films.example.org")].compactMap { $0 }
        }
        for (origin, host, status) in [
            ("https://films.example.org", "films.example.org", 201),
            ("http://films.example.org", "films.example.org", 403),
            ("http://films.example.org:8080", "films.example.org:8080", 201),
            ("https://films.example.org", "127.0.0.1:8080", 201),
        ] {
            let fields: HeaderFields = [
                "Host": host, "Origin": origin, "Content-Type": "application/json",
            ]
            let answer = try client.send("POST", "/films", fields, body: Array(body.utf8))
            #expect(answer.status == status, "\(origin) at \(host)")
        }
    }

    @Test("a write needs a token, from this machine too, because every proxy is on this machine")
    func tokens() throws {
        let client = try FilmClient { $0.writers = writers }
        for peer in [FilmClient.local, far, Peer(address: nil, isLocal: true)] {
            func send(_ fields: HeaderFields) throws -> FilmClient.Answer {
                var fields = fields
                fields["Content-Type"] = "application/json"
                return try client.send("POST", "/films", fields, body: Array(body.utf8), peer: peer)
            }
            let missing = try send([:])
            #expect(
                missing.status == 401 && missing.isEarly
                    && missing["www-authenticate"] == "Bearer realm=\"films\"")
            let wrong = try send(["Authorization": "Bearer \(token)x"])
            #expect(wrong.status == 401 && wrong["www-authenticate"]?.contains("invalid_token") == true)
            #expect(try send(["Authorization": "Bearer \(token)"]).status == 201)
            #expect(try client.get("/films").status == 200)
        }
        #expect(try FilmClient { $0.writers = WriteAccess() }.send("POST", "/films", body).status == 401)
    }

    @Test("a service that trusts this machine takes its writes, and none from another")
    func trustLocal() throws {
        let client = try FilmClient()
        let fields: HeaderFields = ["Content-Type": "application/json"]
        #expect(try client.send("POST", "/films", fields, body: Array(body.utf8), peer: far).status == 401)
        #expect(try client.send("POST", "/films", fields, body: Array(body.utf8)).status == 201)
    }

    @Test("exchanged tokens count at once, and a removed token ends with its sessions")
    func exchange() throws {
        let client = try FilmClient { $0.writers = writers }
        func write(_ fields: HeaderFields) throws -> Int {
            try client.send("POST", "/films", body, fields).status
        }
        let login = try client.get("/login?token=\(token)")
        let cookie = try #require(login["set-cookie"]?.split(separator: ";").first)
        #expect(try write(["Cookie": String(cookie)]) == 201)
        let change = client.service.configuration.writers.replaceTokens(
            with: [WriteAccess.Token(name: "phone", value: token + "2")])
        #expect(change == (1, 1))
        #expect(try write(["Cookie": String(cookie)]) == 401)
        #expect(try write(["Authorization": "Bearer \(token)"]) == 401)
        #expect(try write(["Authorization": "Bearer \(token)2"]) == 201)
    }

    @Test("without a token a SOAP message is limited in size, since it can only read")
    func shortMessages() throws {
        let client = try FilmClient { $0.writers = writers }
        for (authorization, limit) in [(nil, 64 << 10), ("Bearer \(token)", 1 << 20)] {
            var fields: HeaderFields = ["Content-Type": "text/xml"]
            fields["Authorization"] = authorization
            let head = try FilmClient.head("POST", "/soap", fields, [1])
            guard case .handle(limit, _) = client.service.admit(head, from: FilmClient.local) else {
                Issue.record("\(limit)")
                continue
            }
        }
    }

    @Test("a file of tokens has one per line, and none that can be guessed")
    func tokenFile() throws {
        #expect(
            try TokenFile.tokens(in: Array("# old\n\n\(token)\r\n# laptop\n \(token)2\n".utf8)) == [
                WriteAccess.Token(name: "token 1", value: token),
                WriteAccess.Token(name: "laptop", value: token + "2"),
            ])
        for (bytes, reason) in [
            (Array("# none\n".utf8), "no token; write one on a line"), ([], "no token; "),
            (Array("\(token)\nshort\n".utf8), "line 2: a token has at least 22 characters"),
            (Array("\(token) x".utf8), "line 1: a token has only letters, digits and "),
            ([0xFF], "the file is not text in UTF-8"),
        ] {
            let fault = #expect(throws: ListFile.Fault.self) { try TokenFile.tokens(in: bytes) }
            #expect(fault?.description.hasPrefix(reason) == true)
        }
    }
}
