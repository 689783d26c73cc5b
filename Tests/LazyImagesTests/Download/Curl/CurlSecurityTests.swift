import FoundationEssentials
import TestSupport
import Testing

@testable import LazyImages

/// What the policy demands of a connection, against OpenSSL's own server.
@Suite(
    "CurlTransport: security", .timeLimit(.minutes(30)),
    .enabled(if: TLSServer.isInstalled, "openssl is not installed"))
struct CurlSecurityTests {
    private let transport = CurlTransport()

    @Test("a server whose certificate nobody vouches for is refused, and one with a named authority is not")
    func authority() async throws {
        let server = try await TLSServer.start(serving: SampleImages.png)
        var policy = SecurityPolicy()
        #expect(await error(server.url(), policy)?.code == "secure-connection-failed")
        policy.certificateAuthorityFile = server.certificateFile
        #expect(await error(server.url(), policy) == nil)
        // The next one is judged by the system's authorities again.
        #expect(await error(server.url(), SecurityPolicy())?.code == "secure-connection-failed")
    }

    @Test("a certificate that names another host is refused, whoever vouches for it")
    func otherName() async throws {
        let server = try await TLSServer.start(serving: SampleImages.png, host: "other.example")
        var policy = SecurityPolicy()
        policy.certificateAuthorityFile = server.certificateFile
        #expect(await error(server.url(), policy)?.code == "secure-connection-failed")
    }

    @Test("an authority file that is not there is an error and not the system's authorities")
    func missingFile() async throws {
        let server = try await TLSServer.start(serving: SampleImages.png)
        var policy = SecurityPolicy()
        policy.certificateAuthorityFile = "/nowhere/authorities.pem"
        #expect(await error(server.url(), policy)?.code == "secure-connection-failed")
    }

    @Test("a key exchange without forward secrecy is refused, unless the host is excepted")
    func forwardSecrecy() async throws {
        let server = try await TLSServer.start(
            serving: SampleImages.png, options: "-tls1_2 -cipher AES128-GCM-SHA256")
        var policy = SecurityPolicy()
        policy.certificateAuthorityFile = server.certificateFile
        #expect(await error(server.url(), policy)?.code == "secure-connection-failed")
        policy.exceptions["localhost"] = SecurityPolicy.HostException()
        policy.exceptions["localhost"]?.requiresForwardSecrecy = false
        #expect(await error(server.url(), policy) == nil)
    }

    @Test("TLS 1.1 is refused, and TLS 1.2 where 1.3 is the oldest that will do")
    func versions() async throws {
        let old = try await TLSServer.start(
            serving: SampleImages.png, options: "-tls1_1 -cipher DEFAULT@SECLEVEL=0")
        var policy = SecurityPolicy()
        policy.certificateAuthorityFile = old.certificateFile
        #expect(await error(old.url(), policy)?.code == "secure-connection-failed")

        let server = try await TLSServer.start(serving: SampleImages.png, options: "-tls1_2")
        policy.certificateAuthorityFile = server.certificateFile
        #expect(await error(server.url(), policy) == nil)
        policy.exceptions["localhost"] = SecurityPolicy.HostException()
        policy.exceptions["localhost"]?.minimumTLSVersion = .v1_3
        #expect(
            await error(server.url(), policy, transport: CurlTransport())?.code == "secure-connection-failed")
    }

    @Test(
        "a host that is trusted by its certificate or by its key needs no authority; another key is refused")
    func trusted() async throws {
        let server = try await TLSServer.start(serving: SampleImages.png, host: "nobody.example")
        var policy = SecurityPolicy()
        policy.trusted["localhost"] = .publicKey(sha256: server.keyDigest)
        #expect(await error(server.url(), policy) == nil)
        let other = try await TLSServer.start(serving: SampleImages.png)
        #expect(await error(other.url(), policy)?.code == "secure-connection-failed")
        policy.trusted["localhost"] = .authorities(file: other.certificateFile)
        #expect(await error(other.url(), policy) == nil)
    }

    private func error(
        _ url: URL, _ policy: SecurityPolicy, transport: CurlTransport? = nil
    ) async -> ImageLoadingError? {
        var request = TransportRequest(url: url)
        request.security = policy.transportSecurity(for: Origin(url))
        let receiver = RecordingReceiver()
        do throws(ImageLoadingError) {
            let head = try await (transport ?? self.transport).perform(request, into: receiver)
            #expect(head.status == 200 && receiver.bytes == SampleImages.png)
            return nil
        } catch {
            return error
        }
    }
}
