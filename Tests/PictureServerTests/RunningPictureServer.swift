import FoundationEssentials
import HTTPSemantics
import HTTPServer
import LazyImages
import PictureServer
import Testing

/// A picture service behind a real server, with libcurl as its transport. It stops when the object is
/// released.
final class RunningPictureServer: Sendable {
    private struct Handler: HTTPHandler {
        let service: PictureServer

        func admit(_ head: RequestHead, from peer: Peer) -> Admission {
            if let answer = service.answerKnown(head) { return .answer(answer) }
            guard let target = try? RequestTarget(head.target) else { return .answer(.plain(.badRequest)) }
            return service.admit(head, target, from: peer)
        }
    }

    let service: PictureServer
    private let server: HTTPServer
    let port: UInt16

    /// - Parameters:
    ///   - sources: the hosts that are allowed without a signature.
    ///   - allowed: networks that are allowed although they are not public.
    init(
        sources: [String] = [], allowed: [String] = [], isSigning: Bool = false,
        transport: CurlTransport = CurlTransport(),
        configure: (inout PictureServer.Configuration) -> Void = { _ in }
    ) throws {
        let names = sources.compactMap { FetchSource("http://\($0)") }
        var configuration = PictureServer.Configuration(
            rules: try PictureRules(
                sources: Set(names), keys: isSigning ? try SigningKeys(PictureClient.keyFile) : nil))
        configuration.transport = transport
        configuration.allowedNetworks = try allowed.map { try #require(AddressRange($0)) }
        configuration.downloads.timeouts = .patient
        configuration.downloads.retry = .never
        // No test depends on the speed of the machine.
        configuration.queueTime = .seconds(600)
        configure(&configuration)
        service = PictureServer(configuration)
        server = try HTTPServer(
            configuration: HTTPServer.Configuration(), handler: Handler(service: service))
        try server.start()
        port = server.ports.lazy.compactMap(\.self).first ?? 0
    }

    deinit { server.stop() }

    /// The refusals of all rules together.
    var refusals: Int { service.counters.refusals.values.reduce(0, +) }
}
