import HTTPSemantics
import HTTPServer
import TestTraits
import Testing

@testable import CatalogueService

@Suite("Who may read and who may write", .bounded)
struct RequestGateTests {
    private let body = #"{"title":"A"}"#
    private let token = "0123456789abcdefghijklmn"

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
        func early(_ method: String, _ target: String, _ fields: HTTPFields) throws -> FilmClient.Answer {
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
            $0.publicOrigins = [WebOrigin("https://films.example.org")].compactMap { $0 }
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
            $0.publicOrigins = [WebOrigin("http://localhost:9000")].compactMap { $0 }
        }
        func status(_ fields: HTTPFields) throws -> Int {
            try client.send("POST", "/films", body, fields).status
        }
        for fields in [
            ["Origin": "http://127.0.0.1:8080"], ["Origin": "http://localhost:9000"],
            ["Sec-Fetch-Site": "same-origin"],
            ["Sec-Fetch-Site": "none"],
        ] as [HTTPFields] {
            #expect(try status(fields) == 201, "\(fields)")
        }
        for fields in [
            ["Origin": "http://evil.example"], ["Origin": "null"], ["Origin": "http://127.0.0.1:3000"],
            ["Origin": "nonsense"],
            ["Origin": "https://127.0.0.1"], ["Sec-Fetch-Site": "cross-site"],
            ["Sec-Fetch-Site": "same-site"],
            ["Sec-Fetch-Site": "nonsense"],
        ] as [HTTPFields] {
            let answer = try client.send("POST", "/films", body, fields)
            #expect(answer.status == 403 && answer.isEarly, "\(fields)")
        }
        #expect(try client.get("/films", ["Origin": "http://evil.example"]).status == 200)
    }

    @Test("from another machine a write needs a token, in any of three ways")
    func tokens() throws {
        let token = token
        let far = Peer(address: "192.168.1.9", isLocal: false)
        for configure in [
            { $0.tokens = [token] }, { ($0.tokens, $0.listeningHosts) = ([token], ["0.0.0.0"]) },
            {
                ($0.tokens, $0.publicOrigins) = (
                    [token], [WebOrigin("https://films.example.org")].compactMap { $0 }
                )
            },
        ] as [(inout FilmServiceConfiguration) -> Void] {
            let client = try FilmClient(configure: configure)
            let missing = try client.send("POST", "/films", body)
            #expect(
                missing.status == 401 && missing.isEarly
                    && missing["www-authenticate"] == "Bearer realm=\"films\"")
            let wrong = try client.send("POST", "/films", body, ["Authorization": "Bearer \(token)x"])
            #expect(wrong.status == 401 && wrong["www-authenticate"]?.contains("invalid_token") == true)
            #expect(
                try client.send("POST", "/films", body, ["Authorization": "Bearer \(token)"]).status == 201)
            #expect(try client.get("/films").status == 200)
        }
        let open = try FilmClient()
        let fields: HTTPFields = ["Content-Type": "application/json"]
        #expect(try open.send("POST", "/films", fields, body: Array(body.utf8), peer: far).status == 401)
        #expect(try open.send("POST", "/films", fields, body: Array(body.utf8)).status == 201)
    }

    @Test("without a token a SOAP message is limited in size, since it can only read")
    func shortMessages() throws {
        let client = try FilmClient { $0.tokens = [token] }
        for (authorization, limit) in [(nil, 64 << 10), ("Bearer \(token)", 1 << 20)] {
            var fields: HTTPFields = ["Content-Type": "text/xml"]
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
            try TokenFile.tokens(in: Array("# laptop\n\n \(token)\r\n\(token)2\n".utf8)) == [
                token, token + "2",
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
