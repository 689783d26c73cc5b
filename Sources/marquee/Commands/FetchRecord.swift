import FoundationEssentials
import LazyImages
import PictureService

/// What became of one address: a line of `fetch`, and its object in `fetch --json`. `JSONHelp` has its members.
struct FetchRecord: Encodable, Sendable {
    struct ErrorRecord: Encodable, Sendable {
        let code: String
        let message: String
    }

    let url: String
    private(set) var outcome: String
    var status: Int?
    var bytes: Int?
    var format: String?
    var width: Int?
    var height: Int?
    /// From the transfer's start.
    let milliseconds: Double
    /// How long the transfer waited for a slot before that, in milliseconds.
    let queued: Double
    var sha256: String?
    /// The path it was written to.
    var file: String?
    private(set) var error: ErrorRecord?

    init(_ image: LoadedFile, of url: String, timing: LoadTiming, wantsChecksum: Bool) {
        self.url = url
        outcome = image.source.rawValue
        status = image.status
        bytes = image.bytes.count
        format = image.header?.format.name
        width = image.header?.size?.width
        height = image.header?.size?.height
        milliseconds = timing.own.milliseconds
        queued = timing.queued.milliseconds
        sha256 = wantsChecksum ? image.bytes.checksum : nil
    }

    /// A picture that memory had: of its file no more is known.
    init(_ image: LoadedImage, of url: String, timing: LoadTiming) {
        self.url = url
        outcome = image.source.rawValue
        format = image.header.format.name
        width = image.header.size?.width
        height = image.header.size?.height
        milliseconds = timing.own.milliseconds
        queued = timing.queued.milliseconds
    }

    /// What became of an image of a job.
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
        error = result.error.map { ErrorRecord(code: $0.code, message: $0.message) }
    }

    init(_ failure: ImageLoadingError, of url: String, timing: LoadTiming = .none) {
        self.url = url
        outcome = "failed"
        if case .httpStatus(_, let status) = failure { self.status = status }
        milliseconds = timing.own.milliseconds
        queued = timing.queued.milliseconds
        error = ErrorRecord(code: failure.code, message: failure.advised)
    }

    /// What was asked for is not in the catalogue: there is no address, only the user's own word for it.
    init(_ failure: Failure, of word: String) {
        url = word
        outcome = "failed"
        milliseconds = 0
        queued = 0
        error = ErrorRecord(code: failure.code, message: failure.description)
    }

    /// Tells of the picture that was made of the file, not of the file.
    mutating func become(_ picture: Picture, wantsChecksum: Bool) {
        bytes = picture.bytes.count
        format = picture.format.name
        width = picture.size.width
        height = picture.size.height
        sha256 = wantsChecksum ? picture.bytes.checksum : nil
    }

    /// Marks a loaded file as failed: it could not be written.
    mutating func fail(_ failure: Failure) {
        outcome = "failed"
        error = ErrorRecord(code: failure.code, message: failure.description)
    }

    /// Whether it was given up because the program is to end.
    var isCancelled: Bool { error?.code == "cancelled" }

    /// Loads the file that `request` names and records how that went; the file too, if there is one.
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

    /// Loads the picture that `request` names, as the browser does, and records how its file came: a file that cannot be
    /// decoded is no failure of the record.
    static func fetching(
        _ request: ImageRequest, with loader: ImageLoader, _ session: Session
    ) async -> (record: FetchRecord, image: Result<LoadedImage, ImageLoadingError>) {
        let (image, file, timing) = await loader.timedImage(for: request)
        if let file { return (FetchRecord(file, of: request, timing, session), image) }
        let url = request.url.displayText
        switch image {
        case .success(let loaded): return (FetchRecord(loaded, of: url, timing: timing), image)
        case .failure(let error): return (FetchRecord(error, of: url, timing: timing), image)
        }
    }

    private init(_ file: LoadedFile, of request: ImageRequest, _ timing: LoadTiming, _ session: Session) {
        let url = request.url.displayText
        session.output.detail("\(url): \(file.source.rawValue), \(timing.own.milliseconds) ms")
        self.init(file, of: url, timing: timing, wantsChecksum: session.settings.wantsChecksum)
    }

    /// `jpeg  500 x 750  42250 bytes  network  12.3 ms`
    var summary: String {
        if error != nil { return "failed" }
        return [
            format ?? "file", size, bytes.map { "\($0) bytes" }, outcome,
            "\(milliseconds.formatted(decimals: 1)) ms",
            sha256,
        ].compactMap(\.self).joined(separator: "  ")
    }

    /// `jpeg  500 x 750`, and the checksum where it is wanted.
    var shortSummary: String {
        error != nil ? "failed" : [format ?? "file", size, sha256].compactMap(\.self).joined(separator: "  ")
    }

    private var size: String? { width.flatMap { width in height.map { "\(width) x \($0)" } } }
}

extension LoadTiming {
    /// Of what was not tried.
    static let none = LoadTiming(total: .zero, queued: .zero)
}

extension Duration {
    /// To the tenth.
    var milliseconds: Double { (seconds * 10_000).rounded() / 10 }
}

extension Double {
    /// `8.9`; in no language's manner but the plain one.
    func formatted(decimals: Int) -> String {
        var scale = 1.0
        for _ in 0..<decimals { scale *= 10 }
        guard magnitude < 1e15 / scale else { return "\(self)" }
        let digits = String(Int((magnitude * scale).rounded()))
        let padded = String(repeating: "0", count: max(0, decimals + 1 - digits.count)) + digits
        return (self < 0 ? "-" : "") + padded.dropLast(decimals) + (decimals > 0 ? "." : "")
            + padded.suffix(decimals)
    }
}
