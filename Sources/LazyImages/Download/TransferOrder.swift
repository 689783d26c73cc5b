import FoundationEssentials
import HTTPSemantics

/// What a transfer must get: the file that the request names, or the confirmation of the stored one.
final class TransferOrder: Sendable {
    let request: ImageRequest
    /// The stored file; nil if there is none.
    let stored: LoadedFile?
    /// The key by which transfers are shared.
    let key: CacheKey
    /// Sent only to the URL of the stored answer, or to the first URL of a request with an id.
    let conditions: HTTPFields
    /// Whether the transfer revalidates the stored file.
    let revalidates: Bool
    /// A stored permanent redirect, to start at its target instead of at the request's URL.
    let move: StoredResponse.PermanentMove?

    /// Gets the whole file.
    /// - Parameter stored: the file that the answer replaces.
    init(_ request: ImageRequest, replacing stored: LoadedFile?) {
        self.request = request
        self.stored = stored
        key = request.transferKey
        conditions = HTTPFields()
        revalidates = false
        move = nil
    }

    /// Revalidates the stored file.
    init(_ request: ImageRequest, revalidating stored: LoadedFile, _ response: StoredResponse, now: Int) {
        self.request = request
        self.stored = stored
        revalidates = true
        conditions = Validators(response.fields)?.conditions ?? HTTPFields()
        // A stored redirect belongs to the old URL: a request with an id may have another URL by now.
        move = request.id == nil ? response.moved.flatMap { now < $0.until ? $0 : nil } : nil
        var about = conditions.fields.map { "\($0.name): \($0.value)" }
        if let move { about.append(move.url) }
        key =
            about.isEmpty
            ? request.transferKey : request.transferKey.variant("if " + about.joined(separator: ", "))
    }

    /// Whether the request has no conditions and no range: only then a partial body can be resumed.
    var mayResume: Bool {
        conditions.isEmpty
            && (request.fields.isEmpty
                || (Validators.conditional + ["range"]).allSatisfy { request.fields[$0] == nil })
    }

    /// The stored file, if the answer is a 304 to the order's own conditions and confirms it (RFC 9111 section 4.3.4).
    func confirmed(by answer: DownloadedImage) -> (file: LoadedFile, response: StoredResponse)? {
        guard answer.head.status == 304, !conditions.isEmpty, let stored, let response = stored.response,
            Validators(response.fields)?.areConfirmed(by: answer.head.fields) == true
        else { return nil }
        return (stored, response)
    }
}
