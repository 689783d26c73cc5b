import FoundationEssentials
import TestSupport
import TestTraits
import Testing

import LazyImages

/// Challenges for credentials, answered through the whole downloader.
@Suite("Authentication of downloads", .bounded)
struct AuthenticationTests {
    /// Accepts requests with `Basic dTpw`: user u, password p.
    private let guarded = HeldTransport { request in
        request.fields["authorization"] == "Basic dTpw"
            ? HeldTransport.Answer(SampleImages.png)
            : HeldTransport.Answer(
                Array("who are you?".utf8), status: 401, fields: ["WWW-Authenticate": "Basic realm=films"])
    }

    /// Knows the password and counts its challenges.
    private final class CountingAuthenticator: HTTPAuthenticator {
        let asked = Tally()

        func credential(for challenge: AuthenticationChallenge) async -> Credential? {
            asked.add()
            return challenge.isRepeated ? nil : .password(user: "u", password: "p")
        }
    }

    /// Has a token for one host.
    private struct TokenOwner: HTTPAuthenticator {
        func credential(for challenge: AuthenticationChallenge) async -> Credential? { nil }
        func tokenToSend(to origin: URL) async -> String? { origin.port == 8096 ? "t0ken" : nil }
    }

    @Test("a token is sent to its host at once, and to no other, also where a 401 names no scheme")
    func token() async throws {
        let transport = HeldTransport { request in
            request.fields["authorization"] == "Bearer t0ken"
                ? HeldTransport.Answer(SampleImages.png) : HeldTransport.Answer([], status: 401)
        }
        let downloader = ImageDownloader(
            transport: transport, configuration: .with { $0.authenticator = TokenOwner() })
        _ = try await downloader.download(ImageRequest("http://localhost:8096/a"))
        #expect(transport.started.count == 1)
        await #expect(throws: ImageLoadingError.self) {
            try await downloader.download(ImageRequest("http://localhost:8097/a"))
        }
        #expect(transport.requests.map { $0.fields["authorization"] } == ["Bearer t0ken", nil])
    }

    @Test("the caller's own Authorization field stays")
    func ownField() async throws {
        let knowing = CountingAuthenticator()
        let request = ImageRequest(
            "http://localhost/a", options: .init(fields: ["Authorization": "Basic eDp5"]))
        await #expect(throws: ImageLoadingError.self) { _ = try await downloader(knowing).download(request) }
        #expect(knowing.asked.count == 0)
        #expect(guarded.requests.map { $0.fields.values(of: "authorization") } == [["Basic eDp5"]])
    }

    @Test("listeners hear the events of a transfer, in order, and without secrets")
    func events() async throws {
        let downloader = downloader(CountingAuthenticator())
        let events = downloader.activity.events
        _ = try await downloader.download(ImageRequest("http://localhost/a"))
        var kinds: [String] = []
        for await event in events {
            #expect(event.url == "http://localhost/a")
            kinds.append(String("\(event.kind)".prefix { $0 != "(" }))
            if kinds.count == 6 { break }
        }
        // The attempt that was challenged has left its slot.
        #expect(kinds == ["waiting", "started", "finished", "waiting", "started", "finished"])
        #expect(downloader.activity.hosts["localhost:80"]?.finished == 2)
    }

    private func downloader(_ authenticator: any HTTPAuthenticator) -> ImageDownloader {
        ImageDownloader(transport: guarded, configuration: .with { $0.authenticator = authenticator })
    }
}
