import FoundationEssentials
import HTTPSemantics

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
