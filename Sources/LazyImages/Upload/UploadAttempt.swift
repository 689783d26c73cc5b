import FoundationEssentials
import HTTPSemantics

/// One request of an upload to one address. A redirect leads to another attempt, and so may a failure.
struct UploadAttempt: Sendable {
    let request: UploadRequest
    private(set) var url: URL
    private(set) var method: HTTPMethod
    private(set) var body: OpenBody?
    /// The addresses that redirects led to.
    private(set) var steps: [URL] = []
    /// Which try it is, from 1.
    private(set) var tries = 1

    /// The first one.
    init(_ request: UploadRequest, _ body: OpenBody?) {
        self.request = request
        url = request.url
        method = request.method
        self.body = body
    }

    /// Whether it may reach the server twice.
    var mayBeRepeated: Bool { method == request.method ? request.mayBeRepeated : method.isIdempotent }

    /// The host and port it goes to.
    var host: String { Origin(url).hostAndPort }

    /// The same once more, after a failure.
    mutating func retry() { tries += 1 }

    /// The one that a redirect leads to.
    mutating func follow(to target: URL, asGet: Bool) {
        steps.append(target)
        url = target
        guard asGet else { return }
        method = .get
        body = nil
    }

    /// Whether a redirect to `target` leads back to where the upload has been. Another method there is another request.
    func hasBeen(at target: URL, asGet: Bool) -> Bool {
        guard !asGet || method == .get else { return false }
        let address = CanonicalURL(target.absoluteString).text
        return ([request.url] + steps).contains { CanonicalURL($0.absoluteString).text == address }
    }

    /// Fields about a body (RFC 9110 section 8), which the request that a redirect makes a GET does not have.
    private static let aboutBody = [
        "content-type", "content-encoding", "content-language", "content-location",
    ]

    /// The fields to send: the library's own, and the configuration's and the caller's where the request is at its origin.
    func fields(_ configuration: ImageDownloader.Configuration) -> HTTPFields {
        var fields: HTTPFields = [
            "Accept": "*/*", "Accept-Encoding": "identity", "User-Agent": configuration.userAgent,
        ]
        if let mediaType = body == nil ? nil : request.body?.mediaType { fields["Content-Type"] = mediaType }
        if Origin(url) == Origin(request.url) {
            fields.replace(with: configuration.fields)
            fields.replace(with: request.fields)
        }
        if method != request.method {
            // The conditions were about what was to be written.
            for name in Self.aboutBody + Validators.conditional { fields[name] = nil }
        }
        // Whoever sends the body says how long it is.
        for name in ["content-length", "transfer-encoding", "expect"] { fields[name] = nil }
        return fields
    }
}
