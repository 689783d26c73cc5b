import BackgroundTransfers
import LazyImages
import PictureService

/// The result for one address: a line of `fetch`, and an object of `fetch --json`. `JSONHelp` lists its members.
struct FetchRecord: Encodable, Sendable {
    struct ErrorRecord: Encodable, Sendable {
        let code: String
        let message: String

        init(_ failure: Failure) { (code, message) = (failure.code, failure.description) }

        init(code: String, message: String) { (self.code, self.message) = (code, message) }
    }

    private(set) var url: String
    private(set) var outcome: String
    var status: Int?
    var bytes: Int?
    var format: String?
    var width: Int?
    var height: Int?
    /// Counted from the transfer's start.
    let milliseconds: Double
    /// How long the transfer was queued before that, in milliseconds.
    let queued: Double
    var sha256: String?
    /// What the picture lacks, and where; nil for a whole one.
    private(set) var damage: String?
    /// The path of the written file.
    private(set) var file: String?
    /// Whether another file of this name was there, and was kept.
    private var isKept = false
    private(set) var error: ErrorRecord?

    private init(_ url: String, _ outcome: String, _ header: ImageHeader?, _ timing: LoadTiming) {
        (self.url, self.outcome) = (url, outcome)
        format = header?.format.name
        width = header?.size?.width
        height = header?.size?.height
        milliseconds = timing.own.milliseconds
        queued = timing.queued.milliseconds
    }

    init(_ image: LoadedFile, of url: String, timing: LoadTiming, wantsChecksum: Bool) {
        self.init(url, "\(image.source)", image.header, timing)
        status = image.status
        bytes = image.bytes.count
        damage = image.damage?.description
        sha256 = wantsChecksum ? image.bytes.checksum : nil
    }

    /// A picture from memory. Nothing more is known of its file.
    init(_ image: LoadedImage, of url: String, timing: LoadTiming) {
        self.init(url, "\(image.source)", image.header, timing)
    }

    /// The result of one image of a job.
    init(_ result: JobResult) {
        url = result.url
        outcome = result.outcome
        status = result.status
        bytes = result.bytes
        format = result.format
        width = result.width
        height = result.height
        milliseconds = (result.milliseconds * 10).rounded() / 10
        queued = (result.queued * 10).rounded() / 10
        sha256 = result.sha256
        damage = result.damage
        error = result.error.map { ErrorRecord(code: $0.code, message: $0.message) }
    }

    init(_ failure: ImageLoadingError, of url: String, timing: LoadTiming = .none) {
        self.init(url, "failed", nil, timing)
        if case .httpStatus(_, let status) = failure { self.status = status }
        error = ErrorRecord(Failure(failure))
    }

    /// The catalogue has no such film, so there is only the user's word and no address.
    init(_ failure: Failure, of word: String) {
        self.init(word, "failed", nil, .none)
        error = ErrorRecord(failure)
    }

    /// Describes the picture made from the file instead of the file.
    mutating func describe(_ picture: Picture, wantsChecksum: Bool) {
        bytes = picture.bytes.count
        format = picture.format.name
        width = picture.size.width
        height = picture.size.height
        damage = picture.damage?.description
        sha256 = wantsChecksum ? picture.bytes.checksum : nil
    }

    /// The same record. A pipe has the name that the user knows.
    func naming(_ target: FetchTarget) -> FetchRecord {
        var record = self
        record.url = target.naming(url)
        record.error = error.map { ErrorRecord(code: $0.code, message: target.naming($0.message)) }
        return record
    }

    /// Sets where the file is.
    mutating func setFile(_ written: WrittenFile) {
        file = written.path
        isKept = written.outcome == .kept
    }

    /// `jpeg  500 x 750  42250 bytes  network  12.3 ms  https://example.org/a.jpg  to posters/a.jpg`
    var line: String {
        let place = file.map { isKept ? "\($0) is there and is kept" : "to \($0)" }
        let damage = damage.map { "damaged: \($0)" }
        return [summary, url, place, damage].compactMap(\.self).joined(separator: "  ")
    }

    private enum CodingKeys: String, CodingKey {
        case url, outcome, status, bytes, format, width, height, milliseconds, queued, sha256, damage, file,
            error
    }

    /// Marks a loaded file as failed, because it could not be written.
    mutating func fail(_ failure: Failure) {
        outcome = "failed"
        error = ErrorRecord(failure)
    }

    /// Whether it was cancelled because the program is ending.
    var isCancelled: Bool { error?.code == "cancelled" }

    /// Loads the file of a request and records the result. Returns the file too, if there is one.
    static func fetching(
        _ request: ImageRequest, with loader: FileLoader, _ session: Session
    ) async -> (record: FetchRecord, file: LoadedFile?) {
        let (loaded, timing) = await loader.timedFile(for: request)
        switch loaded {
        case .success(let file): return (FetchRecord(file, of: request, timing, session), file)
        case .failure(let error):
            return (FetchRecord(error, of: request.url.displayText, timing: timing), nil)
        }
    }

    /// Loads the picture of a request, as the browser does, and records how its file was loaded. A file that cannot be
    /// decoded is not a failure of the record.
    static func fetching(
        _ request: ImageRequest, with loader: ImageLoader, _ session: Session
    ) async -> (record: FetchRecord, image: Result<LoadedImage, ImageLoadingError>) {
        let (image, file, timing) = await loader.timedImage(for: request)
        let url = request.url.displayText
        var record: FetchRecord
        switch (file, image) {
        case (let file?, _): record = FetchRecord(file, of: request, timing, session)
        case (nil, .success(let loaded)): record = FetchRecord(loaded, of: url, timing: timing)
        case (nil, .failure(let error)): record = FetchRecord(error, of: url, timing: timing)
        }
        if case .success(let loaded) = image, let damage = loaded.damage {
            record.damage = damage.description
        }
        return (record, image)
    }

    private init(_ file: LoadedFile, of request: ImageRequest, _ timing: LoadTiming, _ session: Session) {
        let url = request.url.displayText
        session.output.detail("\(url): \(file.source), \(timing.own.milliseconds) ms")
        self.init(file, of: url, timing: timing, wantsChecksum: session.settings.wantsChecksum)
    }

    /// The warning of a command that shows the picture; nil for a whole one.
    var warning: String? { damage.map { "\(url): \($0); what there is of the picture is shown" } }

    /// `jpeg  500 x 750  42250 bytes  network  12.3 ms`
    var summary: String {
        if error != nil { return "failed" }
        return [
            format ?? "file", size, bytes.map { "\($0) bytes" }, outcome,
            "\(milliseconds.formatted(decimals: 1)) ms",
            sha256,
        ].compactMap(\.self).joined(separator: "  ")
    }

    /// `jpeg  500 x 750`, and the checksum if the user wants it.
    var shortSummary: String {
        error != nil ? "failed" : [format ?? "file", size, sha256].compactMap(\.self).joined(separator: "  ")
    }

    private var size: String? { width.flatMap { width in height.map { "\(width) x \($0)" } } }
}

extension LoadTiming {
    /// The timing of a load that was not tried.
    static let none = LoadTiming(total: .zero, queued: .zero)
}

extension Duration {
    /// To a tenth of a millisecond.
    var milliseconds: Double { (seconds * 10_000).rounded() / 10 }
}
