import Glibc
import SystemSupport
import TestSupport
import TestTraits
import Testing

@testable import HTTPServer

/// All suites with sockets.
@Suite("HTTPServer", .bounded, .ownThread)
enum OverSockets {}

/// Echoes each request's method, target and body. `/refused` and `/later` are answered before their body is read.
struct EchoHandler: HTTPHandler {
    var bodyLimit = 1 << 30
    /// Called for each handled request, on its thread.
    var whenHandled: @Sendable () -> Void = {}

    func admit(_ head: RequestHead, from peer: Peer) -> Admission {
        switch head.target {
        case "/refused": .answer(.plain(.forbidden))
        case "/later": .later { $0.send(.plain(.ok)) }
        default: .handle(bodyLimit: bodyLimit) { echo(head, $0, peer) }
        }
    }

    private func echo(_ head: RequestHead, _ body: RequestBody, _ peer: Peer) -> HTTPResponse {
        whenHandled()
        let start = Array("\(head.method) \(head.target) ".utf8)
        let kind =
            switch body {
            case .none: "none"
            case .bytes: "bytes"
            case .file: "file"
            }
        do {
            return HTTPResponse(
                status: .ok, fields: ["Body": kind, "Peer": peer.address ?? "local"],
                body: .bytes(start + (try body.bytes())))
        } catch {
            return .plain(.internalServerError, error.description)
        }
    }
}

/// A running server with a handler, stopped when the object is released.
final class RunningServer {
    let server: HTTPServer
    let port: UInt16

    init(
        _ handler: any HTTPHandler = EchoHandler(), fileCalls: FileCalls = FileCalls(),
        configure: (inout HTTPServer.Configuration) -> Void = { _ in }
    ) throws {
        var configuration = HTTPServer.Configuration()
        configure(&configuration)
        server = try HTTPServer(configuration: configuration, handler: handler, fileCalls: fileCalls)
        port = try #require(server.ports[0])
        try server.start()
    }

    deinit { server.stop() }

    func client() throws -> RawClient { try RawClient(port: port, owner: self) }
}
