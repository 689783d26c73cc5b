import Synchronization
import SystemSupport

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

    private let configuration: Configuration
    private let startThread: BlockingThreads.Starter
    private let nextNumber = Atomic<Int>(0)
    /// What leads to the thread; nil while there is none.
    private let inbox = Lock<CurlInbox?>(nil)

    /// A transport that has no thread yet. Whether there is a libcurl shows at the first transfer.
    public convenience init(configuration: Configuration = Configuration()) {
        self.init(configuration: configuration) { name, body throws(ResourceShortage) in
            try BlockingThreads.startThread(name: name, body)
        }
    }

    /// As above, with a thread from elsewhere.
    init(configuration: Configuration, startThread: @escaping BlockingThreads.Starter) {
        self.configuration = configuration
        self.startThread = startThread
    }

    deinit { inbox.withLock { $0 }?.close() }

    /// The version of the system's libcurl, such as `libcurl/7.88.1 OpenSSL/3.0.19`.
    /// - Throws: `.transportUnavailable` when there is none.
    public static func libraryVersion() throws(ImageLoadingError) -> String { try CurlLibrary.open() }

    /// Performs one GET: see `Transport`.
    public func perform(
        _ request: TransportRequest, into receiver: any BodyReceiver
    ) async throws(ImageLoadingError) -> ResponseHead {
        _ = try CurlLibrary.open(for: request.url.displayText)
        let inbox: CurlInbox
        do {
            inbox = try runningInbox()
        } catch {
            throw ImageLoadingError(error, url: request.url.displayText)
        }
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

    /// The inbox of the thread, which is started if there is none.
    private func runningInbox() throws(ResourceShortage) -> CurlInbox {
        try inbox.withLock { current throws(ResourceShortage) in
            if let current, !current.isClosed { return current }
            let inbox = try CurlInbox()
            let poller = try Poller()
            try startThread("LazyImages.curl") { [configuration] in
                CurlLoop(inbox: inbox, poller: poller, configuration: configuration).run()
            }
            current = inbox
            return inbox
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

        fileprivate func refuse(_ shortage: ResourceShortage) {
            guard case .start(let order) = self else { return }
            order.end(with: .failure(ImageLoadingError(shortage, url: order.request.url.displayText)))
        }
    }

    private struct State {
        var messages: [Message] = []
        var isClosed = false
        /// Why the thread could not begin its work.
        var shortage: ResourceShortage?
    }

    private let state = Lock(State())
    let wake: WakeDescriptor

    init() throws(ResourceShortage) { wake = try WakeDescriptor() }

    /// Whether no thread reads it any more.
    var isClosed: Bool { state.withLock { $0.isClosed } }

    /// Leaves a message and wakes the thread, unless an earlier message has done so already.
    func send(_ message: Message) {
        let (isFirst, shortage) = state.withLock { state in
            if state.shortage == nil { state.messages.append(message) }
            return (state.messages.count == 1, state.shortage)
        }
        if let shortage { return message.refuse(shortage) }
        if isFirst { wake.signal() }
    }

    /// Ends every order, those that were left already and those to come: there is no thread for them.
    func refuse(_ shortage: ResourceShortage) {
        let left = state.withLock { state in
            defer { state.messages = [] }
            state.shortage = shortage
            state.isClosed = true
            return state.messages
        }
        for message in left { message.refuse(shortage) }
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
