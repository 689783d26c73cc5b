import FoundationEssentials
import HTTPSemantics

/// What a transfer is to bring: what the request names, or word that what is stored of it still holds.
final class TransferOrder: Sendable {
    let request: ImageRequest
    /// What is stored; nil if nothing is.
    let stored: LoadedFile?
    /// What transfers are shared by.
    let key: CacheKey
    /// Sent where the stored answer came from, or where a request with an id begins, and nowhere else.
    let conditions: HTTPFields
    /// Whether word that what is stored still holds would do.
    let revalidates: Bool
    /// Where to begin instead of at the request's URL.
    let move: StoredResponse.PermanentMove?

    /// All of what the request names.
    /// - Parameter stored: what the answer replaces.
    init(_ request: ImageRequest, replacing stored: LoadedFile?) {
        self.request = request
        self.stored = stored
        key = request.transferKey
        conditions = HTTPFields()
        revalidates = false
        move = nil
    }

    /// What the request names, if it is another than what is stored.
    init(_ request: ImageRequest, revalidating stored: LoadedFile, _ response: StoredResponse, now: Int) {
        self.request = request
        self.stored = stored
        revalidates = true
        conditions = Validators(response.fields)?.conditions ?? HTTPFields()
        // A move is the old address's own: a request with an id may have another by now.
        move = request.id == nil ? response.moved.flatMap { now < $0.until ? $0 : nil } : nil
        var about = conditions.fields.map { "\($0.name): \($0.value)" }
        if let move { about.append(move.url) }
        key =
            about.isEmpty
            ? request.transferKey : request.transferKey.variant("if " + about.joined(separator: ", "))
    }

    /// Whether the answer is wanted whole and whatever it is: only then an earlier part of it can be resumed.
    var isPlain: Bool {
        conditions.isEmpty
            && (request.fields.isEmpty
                || (Validators.conditional + ["range"]).allSatisfy { request.fields[$0] == nil })
    }

    /// What is stored, if the answer is a 304 to our own conditions and confirms it (RFC 9111 section 4.3.4).
    func confirmed(by answer: DownloadedImage) -> (file: LoadedFile, response: StoredResponse)? {
        guard answer.head.status == 304, !conditions.isEmpty, let stored, let response = stored.response,
            Validators(response.fields)?.areConfirmed(by: answer.head.fields) == true
        else { return nil }
        return (stored, response)
    }
}
