import FoundationEssentials
import SystemSupport
import TestSupport
import TestTraits
import Testing

import LazyImages

/// Uploads over real sockets, from the request to its answer.
@Suite("Uploader", .bounded)
struct UploaderTests {
    private func uploader(
        _ change: (inout ImageDownloader.Configuration) -> Void = { _ in }
    ) -> Uploader {
        var configuration = ImageDownloader.Configuration()
        configuration.timeouts = .patient
        configuration.retry = RetryPolicy(firstPause: .zero)
        change(&configuration)
        return Uploader(FileLoader.ephemeral(configuration: configuration))
    }

    private func post(_ origin: ScriptedOrigin, _ method: RequestMethod = .post) -> UploadRequest {
        UploadRequest(
            url: origin.url("/films"), method, .bytes(Array("{}".utf8), mediaType: "application/json"),
            fields: ["X-Own": "1"])
    }

    private func requestLines(_ origin: ScriptedOrigin) -> [Substring] {
        origin.heads.map { $0.prefix { $0 != "\r\n" } }
    }

    @Test("an upload returns status, header and body, whatever the status")
    func plain() async throws {
        for status in ["201 Created", "422 Unprocessable Content", "500 Internal Server Error"] {
            let origin = try ScriptedOrigin(
                .acceptingBodies(status: status, fields: "Location: films/a\r\n", answer: "{\"id\":1}"))
            let response = try await uploader().upload(post(origin))
            #expect("\(response.status)" == status.prefix(3) && response.fields["location"] == "films/a")
            #expect(response.body == Array("{\"id\":1}".utf8) && response.isWhole)
            #expect(response.url == origin.url("/films"))
            let lines = origin.heads[0].split(separator: "\r\n")
            #expect(lines.contains("Content-Type: application/json") && lines.contains("X-Own: 1"))
            #expect(lines.contains("User-Agent: Marquee") && lines.contains("Accept: */*"))
            #expect(origin.bodies == [Array("{}".utf8)] && origin.requests.count == 1)
        }
    }

    @Test("twenty equal uploads are twenty requests, within the limit for a host")
    func neverShared() async throws {
        let gate = Gate()
        let origin = try ScriptedOrigin([
            .readHead, .readBody, .wait(gate), .send("HTTP/1.1 204 No Content\r\nConnection: close\r\n\r\n"),
        ])
        let uploader = uploader { $0.transfersPerHost = 4 }
        let tasks = (0..<20).map { _ in uploader.task(for: post(origin)) }
        try await origin.requests.wait(for: 4)
        #expect(uploader.activity.hosts.values.map(\.running) == [4])
        gate.open()
        for task in tasks { #expect(try await task.value.status == 204) }
        #expect(origin.requests.count == 20)
    }

    @Test("an upload reports its sent bytes, and the activity counts them all")
    func progress() async throws {
        let origin = try ScriptedOrigin(.acceptingBodies())
        let uploader = uploader()
        let body = [UInt8](repeating: 7, count: 700_000)
        let task = uploader.task(for: UploadRequest(url: origin.url(), .put, .bytes(body)))
        var last: UploadProgress?
        for await progress in task.progress { last = progress }
        #expect(try await task.value.status == 200)
        // A sequence that is read after its end gets the last value first.
        let known = await task.progress.reduce(nil) { $1 }
        let end = try #require(last ?? known)
        #expect(end.sent == 700_000 && end.total == 700_000)
        #expect(uploader.activity.hosts.values.map(\.sent) == [700_000])
    }

    @Test("an answer longer than the limit is truncated and marked so")
    func answerLimit() async throws {
        let origin = try ScriptedOrigin(.acceptingBodies(answer: "0123456789"))
        var request = post(origin)
        for (limit, isWhole) in [(4, false), (10, true)] {
            request.answerLimit = limit
            let response = try await uploader().upload(request)
            #expect(response.body == Array("0123456789".utf8.prefix(limit)) && response.isWhole == isWhole)
        }
    }

    @Test("an answer that breaks off after its header counts: the server has done its work")
    func brokenAnswer() async throws {
        let origin = try ScriptedOrigin([
            .readHead, .readBody, .send("HTTP/1.1 201 Created\r\nContent-Length: 100\r\n\r\n{"),
        ])
        let response = try await uploader().upload(post(origin, .put))
        #expect(response.status == 201 && !response.isWhole && origin.requests.count == 1)
    }

    @Test("a PUT whose answer was lost is sent again from its beginning, a POST is not")
    func lostAnswer() async throws {
        for (method, requests) in [(RequestMethod.put, 2), (.delete, 2), (.post, 1), (.patch, 1)] {
            let origin = try ScriptedOrigin { connection in
                connection == 0 ? [.readHead, .readBody, .reset] : .acceptingBodies(status: "204 No Content")
            }
            do throws(ImageLoadingError) {
                #expect(try await uploader().upload(post(origin, method)).status == 204)
                #expect(requests == 2)
            } catch {
                #expect(error.code == "connection-lost" && requests == 1)
            }
            #expect(origin.bodies == Array(repeating: Array("{}".utf8), count: requests))
        }
    }

    @Test("a POST that is marked repeatable is sent again when its answer is lost")
    func repeatable() async throws {
        let origin = try ScriptedOrigin { connection in
            connection == 0 ? [.readHead, .readBody, .reset] : .acceptingBodies(status: "409 Conflict")
        }
        var request = post(origin)
        request.mayBeRepeated = true
        let response = try await uploader().upload(request)
        #expect(response.status == 409 && response.isRepeated)
        #expect(origin.bodies == [Array("{}".utf8), Array("{}".utf8)])
    }

    @Test("a POST is tried three times when no server listens")
    func refused() async throws {
        let port = try ClosedPort()
        let uploader = uploader()
        let events = uploader.activity.events
        await #expect(throws: ImageLoadingError.self) {
            _ = try await uploader.upload(UploadRequest("http://127.0.0.1:\(port.port)/", .post))
        }
        var retries = 0
        for await event in events {
            if case .retrying = event.kind { retries += 1 }
            if case .failed = event.kind, retries == 2 { break }
        }
        #expect(retries == 2)
    }

    @Test("an upload is retried after the time of Retry-After, if it is idempotent")
    func retryAfter() async throws {
        for (method, requests) in [(RequestMethod.put, 2), (.post, 1)] {
            let origin = try ScriptedOrigin([
                .readHead, .readBody,
                .send("HTTP/1.1 503 Busy\r\nRetry-After: 7\r\nContent-Length: 0\r\n\r\n"),
                .readHead, .readBody, .send("HTTP/1.1 204 No Content\r\n\r\n"),
            ])
            let pauses = Lock<[Duration]>([])
            let uploader = uploader { configuration in
                configuration.timing = RetryTiming(
                    now: { .zero }, sleep: { pause in pauses.withLock { $0.append(pause) } }, random: { 0 })
            }
            let response = try await uploader.upload(post(origin, method))
            #expect(response.status == (requests == 2 ? 204 : 503))
            #expect(pauses.withLock { $0 } == (requests == 2 ? [.seconds(7)] : []))
        }
    }

    @Test("an upload is retried after a server error, unless 500 counts as an answer")
    func answeredBy500() async throws {
        for isAnswer in [false, true] {
            let origin = try ScriptedOrigin([
                .readHead, .readBody, .send("HTTP/1.1 500 Fault\r\nContent-Length: 0\r\n\r\n"),
                .readHead, .readBody, .send("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n"),
            ])
            var request = post(origin)
            request.mayBeRepeated = true
            request.isAnsweredBy500 = isAnswer
            #expect(try await uploader().upload(request).status == (isAnswer ? 500 : 200))
        }
    }

    @Test("307 and 308 send the body again, from its beginning", arguments: [307, 308])
    func sentAgain(status: Int) async throws {
        let origin = try ScriptedOrigin([
            .readHead, .readBody,
            .send("HTTP/1.1 \(status) Moved\r\nLocation: /moved\r\nContent-Length: 0\r\n\r\n"),
            .readHead, .readBody, .send("HTTP/1.1 201 Created\r\nContent-Length: 0\r\n\r\n"),
        ])
        let response = try await uploader().upload(post(origin))
        #expect(response.status == 201 && response.url == origin.url("/moved") && !response.isRepeated)
        #expect(requestLines(origin) == ["POST /films HTTP/1.1", "POST /moved HTTP/1.1"])
        #expect(origin.bodies == [Array("{}".utf8), Array("{}".utf8)])
        #expect(origin.heads[1].contains("X-Own: 1"))
    }

    @Test("the body is never sent to another origin")
    func otherOrigin() async throws {
        let other = try ScriptedOrigin(.acceptingBodies())
        let origin = try ScriptedOrigin(
            .acceptingBodies(status: "307 Moved", fields: "Location: \(other.url("/x").absoluteString)\r\n"))
        #expect(await uploader().error(post(origin))?.code == "redirect-refused")
        #expect(other.requests.count == 0)
    }

    @Test(
        "a 303 is followed by a GET without body and conditions and, to another origin, without the caller's fields"
    )
    func seeOther() async throws {
        let other = try ScriptedOrigin(.acceptingBodies(answer: "there"))
        let origin = try ScriptedOrigin(
            .acceptingBodies(
                status: "303 See Other", fields: "Location: \(other.url("/x").absoluteString)\r\n"))
        var request = post(origin)
        request.fields["If-Match"] = "\"1\""
        let response = try await uploader().upload(request)
        #expect(response.body == Array("there".utf8))
        let head = try #require(other.heads.first)
        #expect(head.hasPrefix("GET /x HTTP/1.1"))
        for name in ["Content-", "If-Match", "X-Own"] { #expect(!head.contains(name)) }
    }

    @Test("a redirect loop is an error")
    func loop() async throws {
        let origin = try ScriptedOrigin(.acceptingBodies(status: "307 Moved", fields: "Location: /films\r\n"))
        #expect(await uploader().error(post(origin))?.code == "redirect-loop")
        #expect(origin.requests.count == 1)
    }

    @Test("a 401 is answered by the authenticator, and the body is sent again from its beginning")
    func challenged() async throws {
        struct FixedAuthenticator: HTTPAuthenticator {
            func credential(for challenge: AuthenticationChallenge) async -> Credential? {
                challenge.isRepeated ? nil : .token("t0ken")
            }
        }
        let origin = try ScriptedOrigin([
            .readHead, .readBody,
            .send("HTTP/1.1 401 No\r\nWWW-Authenticate: Bearer realm=films\r\nContent-Length: 0\r\n\r\n"),
            .readHead, .readBody, .send("HTTP/1.1 201 Created\r\nContent-Length: 0\r\n\r\n"),
            .readHead, .readBody, .send("HTTP/1.1 201 Created\r\nContent-Length: 0\r\n\r\n"),
        ])
        let uploader = uploader { $0.authenticator = FixedAuthenticator() }
        for _ in 0..<2 {
            let response = try await uploader.upload(post(origin))
            #expect(response.status == 201)
            #expect(!response.isRepeated, "a request that was answered with a challenge has had no effect")
        }
        #expect(origin.bodies == Array(repeating: Array("{}".utf8), count: 3))
        #expect(origin.heads.map { $0.contains("Authorization: Bearer t0ken") } == [false, true, true])
        #expect(try await self.uploader().upload(post(origin)).status != 201 || origin.heads.count == 4)
    }

    @Test("plain http to another machine is refused, and nothing is sent")
    func insecure() async throws {
        let request = try UploadRequest("http://films.example/", .post)
        #expect(await uploader().error(request)?.code == "insecure-connection")
    }

    @Test("a cancelled upload ends its transfer and frees its slot")
    func cancelled() async throws {
        let origin = try ScriptedOrigin([.readHead, .awaitClose])
        let uploader = uploader { $0.transfersPerHost = 1 }
        let first = uploader.task(for: post(origin))
        try await origin.requests.wait(for: 1)
        let second = uploader.task(for: post(origin))
        second.cancel()
        first.cancel()
        for task in [first, second] {
            await #expect(throws: ImageLoadingError.cancelled(url: origin.url("/films").absoluteString)) {
                _ = try await task.value
            }
        }
        try await origin.closed.wait(for: 1)
        let third = uploader.task(for: post(origin))
        try await origin.requests.wait(for: 2)
        third.cancel()
    }

    @Test("a Content-Length and a Transfer-Encoding from the caller are not sent")
    func header() async throws {
        let origin = try ScriptedOrigin(.acceptingBodies())
        var request = post(origin)
        request.fields["Content-Length"] = "100"
        request.fields["Transfer-Encoding"] = "chunked"
        _ = try await uploader().upload(request)
        #expect(origin.heads[0].contains("Content-Length: 2"))
        #expect(!origin.heads[0].contains("Transfer-Encoding"))
    }
}
