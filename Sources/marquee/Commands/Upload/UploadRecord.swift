import HTTPSemantics
import LazyImages

/// The result of an upload: the object of `upload --json`. `JSONHelp` lists its members.
struct UploadRecord: Encodable, Sendable {
    /// The address that answered; without an answer, the address of the request.
    private(set) var url: String
    let method: String
    private(set) var outcome = "failed"
    private(set) var status: Int?
    private(set) var sent: Int?
    private(set) var bytes: Int?
    private(set) var type: String?
    private(set) var location: String?
    private(set) var answer: String?
    private(set) var milliseconds: Double?
    private(set) var sha256: String?
    private(set) var error: FetchRecord.ErrorRecord?

    /// An upload that failed.
    init(_ method: HTTPMethod, to url: String, _ failure: Failure) {
        self.url = url
        self.method = method.rawValue
        error = FetchRecord.ErrorRecord(code: failure.code, message: failure.description)
    }

    /// An answer. Only 2xx means success.
    init(
        _ request: UploadRequest, _ response: UploadResponse, sent: Int, time: Duration, checksum: String?
    ) {
        url = response.url.displayText
        method = request.method.rawValue
        status = response.status
        self.sent = sent
        bytes = response.body.count
        type = response.fields["content-type"]
        location = response.fields["location"]
        answer = response.body.isEmpty ? nil : ReadableText.text(of: response.body, type: type)
        milliseconds = time.milliseconds
        sha256 = checksum
        if (200..<300).contains(response.status) {
            outcome = "sent"
        } else {
            let failure = Failure(ImageLoadingError.httpStatus(url: url, status: response.status))
            error = FetchRecord.ErrorRecord(code: failure.code, message: failure.description)
        }
    }

    /// `http://nas/a.jpg: 201 Created, 42250 bytes sent in 12.3 ms`
    var summary: String {
        let reason = status.map { " " + HTTPStatus(rawValue: $0).reason } ?? ""
        return "\(url): \(status ?? 0)\(reason), \(sent ?? 0) bytes sent in "
            + "\((milliseconds ?? 0).formatted(decimals: 1)) ms"
    }
}
