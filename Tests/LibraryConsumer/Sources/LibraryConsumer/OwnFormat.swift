import LazyImages
import Synchronization

/// Gives the library a decoder and prints the effect: the format is requested, recognised, decoded, cached
/// and listed.
enum OwnFormat {
    static func load(_ request: ImageRequest, cachedIn folder: String) async throws {
        let decoders = ImageDecoders(ImageDecoders.standard.decoders + [PPMDecoder()])
        let transport = RecordingTransport(recording: ["Accept"])
        let configuration = ImageDownloader.Configuration(decoders: decoders)
        let loader = ImageLoader(
            disk: DiskCache(folder: folder), configuration: configuration, transport: transport)
        let image = try await loader.image(for: request)
        print("Accept: \(transport.recorded)")
        print("\(image.source): \(text(image)), \(image.bitmap.pixels.prefix(4))")
        await loader.flush()

        // A second loader, as in a new process, sends no request.
        let later = ImageLoader(disk: DiskCache(folder: folder), configuration: configuration)
        var cached = request
        cached.cachePolicy = .cacheOnly
        let found = try await later.image(for: cached)
        print("\(found.source): \(text(found)), \(found.bitmap.pixels.prefix(4))")

        print("list: \(try await listed(cached, by: later))")
        do {
            let without = ImageLoader(disk: nil)
            print("without the decoder: \(text(try await without.image(for: request)))")
        } catch {
            print("without the decoder: \(error.code)")
        }
    }

    /// The image that the only row of a list finally shows.
    private static func listed(_ request: ImageRequest, by loader: ImageLoader) async throws -> String {
        let model = ImageListModel(loader: loader, rows: [request])
        var updates = model.updates.makeAsyncIterator()
        model.setVisible(0..<1)
        while let update = await updates.next() {
            switch update.state {
            case .loaded(let image): return text(image)
            case .failed(let reason, _): throw reason
            case .placeholder, .loading: continue
            }
        }
        return "nothing"
    }

    private static func text(_ image: LoadedImage) -> String {
        "\(image.header.format) \(image.bitmap.width) x \(image.bitmap.height)"
    }
}

/// The library's transport, which also records some fields of its requests.
final class RecordingTransport: Transport {
    private let transport = CurlTransport()
    private let names: [String]
    private let values = Mutex<[String]>([])

    /// Records the fields with these names.
    init(recording names: [String]) { self.names = names }

    var recorded: String { values.withLock { $0.joined(separator: "; ") } }

    func perform(
        _ request: TransportRequest, into receiver: any BodyReceiver
    ) async throws(ImageLoadingError) -> ResponseHead {
        values.withLock { values in values += names.map { request.fields[$0] ?? "" } }
        return try await transport.perform(request, into: receiver)
    }
}
