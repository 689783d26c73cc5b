import HTTPSemantics
import HTTPServer
import Films
import ImageCodecs
import PictureServer
import PictureService
import ServiceOperations
import TestSupport
import TestTraits
import Testing

@testable import CatalogueService
@testable import FilmSources

/// What each role may do, over real connections.
@Suite("Roles and private services", .bounded, .ownThread)
struct RoleTests {
    /// A service with a token for each role.
    private final class Roles {
        let service: CatalogueService
        private let libraries = Shared<TemporaryFolder?>(nil)

        init(isWritable: Bool = true, isPrivate: Bool, folder: String? = nil) throws {
            var configuration = CatalogueService.Configuration()
            configuration.films.isWritable = isWritable && folder == nil
            configuration.films.isPrivate = isPrivate
            configuration.films.writers = WriteAccess(
                Role.allCases.map { .init(name: "the \($0)", value: RoleTests.token($0), role: $0) })
            configuration.films.operations = AdminHandler(metrics: Metrics(), readiness: Readiness()) { _ in
                true
            }
            configuration.pictures = PictureServer.Configuration(
                rules: try PictureRules(keys: try SigningKeys(RoleTests.keys)))
            if let folder {
                service = try CatalogueService(.folder(path: folder), configuration: configuration)
            } else {
                let temporary = try TemporaryFolder()
                libraries.change { $0 = temporary }
                let path = temporary.file("films.db")
                let library = try FilmLibrary(path: path, access: .creating)
                _ = try library.insert(
                    try FilmDocument(json: JSONText(parsing: Array(#"{"title":"F"}"#.utf8))), id: "f",
                    poster: PosterBytes(mediaType: "image/png", bytes: RoleTests.png))
                service = try CatalogueService(.library(path: path), configuration: configuration)
            }
            try service.start()
        }

        deinit { service.stop() }

        func answer(
            _ method: String, _ target: String, as role: Role?, _ more: HeaderFields = [:], body: String = ""
        ) throws -> RawClient.Answer {
            var lines = ["\(method) \(target) HTTP/1.1", "Host: localhost", "Connection: close"]
            if let role { lines.append("Authorization: Bearer \(RoleTests.token(role))") }
            for field in more.fields { lines.append("\(field.name): \(field.value)") }
            if !body.isEmpty { lines.append("Content-Length: \(body.utf8.count)") }
            let client = try RawClient(port: service.port, owner: self)
            client.send(lines.joined(separator: "\r\n") + "\r\n\r\n" + body)
            return try client.answer(hasBody: method != "HEAD")
        }
    }

    private static let keys = Array("k \(String(repeating: "0b", count: 32))".utf8)
    private static let png =
        (try? Bitmap(
            width: 2, height: 2, pixels: [UInt8](repeating: 200, count: 16)
        ).encoded(quality: nil).0) ?? []

    private static func token(_ role: Role) -> String { "token-of-the-role-\(role)-abcdefgh" }

    /// A request, and what it gives a stranger and each role: of a writable library, and of a private one.
    private static let table:
        [(method: String, target: String, type: String, body: String, open: [Int], closed: [Int])] = [
            ("GET", "/films", "", "", [200, 200, 200, 200, 200], [401, 200, 200, 200, 200]),
            ("HEAD", "/films/f", "", "", [200, 200, 200, 200, 200], [401, 200, 200, 200, 200]),
            ("GET", "/films/f/poster", "", "", [200, 200, 200, 200, 200], [401, 200, 200, 200, 200]),
            ("GET", "/films/f/poster/w92", "", "", [200, 200, 200, 200, 200], [401, 200, 200, 200, 200]),
            ("GET", "/openapi.json", "", "", [200, 200, 200, 200, 200], [401, 200, 200, 200, 200]),
            ("GET", "/soap?wsdl", "", "", [200, 200, 200, 200, 200], [401, 200, 200, 200, 200]),
            ("GET", "/films/style/icon.svg", "", "", [200, 200, 200, 200, 200], [200, 200, 200, 200, 200]),
            ("GET", "/login", "", "", [200, 303, 303, 303, 303], [200, 303, 303, 303, 303]),
            ("GET", "/nothing", "", "", [404, 404, 404, 404, 404], [401, 404, 404, 404, 404]),
            (
                "PUT", "/films/f/ratings/me", "application/json", #"{"value":5}"#,
                [401, 403, 201, 200, 200], [401, 403, 201, 200, 200]
            ),
            (
                "POST", "/films/f/rate", "application/x-www-form-urlencoded", "rater=you&value=5",
                [401, 403, 303, 303, 303], [401, 403, 303, 303, 303]
            ),
            (
                "DELETE", "/films/f/ratings/none", "", "", [401, 403, 404, 404, 404],
                [401, 403, 404, 404, 404]
            ),
            (
                "PATCH", "/films/f", "application/json", #"{"year":1922}"#,
                [401, 403, 403, 200, 200], [401, 403, 403, 200, 200]
            ),
            (
                "POST", "/films", "application/json", #"{"title":"New"}"#,
                [401, 403, 403, 201, 201], [401, 403, 403, 201, 201]
            ),
            ("DELETE", "/films/none", "", "", [401, 403, 403, 404, 404], [401, 403, 403, 404, 404]),
            ("DELETE", "/films/none/poster", "", "", [401, 403, 403, 404, 404], [401, 403, 403, 404, 404]),
            ("GET", "/add", "", "", [303, 403, 403, 200, 200], [401, 403, 403, 200, 200]),
            (
                "POST", "/soap", "text/xml",
                soap("<Rate xmlns=\"urn:marquee:films\"><id>f</id><rater>s</rater><value>5</value></Rate>"),
                [401, 403, 200, 200, 200], [401, 403, 200, 200, 200]
            ),
            (
                "POST", "/soap", "text/xml",
                soap("<Remove xmlns=\"urn:marquee:films\"><id>none</id></Remove>"),
                [401, 403, 403, 500, 500], [401, 403, 403, 500, 500]
            ),
            (
                "POST", "/soap", "text/xml", soap("<Film xmlns=\"urn:marquee:films\"><id>f</id></Film>"),
                [200, 200, 200, 200, 200], [401, 200, 200, 200, 200]
            ),
            ("GET", "/metrics", "", "", [401, 403, 403, 403, 200], [401, 403, 403, 403, 200]),
            ("DELETE", "/sources/YQ", "", "", [401, 403, 403, 403, 204], [401, 403, 403, 403, 204]),
        ]

    private static func soap(_ content: String) -> String {
        "<s:Envelope xmlns:s=\"http://schemas.xmlsoap.org/soap/envelope/\"><s:Body>\(content)</s:Body></s:Envelope>"
    }

    @Test("each role may do what it says and no more, in a library that all may read and in a private one")
    func cells() throws {
        for isPrivate in [false, true] {
            let roles = try Roles(isPrivate: isPrivate)
            for row in Self.table {
                let expected = isPrivate ? row.closed : row.open
                for (role, status) in zip([nil] + Role.allCases.map(Optional.some), expected) {
                    let fields: HeaderFields = row.type.isEmpty ? [:] : ["Content-Type": row.type]
                    let answer = try roles.answer(row.method, row.target, as: role, fields, body: row.body)
                    #expect(
                        answer.status == status,
                        "\(row.method) \(row.target) of \(role.map { "\($0)" } ?? "nobody"), private: \(isPrivate)"
                    )
                    if answer.status == 401 {
                        #expect(answer.fields["www-authenticate"]?.hasPrefix("Bearer realm=") == true)
                    }
                }
            }
        }
    }

    @Test(
        "no cache keeps an answer of a private service for others, but a signed picture and the pages' files")
    func caches() throws {
        let roles = try Roles(isPrivate: true)
        for target in [
            "/films", "/films/f", "/films/f.html", "/films/f/poster", "/films/f/poster/w92", "/films?q=F",
            "/openapi.json", "/soap?wsdl", "/nothing", "/films/f/poster/w93",
        ] {
            let control = try roles.answer("GET", target, as: .read).fields["cache-control"] ?? ""
            #expect(control.contains("private") || control.contains("no-store"), "\(target): \(control)")
            #expect(!control.contains("public"), "\(target): \(control)")
        }
        let style = try roles.answer("GET", "/films/style/icon.svg", as: nil)
        #expect(style.fields["cache-control"]?.hasPrefix("public") == true)
    }

    @Test("a private service is open to signed pictures, and to no others")
    func pictures() throws {
        let roles = try Roles(isPrivate: true)
        let source = try PictureSource("https://127.0.0.1:1/a.jpg")
        let signed = PictureAddress(
            try PictureRecipe("w92"), of: source, signedBy: try SigningKeys(Self.keys))
        let plain = PictureAddress(try PictureRecipe("w92"), of: source)
        // The rules refuse the port; a stranger without a signature does not get so far.
        #expect(try roles.answer("GET", signed.path, as: nil).status == 403)
        #expect(try roles.answer("GET", plain.path, as: nil).status == 401)
        #expect(try roles.answer("GET", plain.path, as: .read).status == 403)
    }

    @Test("a browser is asked to sign in, and comes back to the page with what its role allows")
    func browser() throws {
        let roles = try Roles(isPrivate: true)
        let asked = try roles.answer("GET", "/films/f", as: nil, ["Accept": "text/html"])
        #expect(asked.status == 303 && asked.fields["location"] == "../login?to=films%2Ff")
        for (role, offers) in [(Role.read, []), (.rate, ["Your vote"]), (.write, ["Your vote", "Edit"])] {
            let answer = try roles.answer(
                "POST", "/login", as: nil, ["Content-Type": "application/x-www-form-urlencoded"],
                body: "token=\(Self.token(role))&to=films/f")
            #expect(answer.status == 303 && answer.fields["location"] == "films/f")
            let cookie = String((answer.fields["set-cookie"] ?? "").prefix { $0 != ";" })
            let page = try roles.answer(
                "GET", "/films/f", as: nil, ["Accept": "text/html", "Cookie": cookie])
            #expect(page.status == 200 && page.text.contains("Sign out"))
            for offer in ["Your vote", "Edit"] {
                #expect(page.text.contains(">\(offer)<") == offers.contains(offer), "\(role): \(offer)")
            }
        }
    }

    @Test("a private folder asks for a token too, for its films and its files")
    func folder() throws {
        let folder = try TemporaryFolder()
        try folder.write(#"[{"id": "a", "title": "A"}]"#, to: "movies.json")
        try folder.write("x", to: "a.png")
        let roles = try Roles(isPrivate: true, folder: folder.path)
        for target in ["/", "/films", "/movies.json", "/a.png", "/missing"] {
            #expect(try roles.answer("GET", target, as: nil).status == 401, "\(target)")
            let answer = try roles.answer("GET", target, as: .read)
            #expect(answer.status == (target == "/missing" ? 404 : 200), "\(target)")
            let control = answer.fields["cache-control"] ?? ""
            #expect(control.contains("private") || control.contains("no-store"), "\(target): \(control)")
        }
        #expect(try roles.answer("GET", "/login", as: nil).status == 200)
    }

    @Test("a service without tokens has no endpoints for operators at its own address")
    func noOperations() throws {
        let roles = try Roles(isWritable: false, isPrivate: false)
        for role in [nil, Role.admin] {
            #expect(try roles.answer("GET", "/metrics", as: role).status == 404)
            #expect(try roles.answer("GET", "/login", as: role).status == 404)
        }
    }

    @Test("the last word of a token's name is its role")
    func tokenFile() throws {
        let file = ["a", "b read", "the children rate", "admin", "x write", "y  admin"].map {
            "# \($0)\n\(Self.token(.read))\($0.filter(\.isLetter))\n"
        }.joined()
        let tokens = try TokenFile.tokens(in: Array(file.utf8))
        #expect(tokens.map(\.name) == ["a", "b", "the children", "admin", "x", "y"])
        #expect(tokens.map(\.role) == [.write, .read, .rate, .write, .write, .admin])
    }
}
