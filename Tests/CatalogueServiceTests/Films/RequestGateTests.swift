import HTTPSemantics
import TestTraits
import Testing

@testable import CatalogueService
@testable import HTTPServer

@Suite("Who may read and who may write", .bounded)
struct RequestGateTests {
    private let body = #"{"title":"A"}"#
    private let token = "0123456789abcdefghijklmn"
    private let far = Peer(address: "192.168.1.9", isLocal: false)
    private var writers: WriteAccess { WriteAccess([WriteAccess.Token(name: "laptop", value: token)]) }

    @Test("a read-only service accepts only methods that read")
    func readOnly() throws {
        let client = try FilmClient { $0.isWritable = false }
        for (method, target) in [
            ("POST", "/films"), ("PUT", "/films/a"), ("PATCH", "/films/a"), ("DELETE", "/films/a"),
            ("PUT", "/films/a/poster"),
            ("PUT", "/films/a/ratings/b"), ("TRACE", "/films"), ("get", "/films"),
        ] {
            let answer = try client.send(method, target, body)
            #expect(
                answer.status == 405 && answer.isEarly && answer["allow"] == "GET, HEAD, OPTIONS", "\(method)"
            )
        }
        #expect(try client.get("/films").status == 200)
    }

    @Test("OPTIONS names the methods of a route")
    func options() throws {
        let client = try FilmClient()
        let films = try client.send("OPTIONS", "/films")
        #expect(
            films.status == 204 && films["allow"] == "GET, HEAD, OPTIONS, POST" && films["accept-post"] != nil
        )
        let film = try client.send("OPTIONS", "/films/a")
        #expect(film["allow"] == "GET, HEAD, OPTIONS, PUT, PATCH, DELETE")
        #expect(film["accept-patch"]?.hasPrefix("application/merge-patch+json") == true)
        #expect(try client.send("OPTIONS", "*")["allow"] == "GET, HEAD, OPTIONS")
        #expect(try client.send("OPTIONS", "/films/top3")["allow"] == "GET, HEAD, OPTIONS")
        // The service also answers a request that another handler of the server admitted.
        let head = try FilmClient.head("OPTIONS", "/films", [:], nil)
        let handled = client.service.respond(to: HTTPRequest(head: head, peer: FilmClient.local))
        #expect(handled.status == .noContent)
        for field in films.response.fields.fields {
            #expect(!field.name.lowercased().hasPrefix("access-control"))
        }
    }

    @Test("a body that will be refused is refused before it is sent")
    func bodies() throws {
        let client = try FilmClient()
        func early(_ method: String, _ target: String, _ fields: HeaderFields) throws -> FilmClient.Answer {
            let answer = try client.send(method, target, fields)
            #expect(answer.isEarly)
            return answer
        }
        #expect(try early("POST", "/films", ["Content-Type": "application/json"]).status == 411)
        let unsupported = try early("POST", "/films", ["Content-Type": "text/plain", "Content-Length": "9"])
        #expect(unsupported.status == 415 && unsupported["accept-post"] == FilmContent.mediaTypes)
        #expect(try early("POST", "/films", ["Content-Length": "9"]).status == 415)
        #expect(
            try early("PATCH", "/films/a", ["Content-Type": "text/csv", "Content-Length": "9"])[
                "accept-patch"] != nil)
        #expect(
            try early("PUT", "/films/a", ["Content-Type": "text/csv", "Content-Length": "9"])["accept"] != nil
        )
        #expect(
            try early(
                "PUT", "/films/a", ["Content-Type": "application/merge-patch+json", "Content-Length": "9"]
            ).status == 415)
        #expect(
            try early(
                "POST", "/films", ["Content-Type": "application/json;charset=utf-16", "Content-Length": "9"]
            ).status == 415)
        let coded = try early(
            "POST", "/films",
            ["Content-Type": "application/json", "Content-Encoding": "gzip", "Content-Length": "9"])
        #expect(coded.status == 415 && coded["accept-encoding"] == "identity")
        #expect(
            try early("POST", "/films", ["Content-Type": "application/json", "Content-Length": "67108865"])
                .status == 413)
        #expect(
            try early("POST", "/films", ["Content-Type": MultipartBody.type, "Content-Length": "67108865"])
                .status == 413)
        #expect(
            try early(
                "POST", "/films",
                ["Accept": "image/png", "Content-Type": "application/json", "Content-Length": "9"]
            ).status == 406)
    }

    @Test("only this service's hosts are served, for every target")
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
        for host in [
            "evil.example", "192.168.1.6", "films.example.org.evil.example", "127.0.0.1.evil.example", "nas",
        ] {
            for target in ["/films", "/nowhere", "/films/a"] {
                let answer = try client.get(target, ["Host": host])
                #expect(answer.status == 403 && answer.isEarly, "\(host)")
            }
        }
        #expect(try client.get("/films", ["Host": "a b"]).status == 400)
        #expect(try client.get("http://evil.example/films").status == 403)
        #expect(try client.get("http://localhost:8080/films").status == 200)
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

    @Test("a service that trusts this machine takes its writes, and nothing that a proxy forwarded")
    func trustLocal() throws {
        let client = try FilmClient()
        let fields: HeaderFields = ["Content-Type": "application/json"]
        #expect(try client.send("POST", "/films", fields, body: Array(body.utf8), peer: far).status == 401)
        #expect(try client.send("POST", "/films", fields, body: Array(body.utf8)).status == 201)
        for (name, value) in [
            ("Forwarded", "for=192.0.2.1"), ("X-Forwarded-For", "192.0.2.1"), ("x-forwarded-proto", "https"),
            ("X-Real-IP", "192.0.2.1"), ("Via", "1.1 proxy"),
        ] {
            var forwarded = fields
            forwarded[name] = value
            let write = try client.send("POST", "/films", forwarded, body: Array(body.utf8))
            #expect(write.status == 403 && write.text.contains("--trust-local"), "\(name)")
            #expect(try client.get("/films", [name: value]).status == 403, "\(name)")
            // With tokens, proxies are welcome.
            #expect(try FilmClient { $0.writers = writers }.get("/films", [name: value]).status == 200)
        }
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
            guard case .handle(limit) = client.service.admit(head, from: FilmClient.local) else {
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
        for (text, failure) in [
            ("# none\n", .empty), ("", .empty), ("\(token)\nshort\n", .tooShort(line: 2)),
            ("\(token) x", .malformed(line: 1)),
        ] as [(String, TokenFile.Failure)] {
            #expect(throws: failure) { try TokenFile.tokens(in: Array(text.utf8)) }
        }
        #expect(throws: TokenFile.Failure.notUTF8) { try TokenFile.tokens(in: [0xFF]) }
    }

    @Test("a malformed target is 400")
    func badTargets() throws {
        for target in [
            "/films/%", "/films/a%2Fb", "/films/%00", "ftp://localhost/films", "films", "/films/%ff",
        ] {
            #expect(try FilmClient().get(target).status == 400, "\(target)")
        }
    }
}
