/// What one transfer's body has to do with parts: the one it goes on with, if there is one, and where to keep its own if
/// it breaks.
final class BodyParts: Sendable {
    /// Bodies of this many bytes and more are written to their file as they come, so that they outlive the process;
    /// smaller ones only when their transfer breaks.
    static let threshold = 1024 * 1024
    /// Smaller parts are not worth a file.
    static let smallest = 4096
    /// What room is made for a body that does not tell its length.
    private static let assumedLength = 8 * 1024 * 1024

    /// How to go on with what there is; nil to begin.
    let plan: ResumePlan?
    private let path: String
    private let limit: Int
    private let name: String
    private let source: String
    private let existing: Lock<PartialFile?>

    /// Looks for what an earlier transfer left. Blocks for a few calls of the system.
    /// - Parameters:
    ///   - path: the folder of parts.
    ///   - limit: the most bytes all parts may have.
    ///   - key: what is asked for.
    ///   - source: where the transfer goes; a part from elsewhere is not gone on with.
    init(path: String, limit: Int, key: CacheKey, source: String) {
        self.path = path
        self.limit = limit
        self.source = source
        name = key.digest.hexadecimal
        let file = PartialFolder(path: path, limit: limit, isForWriting: false)
            .flatMap { [name] in PartialFile.opening(name: name, in: $0) }
        guard let file, file.response.url == source, file.count > 0,
            let validator = Validators.strong(file.response.fields, now: file.response.received)
        else {
            plan = nil
            existing = Lock(nil)
            return
        }
        plan = ResumePlan(offset: file.count, total: file.total, validator: validator)
        existing = Lock(file)
    }

    /// Hands the part over to the body that goes on with it; the second time there is none.
    func takeExisting() -> PartialFile? { existing.withLock { $0.take() } }

    /// Lets go of the part, so that another can be written in its place.
    func forget() { existing.withLock { $0 = nil } }

    /// The part is of no use to anybody.
    func discard() {
        existing.withLock { file in
            file?.remove()
            file = nil
        }
    }

    /// A file for a body that begins; nil if its answer has nothing by which it could be gone on with.
    func begin(_ head: ResponseHead, total: Int?, now: Int) -> PartialFile? {
        guard head.status == 200, Validators.strong(head.fields, now: now) != nil,
            head.fields["accept-ranges"]?.equalsIgnoringCase("none") != true,
            Storability.allows(head, directives: CacheControl([:])),
            let folder = PartialFolder(path: path, limit: limit, isForWriting: true),
            folder.makeRoom(for: total ?? Self.assumedLength)
        else { return nil }
        forget()
        let response = StoredResponse(head, address: source, received: now)
        return PartialFile.beginning(response, total: total, name: name, in: folder)
    }
}
