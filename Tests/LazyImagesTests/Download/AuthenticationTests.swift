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
    private final class CountingAuthenticator: Authenticator {
        let asked = Tally()

        func credential(for challenge: AuthenticationChallenge) async -> Credential? {
            asked.add()
            return challenge.isRepeated ? nil : .password(user: "u", password: "p")
        }
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

    private func downloader(_ authenticator: any Authenticator) -> ImageDownloader {
        ImageDownloader(transport: guarded, configuration: .with { $0.authenticator = authenticator })
    }
}
