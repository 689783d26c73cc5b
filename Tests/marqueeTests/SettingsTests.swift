import FoundationEssentials
import TestSupport
import TestTraits
import Testing

@testable import LazyImages
@testable import marquee

@Suite("Settings", .bounded)
struct SettingsTests {
    private func settings(_ words: String..., environment: [String: String] = [:]) throws -> Settings {
        try Settings(
            Arguments(words), environment: environment)
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

    @Test("trust is a file or a key, of one host or of all")
    func trust() throws {
        let folder = try TemporaryFolder()
        let file = try folder.write("", to: "authority.pem")
        let key = "47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU="
        let security = try settings(
            "--cacert", file, "--trust", "A.example=\(file)", "--trust", "b.example=sha256//\(key)"
        ).downloads.security
        #expect(security.certificateAuthorityFile == file)
        #expect(
            security.trusted == [
                "a.example": .authorities(file: file), "b.example": .publicKey(sha256: key),
            ])
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
}
