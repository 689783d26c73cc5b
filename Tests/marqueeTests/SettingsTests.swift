import FoundationEssentials
import LazyImages
import TestSupport
import TestTraits
import Testing

@testable import marquee

@Suite("Settings", .bounded)
struct SettingsTests {
    private func settings(_ words: String..., environment: [String: String] = [:]) throws -> Settings {
        try Settings(
            Arguments(words), environment: environment)
    }

    @Test("options override the environment, which overrides the defaults")
    func precedence() throws {
        let environment = ["MARQUEE_CATALOGUE": "e.json", "MARQUEE_CACHE_DIR": "/e"]
        let none = try settings()
        #expect(none.catalogue == nil)
        #expect(none.cacheFolder == DiskCache.folder(named: "marquee"))
        let fromEnvironment = try settings(environment: environment)
        #expect(fromEnvironment.catalogue == "e.json")
        #expect(fromEnvironment.cacheFolder == "/e")
        let fromFlags = try settings(
            "--catalogue", "f.json", "--cache-dir", "/f", environment: environment)
        #expect(fromFlags.catalogue == "f.json")
        #expect(fromFlags.cacheFolder == "/f")
    }

    @Test("an empty variable counts as unset")
    func emptyVariable() throws {
        let read = try settings(environment: ["MARQUEE_CATALOGUE": "", "MARQUEE_CACHE_DIR": ""])
        #expect(read.catalogue == nil)
        #expect(read.cacheFolder == DiskCache.folder(named: "marquee"))
    }

    @Test("limits apply to downloads")
    func limits() throws {
        let read = try settings(
            "fetch", "x", "--max-bytes", "2M", "--timeout", "3", "--cache-size", "1G", "--concurrency", "7",
            "--per-host", "2", "--any-content", "--insecure-http", "A.example")
        #expect(read.downloads.maximumBytes == 2 << 20)
        #expect(read.cacheLimit == 1 << 30)
        #expect(read.downloads.transfers == 7)
        #expect(read.downloads.transfersPerHost == 2)
        #expect(read.downloads.acceptsAnyContent)
        #expect(read.downloads.security == SecurityPolicy(insecureHosts: ["a.example"]))
        #expect(try settings().cacheLimit == DiskCache.defaultLimit)
    }

    @Test("--timeout limits a pause, --max-time a whole transfer")
    func timeouts() throws {
        #expect(try settings().downloads.timeouts == Timeouts())
        let still = try settings("--timeout", "3").downloads.timeouts
        #expect(still.stall == .seconds(3) && still.connect == .seconds(3) && still.total == .seconds(300))
        #expect(try settings("--timeout", "600").downloads.timeouts.total == .seconds(600))
        let both = try settings("--timeout", "3", "--max-time", "2.5").downloads.timeouts
        #expect(both.firstByte == .seconds(3) && both.total == .seconds(2.5))
        #expect(throws: UsageError.self) { try settings("--max-time", "0") }
    }

    @Test("header fields are parsed, and refused if they would break a header")
    func fields() throws {
        let read = try settings("--header", "Authorization: Bearer x:y", "--header", "Accept-Language:de")
        #expect(read.fields["authorization"] == "Bearer x:y")
        #expect(read.fields["accept-language"] == "de")
        for bad in ["none", ": value", "a b: c", "a: b\r\nc: d", "a\u{1B}: b"] {
            #expect(throws: UsageError.self, "\(bad)") { try settings("--header", bad) }
        }
    }

    @Test(
        "a host that can never match is refused",
        arguments: ["", "http://example.org", "example.org:80", "a b", "u@h"])
    func insecureHosts(text: String) throws {
        #expect(throws: UsageError.self) { try settings("--insecure-http", text) }
        let read = try settings("--insecure-http", "[::2]")
        #expect(read.downloads.security == SecurityPolicy(insecureHosts: ["[::2]"]))
    }

    @Test("trust is a file or a key, of one host or of all")
    func trust() throws {
        let folder = try TemporaryFolder()
        let file = folder.file("authority.pem")
        try Data().write(to: URL(filePath: file))
        let key = "47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU="
        let security = try settings(
            "--cacert", file, "--trust", "A.example=\(file)", "--trust", "b.example=sha256//\(key)"
        ).downloads.security
        #expect(security.certificateAuthorityFile == file)
        #expect(
            security.trusted == [
                "a.example": .authorities(file: file), "b.example": .publicKey(sha256: key),
            ])
        for bad in [
            "a.example", "=x", "a.example=", "a.example=/nowhere", "a.example=sha256//short",
            "a.example=/tmp",
        ] {
            #expect(throws: UsageError.self, "\(bad)") { try settings("--trust", bad) }
        }
        #expect(throws: UsageError.self) { try settings("--cacert", "/nowhere") }
    }

    @Test("credentials answer only their host, and a malformed entry is not shown")
    func credentials() async throws {
        let read = try settings(
            environment: [
                "MARQUEE_CREDENTIALS": "nas.local anna:s3:cret;\n films.example:8443  Bearer t0ken "
            ])
        let authenticator = try #require(read.downloads.authenticator)
        func answer(_ address: String, _ scheme: AuthenticationChallenge.Scheme, isRepeated: Bool = false)
            async throws
            -> Credential?
        {
            let origin = try #require(URL(string: address))
            return await authenticator.credential(
                for: AuthenticationChallenge(
                    scheme: scheme, realm: "", origin: origin, isRepeated: isRepeated))
        }
        let anna = Credential.password(user: "anna", password: "s3:cret")
        #expect(try await answer("https://NAS.local:443/", .basic) == anna)
        #expect(try await answer("https://nas.local:443/", .digest) == anna)
        #expect(try await answer("https://nas.local:443/", .bearer) == nil)
        #expect(try await answer("https://nas.local:443/", .basic, isRepeated: true) == nil)
        #expect(try await answer("https://films.example:8443/", .bearer) == .token("t0ken"))
        #expect(try await answer("https://films.example:443/", .bearer) == nil)
        #expect(try await answer("https://other.example:443/", .basic) == nil)
        let marked = try NamedCredentials("\u{FEFF}nas.local Bearer abc ")
        #expect(marked.token(for: try #require(URL(string: "https://nas.local/"))) == "abc")
        for bad in [
            "nas.local", "nas.local secret", "nas.local Bearer ", "nas.local: Bearer secret",
            "nas.local Bearer a\"secret", "nas.local Bearer a secret",
        ] {
            #expect(throws: UsageError.self) { try settings(environment: ["MARQUEE_CREDENTIALS": bad]) }
            do throws(UsageError) { _ = try NamedCredentials(bad) } catch {
                #expect(!error.description.contains("secret"))
            }
        }
    }

    @Test("a proxy is used only on request")
    func proxy() throws {
        #expect(try settings().transport.proxy == .none)
        #expect(try settings("--proxy", "none").transport.proxy == .none)
        #expect(try settings("--proxy", "env").transport.proxy == .environment)
        #expect(try settings("--proxy", "http://p:3128").transport.proxy == .url("http://p:3128"))
        for bad in ["", "p", "ftp://p", "http://"] {
            #expect(throws: UsageError.self, "\(bad)") { try settings("--proxy", bad) }
        }
    }

    @Test("an empty catalogue or cache folder is refused")
    func emptyNames() {
        #expect(throws: UsageError.self) { try settings("--catalogue", "") }
        #expect(throws: UsageError.self) { try settings("--cache-dir", "") }
    }

    @Test(
        "the first non-empty locale variable decides whether a terminal has UTF-8",
        arguments: [
            ([:], true), (["LANG": "C"], false), (["LANG": "en_GB.UTF-8"], true),
            (["LC_ALL": "C.utf8"], true),
            (["LC_ALL": "C", "LANG": "en_GB.UTF-8"], false), (["LC_ALL": "", "LC_CTYPE": "C.UTF-8"], true),
            (["LC_CTYPE": "POSIX", "LANG": "C.UTF-8"], false),
        ] as [([String: String], Bool)])
    func locale(environment: [String: String], hasUTF8: Bool) {
        #expect(Terminal.hasUTF8(environment) == hasUTF8)
    }
}
