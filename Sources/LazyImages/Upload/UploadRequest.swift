public import FoundationEssentials
import HTTPSemantics

/// A request that writes: a method, where to, and what is sent.
///
///     try UploadRequest("http://localhost:8080/films", .post, .bytes(json, mediaType: "application/json"))
///     UploadRequest(url: film, .put, .file("poster.jpg", mediaType: "image/jpeg"), fields: ["If-Match": tag])
public struct UploadRequest: Sendable {
    /// The most bytes that are kept of an answer's body, unless a request says otherwise: 16 MiB.
    public static let standardAnswerLimit = 16 * 1024 * 1024

    /// Where it goes: https or http. A user's name and password that stood in it are in ``fields``.
    public let url: URL
    /// What is asked for.
    public let method: HTTPMethod
    /// What is sent; nil for nothing.
    public let body: UploadBody?
    /// Header fields of the caller's own, such as `If-Match`. A redirect to another origin does not get them. The length and
    /// the transfer encoding are not theirs to say.
    public var fields: HTTPFields
    /// The most bytes that are kept of the answer's body.
    public var answerLimit = standardAnswerLimit
    /// Whether the request may reach the server twice, and so is sent again when its answer is lost. Default: whether its method
    /// is idempotent. A POST that names what it makes may be, and so may a PATCH with `If-Match`.
    public var mayBeRepeated: Bool
    /// Whether 500 is an answer to this request and no failure of the server that may pass, as in SOAP, whose faults all have it
    /// (SOAP 1.1 section 6.2). Default: no.
    package var isAnsweredBy500 = false

    /// A request of these parts.
    /// - Parameters:
    ///   - url: where to send it.
    ///   - method: what the server is to do with it.
    ///   - body: what is sent; nil for nothing.
    ///   - fields: header fields of the caller's own. Default: none.
    public init(
        url: URL, _ method: HTTPMethod, _ body: UploadBody? = nil, fields: HTTPFields = HTTPFields()
    ) {
        var fields = fields
        self.url = ImageRequest.movingCredentials(of: url, into: &fields)
        self.method = method
        mayBeRepeated = method.isIdempotent
        self.body = body
        self.fields = fields
    }

    /// A request for a URL as a person types it: `URL(typed:relativeTo:)` says how it is read.
    /// - Parameters:
    ///   - text: the URL, as a person types it.
    ///   - method: what the server is to do with it.
    ///   - body: what is sent; nil for nothing.
    ///   - fields: header fields of the caller's own. Default: none.
    /// - Throws: `.invalidURL`, `.unsupportedScheme`.
    public init(
        _ text: String, _ method: HTTPMethod, _ body: UploadBody? = nil, fields: HTTPFields = HTTPFields()
    ) throws(ImageLoadingError) {
        self.init(url: try URL(typed: text), method, body, fields: fields)
    }
}

/// What a server answered to a request that wrote. A status of 400 and more is an answer like any other.
public struct UploadResponse: Sendable {
    /// Status and header.
    public let head: ResponseHead
    /// The answer's body, as far as it was kept.
    public let body: [UInt8]
    /// Whether that is all of it: not where it exceeds the request's limit, or broke off behind the header.
    public let isWhole: Bool
    /// Where the answer came from, after redirects.
    public let url: URL

    /// The answer's status.
    public var status: Int { head.status }
    /// The answer's header.
    public var fields: HTTPFields { head.fields }
}
