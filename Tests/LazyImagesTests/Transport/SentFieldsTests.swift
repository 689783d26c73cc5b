import FoundationEssentials
import TestSupport
import TestTraits
import Testing

@testable import LazyImages

/// What reaches a server of the texts that a program gives, from each place that takes one.
@Suite("What is sent of a program's texts", .bounded)
struct SentFieldsTests {
    /// A place from which a text becomes a part of a request's head.
    enum Place: String, CaseIterable, Sendable {
        case optionName, optionValue, configuration, userAgent, beforeSending, uploadField, mediaType
        case method, framing, userAgentOfUpload
    }

    /// Ends the field and the request, and begins another one.
    private static let smuggled = "1\r\n\r\nGET /smuggled HTTP/1.1\r\nHost: x"

    /// Sends a request with the text at that place.
    private func send(
        _ place: Place, to url: URL, over transport: any Transport = CurlTransport(),
        _ change: (inout ImageDownloader.Configuration) -> Void = { _ in }
    ) async throws(ImageLoadingError) {
        let text = Self.smuggled
        var configuration = ImageDownloader.Configuration()
        configuration.timeouts = .patient
        configuration.retry = RetryPolicy(firstPause: .zero)
        var options = ImageRequest.Options()
        var (method, mediaType, fields) = (RequestMethod.put, "image/png", HeaderFields())
        switch place {
        case .optionName: options.fields["X-Sig: \(text)\r\nX-Last"] = "1"
        case .optionValue: options.fields["X-Sig"] = text
        case .configuration: configuration.fields["X-Sig"] = text
        case .userAgent, .userAgentOfUpload: configuration.userAgent = text
        case .beforeSending: configuration.beforeSending = { $0.fields["X-Sig"] = text }
        case .uploadField: fields["X-Sig"] = text
        case .mediaType: mediaType = text
        case .method: method = RequestMethod(rawValue: "PUT / HTTP/1.1\r\nX-Sig: \(text)")
        case .framing: configuration.beforeSending = { $0.fields["Content-Length"] = "0" }
        }
        change(&configuration)
        let loader = FileLoader.ephemeral(configuration: configuration, transport: transport)
        switch place {
        case .uploadField, .mediaType, .method, .userAgentOfUpload, .framing:
            let body = UploadBody.bytes([1], mediaType: mediaType)
            _ = try await Uploader(loader).upload(UploadRequest(url: url, method, body, fields: fields))
        default: _ = try await loader.file(for: ImageRequest(url, options: options))
        }
    }

    @Test(
        "a text that would add a field or a request is an error that names its place, and nothing is sent",
        arguments: Place.allCases)
    func smuggling(place: Place) async throws {
        let origin = try ScriptedOrigin(.answering(SampleImages.png))
        let error = await #expect(throws: ImageLoadingError.self) { try await send(place, to: origin.url()) }
        let name =
            switch place {
            case .userAgent, .userAgentOfUpload: "User-Agent"
            case .mediaType: "Content-Type"
            case .method: "method"
            case .framing: "Content-Length"
            default: "X-Sig"
            }
        let text = try #require(error).description
        #expect(error?.code == "invalid-field" && error?.isRetryable == false)
        #expect(text.contains(name) && !text.contains("smuggled"), "\(text)")
        #expect(!text.utf8.contains { $0 < 0x20 }, "\(text)")
        #expect(origin.connections.count == 0 && origin.heads == [], "\(origin.heads)")
    }

    @Test("a program's own transport gets no such request either", arguments: Place.allCases)
    func ownTransport(place: Place) async throws {
        let transport = HeldTransport { _ in .fresh(SampleImages.png) }
        let url = try URL(typed: "https://example.org/a.png")
        let error = await #expect(throws: ImageLoadingError.self) {
            try await send(place, to: url, over: transport)
        }
        #expect(error?.code == "invalid-field")
        #expect(transport.requests.isEmpty)
    }

    @Test("a request that a program gives to the transport itself is checked too")
    func transport() async throws {
        let origin = try ScriptedOrigin(.answering(SampleImages.png))
        var request = origin.request()
        request.fields["X-Sig"] = Self.smuggled
        #expect(await CurlTransport().error(for: request, into: RecordingReceiver())?.code == "invalid-field")
        var signed = origin.request()
        signed.signature = RequestSignature(
            region: "eu\r\nX-Sig: 1", accessKey: "key", secretKey: "secret", sessionToken: nil)
        #expect(await CurlTransport().error(for: signed, into: RecordingReceiver())?.code == "invalid-field")
        #expect(origin.connections.count == 0 && origin.heads == [], "\(origin.heads)")
    }

    @Test("the error reaches every caller, after one attempt, and the host is not at fault")
    func allCallers() async throws {
        let (attempts, release) = (Tally(), Tally())
        let origin = try ScriptedOrigin(.answering(SampleImages.png))
        var configuration = ImageDownloader.Configuration()
        configuration.timeouts = .patient
        configuration.retry = RetryPolicy(firstPause: .zero, failuresOfHost: 1)
        configuration.beforeSending = { request in
            guard request.url.path().hasSuffix("/bad.png") else { return }
            attempts.add()
            try await release.wait(for: 1)
            request.fields["X-Sig"] = Self.smuggled
        }
        let loader = FileLoader.ephemeral(configuration: configuration)
        let bad = ImageRequest(origin.url("/bad.png"))
        let loads = (0..<3).map { _ in Task { await loader.error(for: bad)?.code } }
        try await attempts.wait(for: 1)
        release.add()
        for load in loads { #expect(await load.value == "invalid-field") }
        // The third caller may have come after the end of the first two's load.
        #expect((1...3).contains(attempts.count))
        #expect(try await loader.file(for: ImageRequest(origin.url("/good.png"))).source == .network)
        // The failure is not remembered for the URL either.
        let others = FileLoader.ephemeral()
        #expect(try await others.file(for: bad).source == .network)
    }

    @Test("a validator with a control character is not sent back: the file is fetched again")
    func validators() async throws {
        let fields = "ETag: \"a\rX-Sig: 1\"\r\nCache-Control: max-age=0\r\nContent-Type: image/png\r\n"
        let origin = try ScriptedOrigin(.answering(SampleImages.png, fields: fields))
        let loader = FileLoader.ephemeral()
        for _ in 0..<2 {
            let file = try await loader.file(for: ImageRequest(origin.url()))
            #expect(file.source == .network)
        }
        #expect(origin.heads.count == 2 && !origin.heads.contains { $0.contains("X-Sig") })
    }

    @Test("a line end in the text of a URL is sent percent-encoded")
    func address() async throws {
        let origin = try ScriptedOrigin(.answering(SampleImages.png))
        let text = origin.url().absoluteString + "?a=1 HTTP/1.1\r\nX-Sig: 1"
        var configuration = ImageDownloader.Configuration()
        configuration.beforeSending = { $0.url = try #require(URL(string: text)) }
        let loader = FileLoader.ephemeral(configuration: configuration)
        _ = try await loader.file(for: ImageRequest(origin.url()))
        #expect(origin.heads.count == 1)
        #expect(
            origin.heads.first?.hasPrefix("GET /a.png?a=1%20HTTP/1.1%0D%0AX-Sig:%201 HTTP/1.1\r\n") == true)
    }

    @Test("names, file names and media types of a form's parts add no line to their heads")
    func form() async throws {
        let text = "a\"\r\nX-Sig: 1\r\n\r\n--b"
        let parts = [
            FormPart.field(text, "value"),
            .file(text, bytes: [1], fileName: text, mediaType: text),
        ]
        let body = try UploadBody.form(parts, boundary: "b").open()
        let lines = String(decoding: try body.bytes(at: 0, limit: body.count), as: UTF8.self)
            .split(separator: "\r\n", omittingEmptySubsequences: false)
        #expect(lines.filter { $0.hasPrefix("X-Sig") }.isEmpty)
        #expect(lines.filter { $0.hasPrefix("--b") } == ["--b", "--b", "--b--"])
    }
}
