import FoundationEssentials

/// What a transfer is to bring: what the request names, or word that what is stored of it still holds.
struct TransferOrder: Sendable {
    let request: ImageRequest
    /// What is stored; nil to ask without conditions.
    let stored: StoredResponse?
    /// What transfers are shared by.
    let key: CacheKey
    /// Sent where the stored answer came from, or where a request with an id begins, and nowhere else.
    let conditions: HTTPFields
    /// Where to begin instead of at the request's URL.
    let move: StoredResponse.PermanentMove?

    /// All of what the request names.
    init(_ request: ImageRequest) {
        self.request = request
        stored = nil
        key = request.transferKey
        conditions = HTTPFields()
        move = nil
    }

    /// What the request names, if it is another than what is stored.
    init(_ request: ImageRequest, revalidating stored: StoredResponse, now: Int) {
        let validators = Validators(stored.fields)
        self.request = request
        self.stored = stored
        conditions = validators?.conditions ?? HTTPFields()
        // A move is the old address's own: a request with an id may have another by now.
        move = request.id == nil ? stored.moved.flatMap { now < $0.until ? $0 : nil } : nil
        var about = conditions.fields.map { "\($0.name): \($0.value)" }
        if let move { about.append(move.url) }
        key =
            about.isEmpty
            ? request.transferKey : request.transferKey.variant("if " + about.joined(separator: ", "))
    }

    /// Whether the answer is wanted whole and whatever it is: only then it can be gone on with where it was.
    var isPlain: Bool {
        conditions.isEmpty
            && (request.fields.isEmpty
                || (Validators.conditional + ["range"]).allSatisfy { request.fields[$0] == nil })
    }
}
