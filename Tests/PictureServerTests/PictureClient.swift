import FoundationEssentials
import HTTPSemantics
import LazyImages
import SystemSupport
import TestSupport
import Testing

@testable import HTTPServer
@testable import PictureServer
import PictureService

/// A picture service's client without sockets, which calls it as the server does. The origin is scripted.
final class PictureClient: Sendable {
    static let host = "images.example"
    static let keyFile = Array("k \(String(repeating: "0b", count: 32))".utf8)

    let service: PictureServer
    let transport: HeldTransport
    let clock = TestClock()

    /// - Parameters:
    ///   - sources: the hosts that are allowed without a signature.
    ///   - answer: the origin's immediate answer; nil holds the transfer.
    init(
        sources: [String] = [host], sizes: [String] = PictureRules.standardSizes, isSigning: Bool = false,
        disk: DiskCache? = nil, configure: (inout PictureServer.Configuration) -> Void = { _ in },
        answering answer: @escaping @Sendable (TransportRequest) -> HeldTransport.Answer? = { _ in nil }
    ) throws {
        transport = HeldTransport(answering: answer)
        let names = Set(try sources.map { try #require(FetchSource("http://\($0)")) })
        var configuration = PictureServer.Configuration(
            rules: try PictureRules(
                sources: names, sizes: sizes, keys: isSigning ? try SigningKeys(Self.keyFile) : nil))
        configuration.transport = transport
        configuration.clock = clock.wall
        configuration.disk = disk
        configuration.workers = 2
        configuration.downloads.retry = .never
        // No test depends on the speed of the machine.
        configuration.downloads.timeouts = .patient
        configuration.queueTime = .seconds(600)
        configure(&configuration)
        service = PictureServer(configuration)
    }

    /// A client whose origin answers with these bytes.
    static func giving(
        _ bytes: [UInt8], status: Int = 200, _ fields: HeaderFields = ["Cache-Control": "max-age=60"]
    ) -> @Sendable (TransportRequest) -> HeldTransport.Answer? {
        { _ in HeldTransport.Answer(bytes, status: status, fields: fields) }
    }

    /// The number of events of one kind.
    func count(_ event: PictureCounters.Event) -> Int { service.counters.number(of: event) }

    /// Waits until all pictures that were sent are on disk and in the store. They are stored after they were sent.
    func settle() async throws {
        try await eventually { service.gate.usage.sources == 0 }
        await service.flush()
    }

    // MARK: Requests

    static func path(_ recipe: String, _ source: String = "https://\(host)/a") -> String {
        "/image/-/\(recipe)/\(Base64URL.encode(source.utf8))"
    }

    static func signedPath(_ recipe: String, _ source: String) throws -> String {
        PictureAddress(
            try PictureRecipe(recipe), of: try PictureSource(source), signedBy: try SigningKeys(keyFile)
        ).path
    }

    /// Starts a request whose answer may come later.
    /// - Parameter answered: called with the answer.
    func start(
        _ path: String, method: String = "GET", _ fields: HeaderFields = [:],
        from peer: Peer = Peer(address: "127.0.0.1", isLocal: true),
        answered: @escaping @Sendable () -> Void = {}
    ) throws -> Pending {
        var text = "\(method) \(path) HTTP/1.1\r\nHost: localhost\r\n"
        for field in fields.fields { text += "\(field.name): \(field.value)\r\n" }
        // A line end is one character in Swift.
        let head = try RequestHead(parsing: Array(text.dropLast(1).utf8)[...])
        let pending = Pending(answered)
        let admission =
            try service.answerKnown(head).map { .answer($0) }
            ?? service.admit(head, RequestTarget(head.target), from: peer)
        switch admission {
        case .answer(let response): pending.answer.send(response)
        case .later(let body): body(pending.answer)
        case .handle: Issue.record("pictures need no body")
        }
        return pending
    }

    func send(_ path: String, method: String = "GET", _ fields: HeaderFields = [:]) async throws -> Answer {
        try await start(path, method: method, fields).value()
    }

    func get(_ recipe: String, _ fields: HeaderFields = [:]) async throws -> Answer {
        try await send(Self.path(recipe), fields)
    }

    /// The answer to a request whose transfer, of this number, is answered with a picture.
    /// - Parameter path: by default that of the size w92.
    func get(
        answering number: Int, shift: Int = 0, _ fields: HeaderFields = [:], of path: String? = nil
    ) async throws -> Answer {
        let request = try start(path ?? Self.path("w92"))
        try await transport.transfer(number).answer(try Samples.jpeg(shift: shift), fields: fields)
        return try await request.value()
    }

    /// A running request.
    final class Pending: Sendable {
        private let answered = Tally()
        let answer: PendingAnswer

        init(_ isAnswered: @escaping @Sendable () -> Void) {
            let (inbox, answered) = (Inbox(), answered)
            answer = PendingAnswer { given in
                inbox.response.withLock { $0 = given }
                isAnswered()
                answered.add()
            }
            self.inbox = inbox
        }

        private final class Inbox: Sendable {
            let response = Lock<HTTPResponse?>(nil)
        }

        private let inbox: Inbox

        /// Whether the answer has arrived.
        var isAnswered: Bool { answered.count > 0 }

        /// Disconnects the client.
        func leave() { answer.abandon() }

        func value() async throws -> Answer {
            try await answered.wait(for: 1)
            return Answer(try #require(inbox.response.withLock { $0 }))
        }
    }

    struct Answer: Sendable {
        let response: HTTPResponse

        init(_ response: HTTPResponse) { self.response = response }

        var status: Int { response.status.rawValue }

        var bytes: [UInt8] {
            if case .bytes(let bytes) = response.body { bytes } else { [] }
        }

        var text: String { String(decoding: bytes, as: UTF8.self) }

        subscript(field: String) -> String? { response.fields[field] }
    }
}
