import FoundationEssentials
import HTTPSemantics
import ImageCodecs

/// The answer of a transfer. Its body is checked to be a complete image.
struct DownloadedImage: FetchAnswer {
    /// The body.
    private(set) var bytes = ImageBytes([])
    /// Format and size; nil only for a body that is not an image, if any content is accepted.
    private(set) var header: ImageHeader?
    /// The status and header of the answer.
    let head: ResponseHead
    /// The URL after redirects.
    let url: URL

    /// The bytes of the resumed partial body.
    var offset = 0
    /// When the head arrived, in seconds since 1970, and how many seconds after the request was sent.
    var received = 0
    var delay = 0
    /// Whether the request had an Authorization field.
    var isAuthorised = false
    /// The redirects that led to it.
    var steps: [RedirectStep] = []

    /// An answer without its body.
    init(head: ResponseHead, url: URL) {
        self.head = head
        self.url = url
    }

    /// A file that was read locally.
    init(
        checking bytes: ImageBytes, by decoders: ImageDecoders, url: URL, acceptsAnyContent: Bool
    ) throws(ImageLoadingError) {
        self.init(head: ResponseHead(status: 200), url: url)
        try take(bytes, checkedBy: decoders, acceptsAnyContent: acceptsAnyContent)
    }

    /// Sets the body. Checks by its bytes, not by its Content-Type, that it is a complete image.
    /// - Throws: `.notAnImage`, `.truncated`.
    mutating func take(
        _ bytes: ImageBytes, checkedBy decoders: ImageDecoders, acceptsAnyContent: Bool
    ) throws(ImageLoadingError) {
        self.bytes = bytes
        do {
            header = try bytes.wholeImageHeader(by: decoders)
        } catch {
            if acceptsAnyContent { return }
            switch error {
            case .truncated: throw .truncated(url: url.displayText, received: bytes.count, expected: nil)
            case .unrecognised:
                let beginning = bytes.withBytes { ImageLoadingError.description(ofBeginning: $0) }
                throw .notAnImage(url: url.displayText, reason: beginning)
            default: throw .notAnImage(url: url.displayText, reason: error.description)
            }
        }
    }
}

extension ImageBytes {
    /// The header of a complete image in a known format.
    func wholeImageHeader(by decoders: ImageDecoders) throws(ImageDecodingError) -> ImageHeader {
        let result: Result<ImageHeader, ImageDecodingError> = withBytes { bytes in
            do throws(ImageDecodingError) {
                return .success(try decoders.wholeHeader(of: bytes))
            } catch {
                return .failure(error)
            }
        }
        return try result.get()
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

extension DownloadedImage {
    /// The bytes of a request's closure, as an answer that stays fresh: the tiers treat it like other answers.
    /// - Throws: `.dataFailed`, `.empty`, `.tooLarge`, `.notAnImage`, `.truncated`, and any `ImageLoadingError` that
    ///   the closure throws.
    init(
        from data: ImageRequest.DataClosure, of url: URL, _ configuration: ImageDownloader.Configuration
    ) async throws(ImageLoadingError) {
        let bytes: [UInt8]
        do {
            bytes = try await data()
        } catch {
            if Task.isCancelled { throw .cancelled(url: url.displayText) }
            // An `ImageLoadingError` passes through. But `.cancelled`, from another load inside the closure, is a
            // failure of this one.
            if let error = error as? ImageLoadingError, error.code != "cancelled" { throw error }
            throw .dataFailed(url: url.displayText, reason: "\(error)")
        }
        if bytes.isEmpty { throw .empty(url: url.displayText) }
        guard bytes.count <= configuration.maximumBytes else {
            throw .tooLarge(url: url.displayText, limit: configuration.maximumBytes)
        }
        let fields: HTTPFields = ["Cache-Control": "max-age=\(CacheControl.maximumSeconds)"]
        self.init(head: ResponseHead(status: 200, fields: fields), url: url)
        try take(
            ImageBytes(bytes), checkedBy: configuration.decoders,
            acceptsAnyContent: configuration.acceptsAnyContent)
    }
}
