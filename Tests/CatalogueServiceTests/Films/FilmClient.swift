import FilmSources
import Films
import Foundation
import HTTPSemantics
import SystemSupport

@testable import CatalogueService
@testable import HTTPServer

/// A film service's client without sockets: it admits each request by its head, then handles it, as the
/// server does.
final class FilmClient: Sendable {
    let library: FilmLibrary
    let service: FilmService

    static let local = Peer(address: "127.0.0.1", isLocal: true)

    /// A service with an empty library that can be written to.
    /// - Parameter library: the library. Default: an empty one in memory.
    init(
        library: FilmLibrary? = nil, configure: (inout FilmServiceConfiguration) -> Void = { _ in }
    ) throws {
        self.library = try library ?? FilmLibrary(inMemoryFor: "the tests' library")
        var configuration = FilmServiceConfiguration()
        configuration.isWritable = true
        configuration.writers = WriteAccess(trustsLocal: true)
        configure(&configuration)
        service = FilmService(library: self.library, configuration: configuration)
    }

    func send(
        _ method: String, _ target: String, _ fields: HeaderFields = [:], body: [UInt8]? = nil,
        peer: Peer = local
    ) throws -> Answer {
        let head = try Self.head(method, target, fields, body)
        switch service.admit(head, from: peer) {
        case .answer(let response): return Answer(response: response, isEarly: true)
        case .later(let start): return Answer(response: Self.answer(of: start), isEarly: false)
        case .handle(let limit, let respond):
            precondition((body?.count ?? 0) <= limit)
            return Answer(response: respond(body.map { .bytes($0) } ?? .none), isEarly: false)
        }
    }

    /// Waits for an answer that comes later.
    static func answer(of start: (PendingAnswer) -> Void) -> HTTPResponse {
        let done = DispatchSemaphore(value: 0)
        let response = Lock<HTTPResponse?>(nil)
        start(
            PendingAnswer { answer in
                response.withLock { $0 = answer }
                done.signal()
            })
        done.wait()
        return response.withLock { $0 } ?? .plain(.internalServerError)
    }

    /// Sends a body, by default of the type `application/json`.
    func send(
        _ method: String, _ target: String, _ body: String, type: String = "application/json",
        _ more: HeaderFields = [:]
    ) throws -> Answer {
        var fields = more
        fields["Content-Type"] = type
        return try send(method, target, fields, body: Array(body.utf8))
    }

    func get(_ target: String, _ fields: HeaderFields = [:]) throws -> Answer {
        try send("GET", target, fields)
    }

    static func head(
        _ method: String, _ target: String, _ fields: HeaderFields, _ body: [UInt8]?
    ) throws -> RequestHead {
        var text = "\(method) \(target) HTTP/1.1\r\n"
        if fields["host"] == nil { text += "Host: 127.0.0.1:8080\r\n" }
        for field in fields.fields { text += "\(field.name): \(field.value)\r\n" }
        if let body, fields["content-length"] == nil { text += "Content-Length: \(body.count)\r\n" }
        return try RequestHead(parsing: Array(text.dropLast(1).utf8)[...])
    }

    /// An answer.
    struct Answer {
        let response: HTTPResponse
        /// Whether the answer came before the body was read.
        let isEarly: Bool

        var status: Int { response.status.rawValue }

        var bytes: [UInt8] {
            if case .bytes(let bytes) = response.body { bytes } else { [] }
        }

        var text: String { String(decoding: bytes, as: UTF8.self) }

        var film: FilmDocument {
            get throws { try FilmDocument(json: try JSONText(parsing: bytes)) }
        }

        /// The ids of a list in JSON.
        var ids: [String] {
            get throws {
                try film["movies"]?.elements?.compactMap { try FilmDocument(json: $0)["id"]?.string } ?? []
            }
        }

        subscript(field: String) -> String? { response.fields[field] }
    }
}

/// A multipart form, as curl makes it.
struct MultipartBody {
    static let type = "multipart/form-data; boundary=----test"
    private(set) var bytes: [UInt8] = []

    init(_ fields: [(String, String)], poster: [UInt8]? = nil) {
        for (name, value) in fields {
            bytes += Array(
                "------test\r\nContent-Disposition: form-data; name=\"\(name)\"\r\n\r\n\(value)\r\n".utf8)
        }
        if let poster {
            bytes += Array(
                "------test\r\nContent-Disposition: form-data; name=\"poster\"; filename=\"a.png\"\r\n\r\n"
                    .utf8)
            bytes += poster + [0x0D, 0x0A]
        }
        bytes += Array("------test--\r\n".utf8)
    }
}
