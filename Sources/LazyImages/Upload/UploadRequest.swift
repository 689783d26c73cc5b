public import FoundationEssentials
import HTTPSemantics

/// A request that writes: method, URL, header fields and body.
///
///     try UploadRequest("http://localhost:8080/films", .post, .bytes(json, mediaType: "application/json"))
///     UploadRequest(url: film, .put, .file("poster.jpg", mediaType: "image/jpeg"), fields: ["If-Match": tag])
public struct UploadRequest: Sendable {
    /// The default of ``answerLimit``: 16 MiB.
    static let standardAnswerLimit = 16 * 1024 * 1024

    /// The https or http URL. A user name and password in it have moved to ``fields``.
    public let url: URL
    /// The method.
    public let method: HTTPMethod
    /// The body; nil for none.
    public let body: UploadBody?
    /// The caller's header fields, such as `If-Match`. A redirect to another origin does not send them.
    /// `Content-Length`, `Transfer-Encoding` and `Expect` are ignored.
    public var fields: HeaderFields
    /// The most bytes to keep of the answer's body. Default: 16 MiB.
    public var answerLimit = standardAnswerLimit
    /// Whether the request may reach the server twice, and so is sent again after its answer is lost. Default: whether
    /// its method is idempotent. Set it for a POST that names the resource it creates, or a PATCH with `If-Match`.
    public var mayBeRepeated: Bool
    /// Whether 500 is a normal answer and not a temporary failure, as in SOAP, whose faults all have it (SOAP 1.1
    /// section 6.2). Default: false.
    package var isAnsweredBy500 = false

    /// A request with these parts.
    /// - Parameters:
    ///   - url: an https or http URL.
    ///   - method: the method.
    ///   - body: the body. Default: nil, none.
    ///   - fields: the caller's header fields. Default: none.
    public init(
        url: URL, _ method: HTTPMethod, _ body: UploadBody? = nil, fields: HeaderFields = HeaderFields()
    ) {
        var fields = fields
        self.url = ImageRequest.movingCredentials(of: url, into: &fields)
        self.method = method
        mayBeRepeated = method.isIdempotent
        self.body = body
        self.fields = fields
    }

    /// A request for a URL as a person types it, read by `URL(typed:relativeTo:)`.
    /// - Parameters:
    ///   - text: the URL, as a person types it.
    ///   - method: the method.
    ///   - body: the body. Default: nil, none.
    ///   - fields: the caller's header fields. Default: none.
    /// - Throws: `.invalidURL`, `.unsupportedScheme`.
    public init(
        _ text: String, _ method: HTTPMethod, _ body: UploadBody? = nil, fields: HeaderFields = HeaderFields()
    ) throws(ImageLoadingError) {
        self.init(url: try URL(typed: text), method, body, fields: fields)
    }
}

/// The answer to an upload, with any status.
public struct UploadResponse: Sendable {
    /// Status and header.
    package let head: ResponseHead
    /// The body of the answer, up to the request's limit.
    public let body: [UInt8]
    /// Whether the body is complete: false if it exceeds the limit, or if the connection was lost after the header.
    public let isWhole: Bool
    /// The URL after redirects.
    public let url: URL
    /// Whether the request was sent more than once, so that an earlier sending may have taken effect already.
    package let isRepeated: Bool

    /// The answer's status.
    public var status: Int { head.status }
    /// The answer's header.
    public var fields: HeaderFields { head.fields }
}
