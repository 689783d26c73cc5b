import CatalogueService
import LazyImages
import SystemSupport

/// The network with the origin of the sample catalogue in it, on a port chosen by the system, under a constant name.
/// The origin starts with the first transfer; cached posters do not need it.
final class EmbeddedOrigin: Transport {
    private let folder: String
    private let configuration: CurlTransport.Configuration
    private let running = Lock<(service: CatalogueService, network: CurlTransport)?>(nil)

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
            let (url, reason) = (request.url.displayText, "the sample catalogue's own server: \(error)")
            // If the system refuses a server on this machine, it lacks a descriptor, a thread or memory.
            if case CatalogueServiceError.server(.system) = error {
                throw .resourcesShort(url: url, reason: reason)
            }
            throw .connectionFailed(url: url, reason: reason)
        }
        return try await network.perform(request, into: receiver)
    }

    private func started() throws -> CurlTransport {
        try running.withLock { running in
            if let running { return running.network }
            let service = try CatalogueService(.folder(path: folder))
            try service.start()
            var configuration = configuration
            configuration.connectTo["\(SampleCatalogue.host):80"] = "127.0.0.1:\(service.port)"
            let network = CurlTransport(configuration: configuration)
            running = (service, network)
            return network
        }
    }

    /// Stops the origin, if it was started; waits for its threads.
    func stop() async {
        guard let service = running.withLock({ $0?.service }) else { return }
        await BlockingThreads.runOnOwnThread { service.stop() }
    }
}
