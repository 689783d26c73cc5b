import FoundationEssentials
import LazyImages

// The Swift of the article Extending, word for word except for the indentation. The decoder is in LibraryConsumer.

struct Sepia: ImageProcessing {
    /// How strong it is, 0 to 1.
    let strength: Double
    // Part of the cache key: it has the parameters, and a version that grows when the pixels change.
    var identifier: String { "sepia 1 \(strength)" }

    func process(_ image: Bitmap) throws -> Bitmap {
        var pixels = image.pixels
        for index in stride(from: 0, to: pixels.count, by: 4) {
            let level =
                Double(pixels[index]) * 0.3 + Double(pixels[index + 1]) * 0.6 + Double(pixels[index + 2])
                * 0.1
            for (channel, part) in [1.0, 0.9, 0.7].enumerated() {
                let old = Double(pixels[index + channel])
                pixels[index + channel] = UInt8(old + (min(level * part, 255) - old) * strength)
            }
        }
        return Bitmap(width: image.width, height: image.height, pixels: pixels, damage: image.damage)
    }
}

/// Answers from memory, for tests of a program.
struct CannedTransport: Transport {
    let files: [String: [UInt8]]

    func perform(
        _ request: TransportRequest, into receiver: any BodyReceiver
    ) async throws(ImageLoadingError) -> ResponseHead {
        guard let file = files[request.url.path] else { return ResponseHead(status: 404) }
        let head = ResponseHead(
            status: 200, fields: ["Content-Length": "\(file.count)", "Cache-Control": "max-age=60"])
        // False: the receiver wants no more.
        if receiver.receive(head) { _ = receiver.receive(file.span) }
        return head
    }
}

/// Tries a server that is busy five times, once a second, and nothing else.
struct Patient: RetryStrategy {
    func pause(after attempt: FailedAttempt) async -> Duration? {
        guard case .status(503) = attempt.reason, attempt.attempts < 5 else { return nil }
        return .seconds(attempt.retryAfter ?? 1)
    }
}

enum ExtendingExamples {
    static func process(_ url: URL) -> ImageRequest {
        ImageRequest(url, processors: [.resize(width: 200), Sepia(strength: 0.8)])
    }

    static func test(_ poster: [UInt8]) -> ImageLoader {
        let loader = ImageLoader(disk: nil, transport: CannedTransport(files: ["/posters/1.jpg": poster]))
        return loader
    }

    static func sign(
        _ key: [UInt8], _ signature: @escaping @Sendable (String, [UInt8]) -> String
    ) -> ImageLoader {
        var configuration = ImageLoader.Configuration()
        configuration.retryStrategy = Patient()
        configuration.authenticator = Household()
        configuration.beforeSending = { request in
            // For each attempt, also of an upload. It may wait, for a token for example.
            request.fields["X-Time"] = "\(Int(Date.now.timeIntervalSince1970))"
            request.fields["X-Signature"] = signature("\(request.method.rawValue) \(request.url.path)", key)
        }
        let loader = ImageLoader(configuration: configuration)
        return loader
    }
}
