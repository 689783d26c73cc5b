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

    /// Knows one password and counts its challenges.
    private final class CountingAuthenticator: Authenticator {
        let password: String
        let asked = Tally()

        init(_ password: String) { self.password = password }

        func credential(for challenge: AuthenticationChallenge) async -> Credential? {
            asked.add()
            return challenge.isRepeated ? nil : .password(user: "u", password: password)
        }
    }

    @Test("a challenge is answered once for all waiting requests, and the image is the one that follows")
    func answered() async throws {
        let knowing = CountingAuthenticator("p")
        let downloader = downloader(knowing)
        try await withThrowingTaskGroup { group in
            for number in 0..<20 {
                group.addTask {
                    try await downloader.download(ImageRequest("http://localhost/\(number)")).bytes.array
                }
            }
            for try await bytes in group { #expect(bytes == SampleImages.png) }
        }
        #expect(knowing.asked.count == 1)
        let before = guarded.requests.count
        _ = try await downloader.download(ImageRequest("http://localhost/later"))
        #expect(guarded.requests.count == before + 1)
    }

    @Test("a rejected credential is an error, and so is none")
    func refused() async throws {
        let request = ImageRequest("http://localhost/a")
        let error = ImageLoadingError.httpStatus(url: "http://localhost/a", status: 401)
        await #expect(throws: error) {
            _ = try await downloader(CountingAuthenticator("wrong")).download(request)
        }
        await #expect(throws: error) { _ = try await downloader(nil).download(request) }
    }

    @Test("the caller's own Authorization field stays")
    func ownField() async throws {
        let knowing = CountingAuthenticator("p")
        let request = ImageRequest(
            "http://localhost/a", options: .init(fields: ["Authorization": "Basic eDp5"]))
        await #expect(throws: ImageLoadingError.self) { _ = try await downloader(knowing).download(request) }
        #expect(knowing.asked.count == 0)
        #expect(guarded.requests.map { $0.fields.values(of: "authorization") } == [["Basic eDp5"]])
    }

    @Test("listeners hear the events of a transfer, in order, and without secrets")
    func events() async throws {
        let downloader = downloader(CountingAuthenticator("p"))
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

    private func downloader(_ authenticator: (any Authenticator)?) -> ImageDownloader {
        var configuration = ImageDownloader.Configuration()
        configuration.authenticator = authenticator
        return ImageDownloader(transport: guarded, configuration: configuration)
    }
}
