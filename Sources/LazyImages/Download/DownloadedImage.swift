import FoundationEssentials
import HTTPSemantics
import ImageCodecs

/// What a transfer brought: the bytes, checked to be a whole image, and how the server presented them.
struct DownloadedImage: Sendable {
    /// The body.
    private(set) var bytes = ImageBytes([])
    /// Format and size; nil only for what is no image, where any content is accepted.
    private(set) var header: ImageHeader?
    /// The answer's status and header.
    let head: ResponseHead
    /// Where the answer came from, after redirects.
    let url: URL

    /// How many of the bytes an earlier transfer had brought.
    var offset = 0
    /// When the head came, in seconds since 1970, and how many seconds after it was asked for.
    var received = 0
    var delay = 0
    /// Whether the request had Authorization.
    var isAuthorised = false
    /// The redirects that led to it.
    var steps: [RedirectStep] = []

    /// An answer without its body.
    init(head: ResponseHead, url: URL) {
        self.head = head
        self.url = url
    }

    /// An image that was read and not fetched.
    init(
        checking bytes: ImageBytes, by decoders: ImageDecoders, url: URL, acceptsAnyContent: Bool
    ) throws(ImageLoadingError) {
        self.init(head: ResponseHead(status: 200), url: url)
        try take(bytes, checkedBy: decoders, acceptsAnyContent: acceptsAnyContent)
    }

    /// Takes the body. Checks that it is an image, by what it is and not by what the server calls it, and a whole one.
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
    /// What the header of an image says that is all there, in a format that is decoded or known.
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
    /// What bytes that are no image look like, in a few words.
    static func description(ofBeginning bytes: Span<UInt8>) -> String {
        var text = ""
        for index in 0..<min(bytes.count, 24) {
            let byte = bytes[index]
            guard byte < 0x7F, byte >= 0x20 || byte == 0x0A || byte == 0x0D || byte == 0x09 else {
                return "it begins with bytes of no known format"
            }
            text.unicodeScalars.append(byte >= 0x20 ? Unicode.Scalar(byte) : " ")
        }
        if text.lowercased().contains("<html") || text.lowercased().hasPrefix("<!doctype") {
            return "it is a web page"
        }
        return "it is text that begins with \"\(text)\""
    }
}

extension DownloadedImage {
    /// What a request's own closure gives, as an answer that does not grow old: the tiers keep it by the rules for others.
    /// - Throws: `.dataFailed`, `.empty`, `.tooLarge`, `.notAnImage`, `.truncated`, and any error of the library's own
    ///   that the closure throws.
    init(
        from data: ImageRequest.DataClosure, of url: URL, _ configuration: ImageDownloader.Configuration
    ) async throws(ImageLoadingError) {
        let bytes: [UInt8]
        do {
            bytes = try await data()
        } catch {
            if Task.isCancelled { throw .cancelled(url: url.displayText) }
            // An error of ours says more than its text. That somebody else's load was cancelled is a failure of this one.
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
