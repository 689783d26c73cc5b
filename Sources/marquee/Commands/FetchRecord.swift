import FoundationEssentials
import LazyImages

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
    /// How long the transfer waited for its place before, in milliseconds.
    let queued: Double
    var sha256: String?
    /// Where it was written.
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

    /// Marks a loaded file as failed: it could not be written.
    mutating func fail(_ failure: Failure) {
        outcome = "failed"
        error = ErrorRecord(code: failure.code, message: failure.description)
    }

    /// Whether it was given up because the program is to end.
    var isCancelled: Bool { error?.code == "cancelled" }

    /// Loads what `text` names and records how that went; the image too, if there is one.
    static func fetching(
        _ text: String, relativeTo base: BaseURL?, with loader: FileLoader, _ session: Session
    ) async -> (record: FetchRecord, image: LoadedFile?) {
        do throws(ImageLoadingError) {
            return await fetching(try session.request(for: text, relativeTo: base), with: loader, session)
        } catch {
            return (FetchRecord(error, of: text), nil)
        }
    }

    /// As above, for a request that is made already.
    static func fetching(
        _ request: ImageRequest, with loader: FileLoader, _ session: Session
    ) async -> (record: FetchRecord, image: LoadedFile?) {
        let (loaded, timing) = await loader.timedFile(for: request)
        let url = request.url.displayText
        switch loaded {
        case .success(let image):
            session.output.detail("\(url): \(image.source.rawValue), \(timing.own.milliseconds) ms")
            let wantsChecksum = session.settings.wantsChecksum
            return (FetchRecord(image, of: url, timing: timing, wantsChecksum: wantsChecksum), image)
        case .failure(let error): return (FetchRecord(error, of: url, timing: timing), nil)
        }
    }

    /// `jpeg  500 x 750  42250 bytes  network  12.3 ms`
    var summary: String {
        if error != nil { return "failed" }
        let size = width.flatMap { width in height.map { "\(width) x \($0)" } }
        return [
            format ?? "file", size, bytes.map { "\($0) bytes" }, outcome,
            "\(milliseconds.formatted(decimals: 1)) ms",
            sha256,
        ].compactMap(\.self).joined(separator: "  ")
    }
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
