package import HTTPSemantics

/// Answers a server's requests. One object serves all connections at once.
package protocol HTTPHandler: Sendable {
    /// Decides on a request after its head has come, before its body is read. Runs on an event loop's thread, which
    /// serves many connections, so it must not block.
    func admit(_ head: RequestHead, from peer: Peer) -> Admission

    /// Answers a request that `admit` has accepted. Runs on one of the threads that may block.
    func respond(to request: HTTPRequest) -> HTTPResponse
}

/// The decision on a request whose head has come.
package enum Admission: Sendable {
    /// Answers at once. The server reads past a short body; a longer one ends the connection.
    case answer(HTTPResponse)
    /// Reads the body, then calls `respond`. A body of more bytes than the limit is answered 413.
    case handle(bodyLimit: Int)
    /// Answers later, without a thread that waits. The closure runs on an event loop's thread and must not block. A
    /// body is not read, and ends the connection after the answer. A client that closes its side abandons the request.
    case later(@Sendable (PendingAnswer) -> Void)
}

/// A request with its whole body.
package struct HTTPRequest: Sendable {
    package let head: RequestHead
    package let body: RequestBody
    package let peer: Peer

    package init(head: RequestHead, body: RequestBody = .none, peer: Peer) {
        self.head = head
        self.body = body
        self.peer = peer
    }
}

/// The other end of a connection.
package struct Peer: Sendable, Hashable {
    /// The IP address as text, without a port; nil for a local socket.
    package let address: String?
    /// Whether the connection came over the loopback interface or a local socket, and so from this machine.
    package let isLocal: Bool

    package init(address: String?, isLocal: Bool) {
        self.address = address
        self.isLocal = isLocal
    }
}

/// An answer: status, fields and body. The server adds Date, Content-Length (but not to 204 and 304), Connection,
/// X-Request-Id and `X-Content-Type-Options: nosniff`. It leaves out the body in an answer to HEAD.
package struct HTTPResponse: Sendable {
    package enum Body: Sendable {
        case none
        case bytes([UInt8])
        /// A part of an open file.
        case file(ServedFile, Range<Int>)

        /// In bytes.
        package var count: Int {
            switch self {
            case .none: 0
            case .bytes(let bytes): bytes.count
            case .file(_, let part): part.count
            }
        }
    }

    package var status: HTTPStatus
    /// The fields that the server does not add itself.
    package var fields: HeaderFields { didSet { preparedFields = nil } }
    /// The lines of the fields, written beforehand; nil if they are written for each sending.
    private(set) var preparedFields: [UInt8]?
    package var body: Body
    /// Whether the connection ends after this answer.
    package var closes = false
    /// What the answer is about, for the metrics. Not sent.
    package var route = HTTPRoute.other
    /// The name of the token that allowed the write, for the log; nil if there was none. Not sent.
    package var writer: String?

    package init(status: HTTPStatus, fields: HeaderFields = HeaderFields(), body: Body = .none) {
        self.status = status
        self.fields = fields
        self.body = body
    }

    /// Writes the lines of the fields now, for an answer that is sent many times.
    package mutating func prepare() { preparedFields = writtenFields }

    /// The lines of the fields, without the blank line after them.
    var writtenFields: [UInt8] {
        var lines: [UInt8] = []
        for field in fields.fields {
            for part in [field.name, ": ", field.value, "\r\n"] { lines.append(contentsOf: part.utf8) }
        }
        return lines
    }

    /// A short answer in plain text: the status, and the reason if that helps. No cache keeps it.
    package static func plain(
        _ status: HTTPStatus, _ reason: String? = nil, closes: Bool = false
    ) -> HTTPResponse {
        let text = "\(status.rawValue) \(status.reason)" + (reason.map { ": \($0)" } ?? "") + "\n"
        var response = HTTPResponse(
            status: status, fields: ["Content-Type": MediaType.plainText, "Cache-Control": "no-store"],
            body: .bytes(Array(text.utf8)))
        if status == .serviceUnavailable { response.fields["Retry-After"] = "1" }
        response.closes = closes
        return response
    }
}
