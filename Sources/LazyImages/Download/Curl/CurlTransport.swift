import Synchronization

/// HTTP over the system's libcurl: HTTP/1.1, and HTTP/2 where a TLS server offers it, with connections kept for
/// reuse. One thread serves every transfer of the object; it starts with the first and ends with the object.
///
/// Redirects are returned, not followed; no proxy is used unless the configuration names one; no content encoding is asked
/// for; cookies, credentials and `.netrc` play no part.
public final class CurlTransport: Transport {
    /// Where transfers go through.
    public enum Proxy: Sendable, Hashable {
        /// Straight to the server, whatever the environment says.
        case none
        /// What `http_proxy`, `https_proxy`, `all_proxy` and `no_proxy` say.
        case environment
        /// This one: http, https, socks4, socks4a, socks5 or socks5h.
        case url(String)
    }

    /// What does not change from transfer to transfer.
    public struct Configuration: Sendable {
        /// Idle connections kept for reuse. Default 64.
        public var idleConnections: Int
        /// Where to connect instead, for hosts that the name service does not know: `sample.localhost:80` to
        /// `127.0.0.1:49152`. The request itself keeps its own host name. Default none.
        public var connectTo: [String: String]
        /// Where transfers go through, those to hosts of `connectTo` excepted. Default none.
        public var proxy: Proxy

        /// A configuration with the defaults for what is not given.
        public init(
            idleConnections: Int = 64, connectTo: [String: String] = [:], proxy: Proxy = .none
        ) {
            self.idleConnections = idleConnections
            self.connectTo = connectTo
            self.proxy = proxy
        }
    }

    private let inbox: CurlInbox
    private let configuration: Configuration
    private let nextNumber = Atomic<Int>(0)
    private let hasThread = Lock(false)

    /// A transport that has no thread yet. Whether there is a libcurl shows at the first transfer.
    public init(configuration: Configuration = Configuration()) {
        inbox = CurlInbox()
        self.configuration = configuration
    }

    deinit { inbox.close() }

    /// The version of the system's libcurl, such as `libcurl/7.88.1 OpenSSL/3.0.19`.
    /// - Throws: `.transportUnavailable` when there is none.
    public static func libraryVersion() throws(ImageLoadingError) -> String { try CurlLibrary.version.get() }

    /// Performs one GET: see `Transport`.
    public func perform(
        _ request: TransportRequest, into receiver: any BodyReceiver
    ) async throws(ImageLoadingError) -> ResponseHead {
        _ = try CurlLibrary.version.get()
        startThreadOnce()
        let number = nextNumber.add(1, ordering: .relaxed).newValue
        let cancellation = CurlCancellation()
        let resumption = ResumeOrder()
        let outcome = await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let order = CurlOrder(
                    number: number, request: request, receiver: receiver, cancellation: cancellation,
                    continuation: continuation, resumption: resumption)
                inbox.send(.start(order))
            }
        } onCancel: {
            cancellation.isRequested.store(true, ordering: .releasing)
            inbox.send(.cancel(number))
        }
        resumption.mark()
        return try outcome.get()
    }

    private func startThreadOnce() {
        let isFirst = hasThread.withLock { hasThread in
            defer { hasThread = true }
            return !hasThread
        }
        guard isFirst else { return }
        BlockingThreads.startThread(name: "LazyImages.curl") { [inbox, configuration] in
            CurlLoop(inbox: inbox, configuration: configuration).run()
        }
    }
}

/// One transfer that was asked for.
struct CurlOrder: Sendable {
    typealias Outcome = Result<ResponseHead, ImageLoadingError>
    let number: Int
    let request: TransportRequest
    let receiver: any BodyReceiver
    let cancellation: CurlCancellation
    let continuation: CheckedContinuation<Outcome, Never>
    let resumption: ResumeOrder

    /// Gives the caller its outcome: once.
    func end(with outcome: Outcome) {
        resumption.mark()
        continuation.resume(returning: outcome)
    }
}

/// Whether the caller has left. The message `.cancel` may reach the thread before the order does, when the caller was
/// cancelled already; then nobody would know what it meant. So the flag is set first and read when the order comes:
/// 1. the flag is set before the order is read: the order is not begun;
/// 2. it is set after: the message comes after the order, and ends it.
final class CurlCancellation: Sendable {
    let isRequested = Atomic(false)
}

/// What callers want of the transport's thread, and the descriptor that wakes it.
final class CurlInbox: Sendable {
    enum Message: Sendable {
        case start(CurlOrder)
        case cancel(Int)
    }

    private struct State {
        var messages: [Message] = []
        var isClosed = false
    }

    private let state = Lock(State())
    let wake = WakeDescriptor()

    /// Leaves a message and wakes the thread, unless an earlier message has done so already.
    func send(_ message: Message) {
        let isFirst = state.withLock { state in
            state.messages.append(message)
            return state.messages.count == 1
        }
        if isFirst { wake.signal() }
    }

    /// Ends the thread. No transfer can be under way: each holds the transport while it waits.
    func close() {
        state.withLock { $0.isClosed = true }
        wake.signal()
    }

    /// The messages left since the last time; nil when the transport is gone.
    func take() -> [Message]? {
        state.withLock { state in
            if state.isClosed { return nil }
            defer { state.messages.removeAll(keepingCapacity: true) }
            return state.messages
        }
    }
}
