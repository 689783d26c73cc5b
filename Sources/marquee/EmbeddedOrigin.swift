import CatalogueService
import LazyImages

/// The network with the origin of the sample catalogue in it, on a port that the system chooses, under a stable name. The
/// origin starts with the first transfer: what is cached needs none.
final class EmbeddedOrigin: Transport {
    private struct Running {
        let service: CatalogueService
        let network: CurlTransport
    }

    private let folder: String
    private let configuration: CurlTransport.Configuration
    private let running = Lock<Running?>(nil)

    init(folder: String, transport configuration: CurlTransport.Configuration) {
        self.folder = folder
        self.configuration = configuration
    }

    func perform(
        _ request: TransportRequest, into receiver: any BodyReceiver
    ) async throws(ImageLoadingError) -> ResponseHead {
        let network: CurlTransport
        do {
            network = try started()
        } catch {
            throw .connectionFailed(
                url: request.url.displayText, reason: "the sample catalogue's own server: \(error)")
        }
        return try await network.perform(request, into: receiver)
    }

    private func started() throws -> CurlTransport {
        try running.withLock { running in
            if let running { return running.network }
            let service = try CatalogueService(
                folder: folder, configuration: CatalogueService.Configuration())
            service.start()
            var configuration = configuration
            configuration.connectTo["\(CatalogueSource.sampleHost):80"] = "127.0.0.1:\(service.port)"
            let network = CurlTransport(configuration: configuration)
            running = Running(service: service, network: network)
            return network
        }
    }

    /// Stops it, if it was started; waits for its threads.
    func stop() async {
        guard let service = running.withLock({ $0?.service }) else { return }
        await BlockingThreads(count: 1).run { service.stop() }
    }
}
