import FoundationEssentials
import HTTPSemantics
import LazyImages
import SystemSupport
import TestSupport
import Testing

@testable import HTTPServer
@testable import PictureService

/// A picture service and a client that asks it as a server would, without sockets. The origin is scripted.
final class PictureClient: Sendable {
    static let host = "images.example"
    static let keyFile = Array("k \(String(repeating: "0b", count: 32))".utf8)

    let service: PictureService
    let transport: HeldTransport
    let clock = TestClock()

    /// - Parameters:
    ///   - sources: hosts that anybody may ask for.
    ///   - answer: what the origin says at once; nil holds the transfer.
    init(
        sources: [String] = [host], sizes: [String] = PictureRules.standardSizes, isSigning: Bool = false,
        disk: DiskCache? = nil, configure: (inout PictureService.Configuration) -> Void = { _ in },
        answering answer: @escaping @Sendable (TransportRequest) -> HeldTransport.Answer? = { _ in nil }
    ) throws {
        transport = HeldTransport(answering: answer)
        let names = Set(try sources.map { PictureRules.Source(try #require(HostName($0))) })
        var configuration = PictureService.Configuration(
            rules: try PictureRules(
                sources: names, sizes: sizes, keys: isSigning ? try SigningKeys(Self.keyFile) : nil))
        configuration.transport = transport
        configuration.clock = clock.wall
        configuration.disk = disk
        configuration.workers = 2
        configuration.downloads.retry = .never
        configure(&configuration)
        service = PictureService(configuration)
    }

    /// An origin that gives these bytes.
    static func giving(
        _ bytes: [UInt8], status: Int = 200, _ fields: HTTPFields = ["Cache-Control": "max-age=60"]
    ) -> @Sendable (TransportRequest) -> HeldTransport.Answer? {
        { _ in HeldTransport.Answer(bytes, status: status, fields: fields) }
    }

    /// How often something happened.
    func count(_ event: PictureCounters.Event) -> Int { service.counters.number(of: event) }

    // MARK: Requests

    static func path(_ recipe: String, _ source: String = "https://\(host)/a") -> String {
        "/image/-/\(recipe)/\(Base64URL.encode(source.utf8))"
    }

    static func signedPath(_ recipe: String, _ source: String) throws -> String {
        PictureAddress(
            try PictureRecipe(recipe), of: try PictureSource(source), signedBy: try SigningKeys(keyFile)
        ).path
    }

    /// A request that may have to wait.
    func begin(_ path: String, method: String = "GET", _ fields: HTTPFields = [:]) throws -> Pending {
        var text = "\(method) \(path) HTTP/1.1\r\nHost: localhost\r\n"
        for field in fields.fields { text += "\(field.name): \(field.value)\r\n" }
        // A line end is one character.
        let head = try RequestHead(parsing: Array(text.dropLast(1).utf8))
        let pending = Pending()
        let admission =
            try service.answerKnown(head).map { .answer($0) }
            ?? service.admit(head, RequestTarget(head.target))
        switch admission {
        case .answer(let response): pending.answer.send(response)
        case .later(let body): body(pending.answer)
        case .handle: Issue.record("pictures need no body")
        }
        return pending
    }

    func send(_ path: String, method: String = "GET", _ fields: HTTPFields = [:]) async throws -> Answer {
        try await begin(path, method: method, fields).value()
    }

    func get(_ recipe: String, _ fields: HTTPFields = [:]) async throws -> Answer {
        try await send(Self.path(recipe), fields)
    }

    /// A request under way.
    final class Pending: Sendable {
        private let answered = Tally()
        let answer: PendingAnswer

        init() {
            let (inbox, answered) = (Inbox(), answered)
            answer = PendingAnswer { given in
                inbox.response.withLock { $0 = given }
                answered.add()
            }
            self.inbox = inbox
        }

        private final class Inbox: Sendable {
            let response = Lock<HTTPResponse?>(nil)
        }

        private let inbox: Inbox

        /// Whether it has been answered.
        var isAnswered: Bool { answered.count > 0 }

        /// The client goes away.
        func leave() { answer.abandon() }

        func value() async throws -> Answer {
            try await answered.reaches(1)
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
