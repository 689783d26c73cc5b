import FoundationEssentials
import LazyImages
import Observation

/// The Swift of the other articles, word for word except for the indentation.
enum ArticleExamples {
    static func cachePolicies(_ signedURL: URL) -> [ImageRequest] {
        let offline = ImageRequest(
            "https://example.org/posters/1.jpg", cachePolicy: .cacheOnly)
        let signed = ImageRequest(url: signedURL, id: "poster-7")
        let tracked = ImageRequest(
            "https://example.org/a.jpg?utm_source=mail", options: .init(ignoredQuery: .tracking))
        let session = ImageRequest(
            "https://example.org/a.jpg?session=7&sig_x=1",
            options: .init(ignoredQuery: IgnoredQuery(["session", "sig_*"])))
        let german = ImageRequest(
            "https://example.org/a.jpg", options: .init(fields: ["Accept-Language": "de"]))
        let all = ImageRequest(
            url: signedURL, id: "poster-7", targetSize: ImageSize(width: 200, height: 300),
            contentMode: .fill(.top),
            processors: [.circle()], priority: .high, cachePolicy: .reload,
            options: .init(
                usesMemory: true, usesDisk: true, timeLimit: .seconds(20), decoders: nil,
                fields: ["Accept-Language": "de"],
                checksum: nil, acceptsDamage: false, variant: nil, ignoredQuery: .tracking, alternatives: []))
        return [offline, signed, tracked, session, german, all]
    }

    static func tiers() -> [ImageLoader] {
        let shared = ImageLoader(disk: DiskCache(folder: "/var/cache/posters", limit: 2 << 30))
        let small = ImageLoader(memory: MemoryCache(limit: 32 << 20))
        let withoutTrace = ImageLoader.ephemeral()  // nothing touches the disk
        let memory = MemoryCache<LoadedImage>(
            limit: 64 << 20, entryLimit: 8 << 20, timeToLive: .seconds(3600))
        let careful = ImageLoader(memory: memory, decodingLimits: DecodingLimits(pixels: 50_000_000))
        return [shared, small, withoutTrace, careful]
    }

    static func team(_ key: [UInt8]) throws -> ImageLoader {
        let address = try SharedTier.Address("http://cache.example.org/posters")
        // The key is the same on every machine: 32 random bytes or more.
        let team = try ImageLoader(shared: SharedTier(address, keys: [key]))
        return team
    }

    static func transfers() -> ImageLoader {
        var configuration = ImageLoader.Configuration()
        configuration.transfersPerHost = 12
        configuration.timeouts = Timeouts(connect: .seconds(5), firstByte: .seconds(10), total: .seconds(60))
        configuration.retry = RetryPolicy(attempts: 5, firstPause: .milliseconds(500))  // or .never
        configuration.security = SecurityPolicy(insecureHosts: ["nas.local"])
        let strict = ImageLoader(configuration: configuration)
        return strict
    }

    static func scroll(_ model: ImageListModel) async {
        model.scrollPhase = .dragging  // nothing new starts; images in memory are shown at once
        model.setVisible(40..<50)
        model.scrollPhase = .decelerating
        model.setVisible(60..<70, focus: 62)
        model.scrollPhase = .idle  // all visible rows load, the focus first
    }

    static func scrollWithoutWaiting(_ model: ImageListModel) -> RowObservation {
        let observation = model.observe { update in print(update.rows, update.state) }  // on any thread
        return observation
    }

    static func show(_ update: RowUpdate, _ model: ImageListModel) {
        switch update.state {
        case .placeholder: print("no image yet, or the row is neither visible nor in the page ahead")
        case .loading(let progress, let preview): print(progress.received, preview?.bitmap ?? "no preview")
        case .loaded(let image): print(image)
        case .failed(let error, let isRetryable): print(error, isRetryable)
        }
        let counters = model.counters
        print(
            counters.visible, counters.running, counters.deferred, counters.prefetching, counters.failed,
            counters.started)
    }

    static func longList(_ model: ImageListModel) async {
        let films = ListRows(count: 100_000) { row in
            ImageRequest(id: "film-\(row)") { [UInt8]() }
        }
        model.setRows(films, visible: 0..<10)
    }

    static func fail(_ loader: ImageLoader, _ request: ImageRequest) {
        Task {
            do throws(ImageLoadingError) {
                print(try await loader.image(for: request).bitmap.size)
            } catch .cancelled {
                return
            } catch {
                print(error.url ?? "", error.code, error.isRetryable, error)
            }
        }
    }

    static func showOne(
        _ loader: ImageLoader, _ request: ImageRequest, redraw: @escaping @Sendable () -> Void
    ) {
        let poster = LazyImage(loader)  // placeholder: grey, failurePicture: broken
        poster.load(request)
        withObservationTracking {
            switch poster.state {
            case .placeholder, .loading: print("nothing yet", poster.bitmap ?? "no picture")
            case .loaded(let image): print(image.bitmap)
            case .failed(let error, let isRetryable): print(error, isRetryable)
            }
        } onChange: {
            redraw()  // called before the change, on its thread: ask the program's main loop to draw
        }
        poster.retry()  // after a failure
    }
}

struct Household: HTTPAuthenticator {
    func credential(for challenge: AuthenticationChallenge) async -> Credential? {
        // A second challenge means that the first answer was wrong.
        challenge.isRepeated ? nil : .password(user: "anna", password: "s3cret")
    }
}

struct Member: HTTPAuthenticator {
    let token: String
    func credential(for challenge: AuthenticationChallenge) async -> Credential? {
        challenge.isRepeated ? nil : .token(token)
    }
    func tokenToSend(to origin: URL) async -> String? { origin.host == "images.example.org" ? token : nil }
}
