package import HTTPSemantics
package import SystemSupport

/// Answers a server's requests. One object serves all connections at once.
package protocol HTTPHandler: Sendable {
    /// Decides on a request after its head has come, before its body is read. Runs on an event loop's thread, which
    /// serves many connections, so it must not block.
    func admit(_ head: RequestHead, from peer: Peer) -> Admission
}

/// The decision on a request whose head has come.
package enum Admission: Sendable {
    /// Answers at once. The server reads past a short body; a longer one ends the connection.
    case answer(HTTPResponse)
    /// Reads the body, then calls the closure, on one of the threads that may block. A body of more bytes than the limit
    /// is answered 413.
    case handle(bodyLimit: Int, Responder)
    /// Answers later, without a thread that waits. The closure runs on an event loop's thread and must not block. A
    /// body is not read, and ends the connection after the answer. A client that closes its side abandons the request.
    case later(@Sendable (PendingAnswer) -> Void)

    /// Answers a request with its whole body.
    package typealias Responder = @Sendable (RequestBody) -> HTTPResponse

    /// The same decision with another answer.
    package func map(_ change: @escaping @Sendable (HTTPResponse) -> HTTPResponse) -> Admission {
        switch self {
        case .answer(let response): .answer(change(response))
        case .handle(let limit, let respond): .handle(bodyLimit: limit) { change(respond($0)) }
        case .later(let body):
            .later { pending in
                pending.map(change)
                body(pending)
            }
        }
    }
}

/// The other end of a connection.
package struct Peer: Sendable, Hashable {
    /// The IP address as text, without a port; nil for a local socket.
    package let address: String?
    /// Whether the connection came over the loopback interface or a local socket, and so from this machine.
    package let isLocal: Bool
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

    /// The lines of the fields, without the blank line after them. A value may come from a file or another server, so
    /// its control characters become spaces (RFC 9110 section 5.5), and a field without a valid name is left out.
    var writtenFields: [UInt8] {
        var lines: [UInt8] = []
        for field in fields.fields where field.name.isToken {
            for part in [field.name, ": "] { lines.append(contentsOf: part.utf8) }
            let start = lines.count
            lines.append(contentsOf: field.value.utf8)
            for index in start..<lines.count where lines[index].isControl { lines[index] = UInt8(ascii: " ") }
            lines.append(contentsOf: "\r\n".utf8)
        }
        return lines
    }

    /// A short answer in plain text: the status, and the reason if that helps. No cache keeps it.
    package static func plain(
        _ status: HTTPStatus, _ reason: String? = nil, fields: HeaderFields = HeaderFields(),
        closes: Bool = false
    ) -> HTTPResponse {
        let text = "\(status.rawValue) \(status.reason)" + (reason.map { ": \($0)" } ?? "") + "\n"
        var response = HTTPResponse(
            status: status, fields: ["Content-Type": MediaType.plainText, "Cache-Control": "no-store"],
            body: .bytes(Array(text.utf8)))
        if status == .serviceUnavailable { response.fields["Retry-After"] = "1" }
        response.fields.replace(with: fields)
        response.closes = closes
        return response
    }

    /// The answer when the system gives no thread.
    package static var noThread: HTTPResponse {
        .plain(.serviceUnavailable, "the system has no free thread; try again")
    }
}

/// An answer that is still owed to a request. Any thread may give it later. A request whose answer is dropped is
/// answered 500, so only those who will answer may hold this object.
package final class PendingAnswer: Sendable {
    private enum State {
        /// The closure runs if the client goes away, or if a bounded wait is too long.
        case waiting(isBounded: Bool, whenAbandoned: (@Sendable () -> Void)?)
        case answered
        case abandoned
    }

    private let state = Lock(State.waiting(isBounded: false, whenAbandoned: nil))
    private let deliver: Lock<@Sendable (HTTPResponse) -> Void>

    /// - Parameter deliver: takes the answer, once.
    init(deliver: @escaping @Sendable (HTTPResponse) -> Void) { self.deliver = Lock(deliver) }

    /// Changes the answer before it is delivered.
    fileprivate func map(_ change: @escaping @Sendable (HTTPResponse) -> HTTPResponse) {
        deliver.withLock { deliver in
            let deliverChanged = deliver
            deliver = { deliverChanged(change($0)) }
        }
    }

    deinit { send(.plain(.internalServerError)) }

    /// Answers the request. Only the first answer counts, and none counts after the client has gone.
    package func send(_ response: HTTPResponse) {
        let isFirst = state.withLock { state in
            guard case .waiting = state else { return false }
            state = .answered
            return true
        }
        if isFirst { deliver.withLock { $0 }(response) }
    }

    /// Calls `body` once if the client goes before the answer: at once, if it has gone already. Runs on an event loop's
    /// thread or on the caller's, so it must not block.
    /// - Parameter isBounded: whether the client gets 503, and `body` is called, if nobody has called `begin` within the
    ///   queue time. Default: no, the wait has another bound.
    package func whenAbandoned(isBounded: Bool = false, _ body: @escaping @Sendable () -> Void) {
        let isGone = state.withLock { state in
            switch state {
            case .waiting: state = .waiting(isBounded: isBounded, whenAbandoned: body)
            case .answered: break
            case .abandoned: return true
            }
            return false
        }
        if isGone { body() }
    }

    /// Says that the answer is being made: the client waits for it.
    package func begin() {
        state.withLock { state in
            if case .waiting(_, let body) = state { state = .waiting(isBounded: false, whenAbandoned: body) }
        }
    }

    /// Runs `work`, which sends the answer, on one of the threads; not if the client goes before it begins.
    package func wait(for threads: BlockingThreads, _ work: @escaping @Sendable () -> Void) {
        let job = BlockingThreads.Job { [self] in
            begin()
            work()
        }
        whenAbandoned(isBounded: true, job.giveUp)
        do throws(ResourceShortage) {
            try threads.enqueue(job)
        } catch {
            send(.noThread)
        }
    }

    /// Nobody reads an answer: the client has gone.
    /// - Parameter refusal: the answer to a client that has waited too long. Default: nil, it has gone.
    func abandon(_ refusal: HTTPResponse? = nil) {
        let body = state.withLock { state -> (@Sendable () -> Void)? in
            guard case .waiting(let isBounded, let body) = state, refusal == nil || isBounded else {
                return nil
            }
            state = .abandoned
            return body ?? {}
        }
        guard let body else { return }
        body()
        if let refusal { deliver.withLock { $0 }(refusal) }
    }
}

/// The whole body of a request: a short one in memory, a longer one in an unnamed file, which vanishes with its last
/// reference.
package enum RequestBody: Sendable {
    case none
    case bytes([UInt8])
    case file(UnnamedFile)

    /// In bytes.
    package var count: Int {
        switch self {
        case .none: 0
        case .bytes(let bytes): bytes.count
        case .file(let file): file.count
        }
    }

    /// All of it in memory. Blocks.
    package func bytes() throws(FileFault) -> [UInt8] {
        switch self {
        case .none: []
        case .bytes(let bytes): bytes
        case .file(let file): try file.contents()
        }
    }
}

/// The resource that an answer is about, for the metrics. The list is closed, so no client can create a time series.
/// The server only counts by it; the handlers choose it.
package enum HTTPRoute: UInt8, Sendable, CaseIterable {
    /// No other route: mostly a request that was refused before its path was read, or a path where nothing is served.
    case other
    /// A list of films, or the wall of posters.
    case films
    /// The best films.
    case top
    case film
    /// A poster as it is stored.
    case poster
    /// A picture of the picture service.
    case picture
    case rating
    /// A page with a form, and what it sends.
    case form
    case soap
    /// The stylesheet and the icon of the pages.
    case style
    /// A file of a served folder.
    case file

    /// The value of the label in the metrics.
    package var name: String { "\(self)" }
}

extension HTTPResponse {
    /// The answer to a read by this whole answer of 200: itself, a part of it, 304, or a refusal, as the request's
    /// conditions and range say (RFC 9110 sections 13 and 14). Its fields ETag and Last-Modified are the validators. It has
    /// parts if it has Accept-Ranges.
    /// - Parameters:
    ///   - now: seconds since 1970.
    ///   - refusal: the answer 412 or 416.
    package func answer(
        to head: RequestHead, now: @autoclosure () -> Int = 0, else refusal: (HTTPStatus) -> HTTPResponse
    )
        -> HTTPResponse
    {
        // Most requests have no such field.
        guard head.fields.fields.contains(where: { Self.mayAskForLess($0.name) }) else { return self }
        let now = now()
        let conditions = Preconditions(
            head.fields, isRead: true, entityTag: fields["etag"],
            lastModified: fields["last-modified"].flatMap { HTTPDate.parse($0, now: now) }, now: now)
        switch conditions.outcome {
        case .failed: return refusal(.preconditionFailed)
        case .notModified:
            // Section 15.4.5: the fields of the answer of 200 that caches use.
            var answer = HTTPResponse(status: .notModified)
            for name in ["ETag", "Vary", "Cache-Control", "Last-Modified", "Age", "Cache-Status"] {
                answer.fields[name] = fields[name]
            }
            answer.route = route
            return answer
        case .proceed:
            return fields["accept-ranges"] == nil
                ? self : part(for: head, conditions) { refusal(.rangeNotSatisfiable) }
        }
    }

    /// Whether a request's field may be a condition or a range: If-Match, Range.
    private static func mayAskForLess(_ name: String) -> Bool {
        name.utf8.first.map { $0 | 0x20 == UInt8(ascii: "i") || $0 | 0x20 == UInt8(ascii: "r") } ?? false
    }

    /// The whole answer, or the part that the request's Range names (RFC 9110 section 14.2).
    private func part(
        for head: RequestHead, _ conditions: Preconditions, else refusal: () -> HTTPResponse
    ) -> HTTPResponse {
        let size = body.count
        let range = head.method == "GET" && conditions.allowsRange ? head.value(of: "range") : nil
        var response = self
        switch RangeHeader(range, size: size) {
        case .whole: break
        case .part(let part):
            response.status = .partialContent
            response.fields["Content-Range"] = "bytes \(part.lowerBound)-\(part.upperBound - 1)/\(size)"
            response.body = body.part(part)
        case .unsatisfiable:
            response = refusal()
            response.fields["Content-Range"] = "bytes */\(size)"
        }
        return response
    }
}

extension HTTPResponse.Body {
    /// A part, counted from the beginning of the body.
    fileprivate func part(_ part: Range<Int>) -> HTTPResponse.Body {
        switch self {
        case .none: .none
        case .bytes(let bytes): .bytes(Array(bytes[part]))
        case .file(let file, let whole):
            .file(file, whole.lowerBound + part.lowerBound..<whole.lowerBound + part.upperBound)
        }
    }
}

/// An open regular file that can be sent. It is closed with its last reference.
package final class ServedFile: Sendable {
    package let descriptor: Descriptor
    package let metadata: FileMetadata

    /// Takes ownership of an open file; nil, and closed, if it is not a regular file.
    package init?(owning descriptor: consuming Descriptor) {
        var status = stat()
        guard unsafe fstat(descriptor.number, &status) == 0, status.st_mode & S_IFMT == S_IFREG else {
            return nil
        }
        self.descriptor = descriptor
        metadata = FileMetadata(
            size: Int(status.st_size), seconds: status.st_mtim.tv_sec, nanoseconds: status.st_mtim.tv_nsec,
            inode: UInt64(status.st_ino))
    }

    /// Takes ownership of an open file whose metadata is known.
    package init(owning descriptor: consuming Descriptor, metadata: FileMetadata) {
        self.descriptor = descriptor
        self.metadata = metadata
    }

    /// Whether the file may stay open as long as its client reads. Otherwise slow clients could take the descriptors
    /// that the service itself needs.
    package var hasPlace: Bool { descriptor.number < DescriptorPlaces.ofProcess.files }

    /// The whole file, in memory. Blocks.
    package func contents() throws(FileFault) -> [UInt8] {
        try FileCalls().contents(of: descriptor, count: metadata.size)
    }
}

/// The metadata of a file, and its entity tag.
package struct FileMetadata: Hashable, Sendable {
    /// Bytes.
    package let size: Int
    /// When the file was last changed: whole seconds since 1970, and the nanoseconds of the last second.
    package let seconds: Int
    package let nanoseconds: Int
    package let inode: UInt64

    /// A strong entity tag (RFC 9110 section 8.8.3). A file replaced by renaming has another inode. A file written in
    /// place has another time; nanoseconds tell changes within one second apart.
    package var entityTag: String {
        let parts = [
            UInt64(bitPattern: Int64(size)), UInt64(bitPattern: Int64(seconds)),
            UInt64(bitPattern: Int64(nanoseconds)), inode,
        ]
        return "\"" + parts.map { String($0, radix: 16) }.joined(separator: "-") + "\""
    }
}
