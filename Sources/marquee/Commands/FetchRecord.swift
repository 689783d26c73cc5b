import FoundationEssentials
import LazyImages

/// What became of one address: a line of `fetch`, and its object in `fetch --json`.
struct FetchRecord: Encodable, Sendable {
    struct ErrorRecord: Encodable, Sendable {
        let code: String
        let message: String
    }

    let url: String
    let outcome: String
    var status: Int?
    var bytes: Int?
    var format: String?
    var width: Int?
    var height: Int?
    let milliseconds: Double
    var sha256: String?
    var error: ErrorRecord?

    init(_ image: LoadedFile, of url: String, duration: Duration, wantsChecksum: Bool) {
        self.url = url
        outcome = image.source.rawValue
        status = image.status
        bytes = image.bytes.count
        format = image.header?.format.rawValue
        width = image.header?.size?.width
        height = image.header?.size?.height
        milliseconds = duration.milliseconds
        sha256 = wantsChecksum ? image.bytes.checksum : nil
    }

    init(_ failure: ImageLoadingError, of url: String, duration: Duration) {
        self.url = url
        outcome = "failed"
        if case .httpStatus(_, let status) = failure { self.status = status }
        milliseconds = duration.milliseconds
        error = ErrorRecord(code: failure.code, message: failure.advised)
    }

    /// What was asked for is not in the catalogue: there is no address, only the user's own word for it.
    init(_ failure: Failure, of word: String) {
        url = word
        outcome = "failed"
        milliseconds = 0
        error = ErrorRecord(code: failure.code, message: failure.description)
    }

    /// Loads what `text` names and records how that went; the image too, if there is one.
    static func fetching(
        _ text: String, at place: Place?, with loader: FileLoader, _ session: Session
    ) async -> (record: FetchRecord, image: LoadedFile?) {
        let clock = ContinuousClock()
        let start = clock.now
        var shown = text
        do throws(ImageLoadingError) {
            let request = try session.request(for: text, at: place)
            shown = request.url.displayText
            let image = try await loader.file(for: request)
            let duration = clock.now - start
            session.output.detail("\(shown): \(image.source.rawValue), \(duration.milliseconds) ms")
            return (
                FetchRecord(
                    image, of: shown, duration: duration, wantsChecksum: session.settings.wantsChecksum),
                image
            )
        } catch {
            return (FetchRecord(error, of: shown, duration: clock.now - start), nil)
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
