import CMarqueeCurl
public import FoundationEssentials
public import HTTPSemantics
import Synchronization
import SystemSupport

/// Makes HTTP requests. The library uses ``CurlTransport``; tests and other programs can replace it.
public protocol Transport: Sendable {
    /// Makes one request. Returns the head of the answer when `receiver` has the whole body, or wants no more of it.
    /// Follows no redirects. Cancelling the calling task frees the connection at once and throws `.cancelled`.
    /// - Parameters:
    ///   - request: the request and its limits.
    ///   - receiver: receives the head and the body as they arrive.
    /// - Throws: the reason why no complete answer arrived. A status such as 404 is not an error here.
    func perform(
        _ request: TransportRequest, into receiver: any BodyReceiver
    ) async throws(ImageLoadingError) -> ResponseHead
}

/// Receives the parts of one answer as they arrive. Called on the transport's thread, one call at a time; calls must be
/// quick. A receiver that must wait, as for a disk, says so in ``mayContinue(_:)``. One that refuses the head or bytes
/// keeps the reason itself.
public protocol BodyReceiver: AnyObject, Sendable {
    /// The head has arrived (the final one, not an interim 1xx). Return false to refuse the body and free the
    /// connection.
    /// - Parameter head: status and fields of the answer.
    func receive(_ head: ResponseHead) -> Bool
    /// Whether the receiver can take the next bytes of the body now. A transport asks before each piece of the body.
    /// After false it keeps the piece, stops reading from the connection, and asks again after `resume` was called. The
    /// stall timeout does not run meanwhile; the total timeout does. A transport that cannot wait does not ask: the
    /// receiver must then take the bytes all the same. Optional; the default returns true.
    /// - Parameter resume: continues the transfer. A receiver that returns false calls it once, from any thread, also
    ///   before it returns. One that returns true never calls it. It does nothing after the end of the transfer.
    func mayContinue(_ resume: @escaping @Sendable () -> Void) -> Bool
    /// More bytes of the body have arrived. Return false to stop, and free the connection.
    /// - Parameter bytes: the next piece of the body.
    func receive(_ bytes: Span<UInt8>) -> Bool
    /// More of the request's body has been sent. Called about every 64 KiB. The count falls if the transport has to
    /// send the body again. Optional.
    /// - Parameter count: bytes of the request's body sent so far.
    func sent(_ count: Int)
    /// The transfer has ended, with or without success. The last call; a transport that measures nothing does not make
    /// it. Optional.
    /// - Parameter metrics: the times and sizes of the transfer.
    func receive(_ metrics: TransferMetrics)
}

extension BodyReceiver {
    /// Returns true: the receiver never waits.
    /// - Parameter resume: not called.
    public func mayContinue(_ resume: @escaping @Sendable () -> Void) -> Bool { true }

    /// Does nothing.
    /// - Parameter count: bytes of the request's body sent so far.
    public func sent(_ count: Int) {}

    /// Does nothing.
    /// - Parameter metrics: the times and sizes of the transfer.
    public func receive(_ metrics: TransferMetrics) {}
}

/// One HTTP request: by default a GET without a body.
public struct TransportRequest: Sendable {
    /// The method. Default: GET.
    public var method = RequestMethod.get
    /// An absolute http or https URL.
    public var url: URL
    /// The header fields to send, without those that the transport adds (Host, Content-Length).
    public var fields: HeaderFields
    /// The body. Default: nil, none.
    public var body: OpenBody?
    /// Whether the request may reach the server twice. Default: nil, if its method is idempotent.
    var mayBeRepeated: Bool?
    /// How long each phase may take.
    public var timeouts: Timeouts
    /// The TLS requirements; nil for plain http.
    public var security: TransportSecurity?

    /// Signs the request. Default: nil, no signature.
    package var signature: RequestSignature?
    /// The allowed addresses. Default: nil, all.
    public var addresses: AddressRules?
    /// The URL in messages, when a program has put a secret into `url` before sending. Default: nil, `url` without its
    /// user.
    var messageURL: String?

    /// The URL for messages.
    var urlText: String { messageURL ?? url.displayText }

    /// A GET of `url` with these fields and timeouts, and the default TLS requirements.
    /// - Parameters:
    ///   - url: an absolute http or https URL.
    ///   - fields: header fields to send. Default: none.
    ///   - timeouts: how long each phase may take.
    public init(url: URL, fields: HeaderFields = HeaderFields(), timeouts: Timeouts = Timeouts()) {
        self.init(
            url: url, fields: fields, timeouts: timeouts,
            security: SecurityPolicy().transportSecurity(for: WebOrigin(url)))
    }

    init(
        url: URL, fields: HeaderFields, timeouts: Timeouts, security: TransportSecurity?,
        addresses: AddressRules? = nil
    ) {
        self.url = url
        self.fields = fields
        self.timeouts = timeouts
        self.security = security
        self.addresses = addresses
    }
}

extension Transport {
    /// Checks a request and makes it. Every request of the library goes this way, over whatever transport, after
    /// `beforeSending`: so no text of a program adds a field or a request.
    func send(
        _ request: TransportRequest, into receiver: any BodyReceiver
    ) async throws(ImageLoadingError) -> ResponseHead {
        try request.check()
        var head = try await perform(request, into: receiver)
        guard let text = request.messageURL, var location = head.fields["location"] else { return head }
        // A redirect may repeat the secret that a program has put into the query, also as a parameter of a page for
        // signing in.
        let known = text.split { "?&".contains($0) }
        for item in request.url.query()?.split(separator: "&") ?? [] where !known.contains(item) {
            location = location.replacing(item, with: "")
            location = location.replacing(PercentEncoding.encoded(String(item)), with: "")
        }
        head.fields["Location"] = location
        return head
    }
}

extension TransportRequest {
    /// The fields that say where a body ends. Others than the transport's own would make two requests of one (RFC 9112
    /// section 11.2).
    private static let framing = ["content-length", "transfer-encoding"]

    /// - Throws: `.invalidField` if the method or a field would add something to the request.
    func check() throws(ImageLoadingError) {
        var fields = fields.fields
        // libcurl writes these two into the field.
        if let signature {
            fields.append(.init(name: "Authorization", value: signature.region + signature.accessKey))
        }
        for field in fields
        where HeaderFields.fault(name: field.name, value: field.value) != nil
            || Self.framing.contains(where: field.name.equalsIgnoringCase)
        {
            // A name that is not a token may hold a value too.
            let name = String(field.name.prefix { $0.utf8.allSatisfy(\.isTokenCharacter) })
            throw .invalidField(url: urlText, name: name)
        }
        if !method.isToken { throw .invalidField(url: urlText, name: "method") }
    }
}

/// The requirements for a TLS connection. A transport that cannot enforce one of them refuses the transfer.
public struct TransportSecurity: Sendable, Hashable {
    /// The oldest accepted version of TLS.
    public var minimumTLSVersion: SecurityPolicy.TLSVersion
    /// Whether key exchanges must have forward secrecy.
    public var requiresForwardSecrecy: Bool
    /// How the server's certificate is verified.
    public var trust: SecurityPolicy.ServerTrust
    /// The certificate for a server that requests one; nil for none.
    public var clientCertificate: SecurityPolicy.ClientCertificate?
}

/// The times and sizes of one transfer. Times count from the start of the transfer; zero for a phase that did not
/// happen, as on a reused connection.
public struct TransferMetrics: Sendable, Hashable {
    /// Until the name lookup was done.
    public var nameLookup = Duration.zero
    /// Until the connection was open.
    public var connect = Duration.zero
    /// Until the TLS handshake was done.
    public var secureConnect = Duration.zero
    /// Until the first byte of the answer.
    public var firstByte = Duration.zero
    /// Until the end.
    public var total = Duration.zero
    /// Bytes of the body received.
    public var bytes = 0
    /// Bytes of the request's body sent.
    public var sent = 0
    /// `HTTP/1.1` or `HTTP/2`; empty without an answer.
    public var protocolVersion = ""
    /// Whether the connection was reused.
    public var isReused = false

    /// All values are zero.
    public init() {}
}

/// Receives the answer to an upload: its head, and its body up to a limit.
final class AnswerBuffer: BodyReceiver {
    private struct State {
        var head: ResponseHead?
        var headTime = FileTime(nanoseconds: 0)
        var bytes: [UInt8] = []
        var isCut = false
        var metrics: TransferMetrics?
    }

    private let limit: Int
    private let onSent: @Sendable (Int) -> Void
    private let state = Lock(State())

    /// - Parameter onSent: receives the number of bytes sent of the request's body.
    init(limit: Int, onSent: @escaping @Sendable (Int) -> Void) {
        self.limit = limit
        self.onSent = onSent
    }

    /// The head of the answer; nil before it has arrived.
    var head: ResponseHead? { state.withLock { $0.head } }
    /// When the head arrived, in seconds since 1970.
    var received: Int { state.withLock { $0.headTime.seconds } }
    /// The body so far, and whether it exceeds the limit.
    var body: (bytes: [UInt8], isCut: Bool) { state.withLock { ($0.bytes, $0.isCut) } }
    /// The metrics, once the transfer has ended.
    var metrics: TransferMetrics? { state.withLock { $0.metrics } }

    func receive(_ head: ResponseHead) -> Bool {
        state.withLock { state in
            state.head = head
            state.headTime = .coarseNow
        }
        return true
    }

    func receive(_ bytes: Span<UInt8>) -> Bool {
        state.withLock { state in
            let room = limit - state.bytes.count
            state.isCut = bytes.count > room
            state.bytes += [UInt8](copying: bytes.extracting(first: max(0, min(room, bytes.count))))
            return !state.isCut
        }
    }

    func sent(_ count: Int) { onSent(count) }

    func receive(_ metrics: TransferMetrics) { state.withLock { $0.metrics = metrics } }
}

/// The credentials that sign a request for S3 (AWS Signature Version 4). A transport that cannot sign sends the request
/// unsigned, and the server refuses it.
package struct RequestSignature: Sendable {
    /// The region of the bucket, such as `eu-central-1`.
    let region: String
    let accessKey: String
    let secretKey: String
    /// For credentials that expire.
    let sessionToken: String?

    /// Makes libcurl sign a handle's request. Such a handle is not reused.
    /// - Returns: whether this libcurl can sign.
    func apply(to handle: OpaquePointer) -> Bool {
        [
            (CCURLOPT_AWS_SIGV4, "aws:amz:\(region):s3"), (CCURLOPT_USERNAME, accessKey),
            (CCURLOPT_PASSWORD, secretKey),
        ].allSatisfy { option, text in unsafe CurlHandle.set(option, .text(text), in: handle) }
    }
}
