import Synchronization
import SystemSupport

/// HTTP over the system's libcurl: HTTP/1.1, and HTTP/2 where a TLS server offers it, with connections kept for
/// reuse. One thread serves every transfer of the object, but for those whose addresses are judged; it starts with the first
/// and ends with the object.
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
        /// Where transfers go through, those to hosts of ``connectTo`` excepted. Default none.
        public var proxy: Proxy

        /// A configuration with the defaults for what is not given.
        /// - Parameters:
        ///   - idleConnections: idle connections kept for reuse. Default 64.
        ///   - connectTo: where to connect instead, by host and port. Default: nowhere else.
        ///   - proxy: where transfers go through. Default: straight to the server.
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
    /// What leads to the threads: one for all transfers to any address, and one for each set of rules. Connections are shared
    /// only under the same rules.
    private let inboxes = Lock<[AddressRules?: CurlInbox]>([:])

    /// A transport that has no thread yet. Whether there is a libcurl shows at the first transfer.
    /// - Parameter configuration: what does not change from transfer to transfer.
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

    deinit { for inbox in inboxes.withLock({ $0 }).values { inbox.close() } }

    /// Performs one request: see ``Transport``.
    /// - Parameters:
    ///   - request: what to send, and its limits.
    ///   - receiver: takes the head and the body as they arrive.
    public func perform(
        _ request: TransportRequest, into receiver: any BodyReceiver
    ) async throws(ImageLoadingError) -> ResponseHead {
        if request.addresses != nil, configuration.proxy != .none {
            throw .transportUnavailable(reason: Self.proxyHidesAddresses)
        }
        _ = try CurlLibrary.open(for: request.url.displayText)
        let inbox: CurlInbox
        do {
            inbox = try runningInbox(request.addresses)
        } catch {
            throw ImageLoadingError(error, url: request.url.displayText)
        }
        let number = nextNumber.add(1, ordering: .relaxed).newValue
        let order = CurlOrder(number: number, request: request, receiver: receiver)
        let outcome = await withTaskCancellationHandler {
            await order.outcome { inbox.send(.start(order)) }
        } onCancel: {
            order.isCancelled.store(true, ordering: .releasing)
            inbox.send(.cancel(number))
        }
        return try outcome.get()
    }

    private static let proxyHidesAddresses =
        "through a proxy nobody can judge which address is connected to; use the guard without a proxy"

    /// The inbox of the thread for these rules, which is started if there is none.
    private func runningInbox(_ addresses: AddressRules?) throws(ResourceShortage) -> CurlInbox {
        try inboxes.withLock { inboxes throws(ResourceShortage) in
            if let current = inboxes[addresses], !current.isClosed { return current }
            let inbox = try CurlInbox()
            let poller = try Poller()
            try startThread("LazyImages.curl") { [configuration] in
                CurlLoop(
                    inbox: inbox, poller: poller, configuration: configuration,
                    judgesAddresses: addresses != nil
                ).run()
            }
            inboxes[addresses] = inbox
            return inbox
        }
    }
}
