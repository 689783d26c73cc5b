import FoundationEssentials
import HTTPSemantics
import ImageCodecs

/// The answer of a transfer. Its body is checked to be a complete image.
final class DownloadedImage: FetchAnswer {
    /// The status and header of the answer.
    let head: ResponseHead
    /// The URL after redirects.
    let url: URL
    /// The body; empty for an answer whose body is not kept.
    let bytes: ImageBytes
    /// Format and size; nil only for a body that is not an image, if any content is accepted.
    let header: ImageHeader?
    /// The bytes of the resumed partial body.
    let offset: Int
    /// When the head arrived, in seconds since 1970, and how many seconds after the request was sent.
    let received: Int
    let delay: Int
    /// Whether the request had an Authorization field.
    let isAuthorised: Bool
    /// The redirects that led to it.
    let steps: [RedirectStep]

    /// - Parameter body: checked by its bytes, not by its Content-Type; nil if it is not kept.
    /// - Throws: `.notAnImage`, `.truncated`.
    init(
        _ head: ResponseHead, from url: URL, body: ImageBytes?,
        _ configuration: ImageDownloader.Configuration,
        offset: Int = 0, received: Int = 0, delay: Int = 0, isAuthorised: Bool = false,
        steps: [RedirectStep] = []
    ) throws(ImageLoadingError) {
        // Only an answer with 200 must be an image.
        let acceptsAnyContent = configuration.acceptsAnyContent || head.status != 200
        header = try body?.wholeImageHeader(
            by: configuration.decoders, url: url, acceptsAnyContent: acceptsAnyContent)
        bytes = body ?? ImageBytes([])
        self.head = head
        self.url = url
        self.offset = offset
        self.received = received
        self.delay = delay
        self.isAuthorised = isAuthorised
        self.steps = steps
    }
}

extension ImageBytes {
    /// The header of a complete image in a known format; nil for other content, if any is accepted.
    /// - Throws: `.notAnImage`, `.truncated`.
    func wholeImageHeader(
        by decoders: ImageDecoders, url: URL, acceptsAnyContent: Bool
    ) throws(ImageLoadingError) -> ImageHeader? {
        switch wholeImageHeader(by: decoders) {
        case .success(let header): return header
        case .failure where acceptsAnyContent: return nil
        case .failure(.truncated):
            throw .truncated(url: url.displayText, received: count, expected: nil)
        case .failure(.unrecognized):
            let beginning = withBytes { ImageLoadingError.description(ofBeginning: $0) }
            throw .notAnImage(url: url.displayText, reason: beginning)
        case .failure(let error): throw .notAnImage(url: url.displayText, reason: error.description)
        }
    }

    /// The header of a complete image in a known format.
    func wholeImageHeader(by decoders: ImageDecoders) -> Result<ImageHeader, ImageDecodingError> {
        withBytes { bytes in
            Result { () throws(ImageDecodingError) in try decoders.wholeHeader(of: bytes) }
        }
    }
}

extension ImageLoadingError {
    /// A short description of bytes that are not an image.
    static func description(ofBeginning bytes: Span<UInt8>) -> String {
        var text = ""
        for index in 0..<min(bytes.count, 24) {
            let byte = bytes[index]
            guard byte < 0x7F, byte >= 0x20 || byte == 0x0A || byte == 0x0D || byte == 0x09 else {
                return "its first bytes match no known format"
            }
            text.unicodeScalars.append(byte >= 0x20 ? Unicode.Scalar(byte) : " ")
        }
        if text.lowercased().contains("<html") || text.lowercased().hasPrefix("<!doctype") {
            return "it is a web page"
        }
        return "it is text: \"\(text)\""
    }
}

extension ImageLoadingError {
    /// The error of a load whose program's closure has failed. An `ImageLoadingError` passes through. But `.cancelled`, from
    /// another load inside the closure, is a failure of this one.
    init(ofClosure error: any Error, _ url: URL) {
        if Task.isCancelled {
            self = .cancelled(url: url.displayText)
        } else if let error = error as? ImageLoadingError, error.code != "cancelled" {
            self = error
        } else {
            self = .dataFailed(url: url.displayText, reason: "\(error)")
        }
    }
}

extension DownloadedImage {
    /// The bytes of a request's closure, as an answer that stays fresh: the tiers treat it like other answers.
    /// - Throws: `.dataFailed`, `.empty`, `.tooLarge`, `.notAnImage`, `.truncated`, and any `ImageLoadingError` that
    ///   the closure throws.
    convenience init(
        from data: ImageRequest.DataClosure, of url: URL, _ configuration: ImageDownloader.Configuration
    ) async throws(ImageLoadingError) {
        let bytes: [UInt8]
        do {
            bytes = try await data.bytes()
        } catch {
            throw ImageLoadingError(ofClosure: error, url)
        }
        if bytes.isEmpty { throw .empty(url: url.displayText) }
        guard bytes.count <= configuration.maximumBytes else {
            throw .tooLarge(url: url.displayText, limit: configuration.maximumBytes)
        }
        let fields: HeaderFields = ["Cache-Control": "max-age=\(CacheControl.maximumSeconds)"]
        try self.init(
            ResponseHead(status: 200, fields: fields), from: url, body: ImageBytes(bytes), configuration)
    }
}
