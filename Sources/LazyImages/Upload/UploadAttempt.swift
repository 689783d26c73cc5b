import FoundationEssentials
import HTTPSemantics

/// One request of an upload to one URL. A redirect or a retry is another attempt.
struct UploadAttempt: Sendable {
    let request: UploadRequest
    private(set) var url: URL
    private(set) var method: HTTPMethod
    private(set) var body: OpenBody?
    /// The targets of the redirects so far.
    private(set) var steps: [URL] = []
    /// The number of the attempt, without redirects, from 1.
    private(set) var tries = 1

    /// The first attempt.
    init(_ request: UploadRequest, _ body: OpenBody?) {
        self.request = request
        url = request.url
        method = request.method
        self.body = body
    }

    /// Whether the request may reach the server twice.
    var mayBeRepeated: Bool { method == request.method ? request.mayBeRepeated : method.isIdempotent }

    /// The host and port.
    var host: String { Origin(url).hostAndPort }

    /// Makes it the next attempt after a failure.
    mutating func retry() { tries += 1 }

    /// Makes it the attempt after a redirect.
    mutating func follow(to target: URL, asGet: Bool) {
        steps.append(target)
        url = target
        guard asGet else { return }
        method = .get
        body = nil
    }

    /// Whether the upload has already visited `target` with the same method.
    func hasBeen(at target: URL, asGet: Bool) -> Bool {
        guard !asGet || method == .get else { return false }
        let address = CanonicalURL(target.absoluteString).text
        return ([request.url] + steps).contains { CanonicalURL($0.absoluteString).text == address }
    }

    /// Fields about a body (RFC 9110 section 8), which are left out when a redirect turns the request into a GET.
    private static let aboutBody = [
        "content-type", "content-encoding", "content-language", "content-location",
    ]

    /// The fields to send: the library's own; and the configuration's and the caller's, at the request's origin.
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
            // The conditions were about the write.
            for name in Self.aboutBody + Validators.conditional { fields[name] = nil }
        }
        // The transport sets these.
        for name in ["content-length", "transfer-encoding", "expect"] { fields[name] = nil }
        return fields
    }
}
