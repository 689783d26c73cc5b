import Synchronization
import SystemSupport

/// HTTP over the system's libcurl: HTTP/1.1, and HTTP/2 if a TLS server offers it. Idle connections are kept for reuse.
/// One thread serves all transfers; transfers with address rules have another thread for each set of rules. A thread
/// starts with its first transfer and ends with the object.
///
/// Follows no redirects, uses no proxy unless the configuration names one, requests no content encoding, and ignores
/// cookies, credentials and `.netrc`.
public final class CurlTransport: Transport {
    /// The proxy of transfers.
    public enum Proxy: Sendable, Hashable {
        /// No proxy, whatever the environment says.
        case none
        /// The proxy in `http_proxy`, `https_proxy`, `all_proxy` and `no_proxy`.
        case environment
        /// The proxy at this URL: http, https, socks4, socks4a, socks5 or socks5h.
        case url(String)
    }

    /// Settings for all transfers of a transport.
    public struct Configuration: Sendable {
        /// The most idle connections kept for reuse. Default: 64.
        public var idleConnections: Int
        /// Other addresses to connect to, by host and port, for hosts that the name service does not know:
        /// `sample.localhost:80` to `127.0.0.1:49152`. The request keeps its host name. Default: none.
        package var connectTo: [String: String]
        /// The proxy. Default: none.
        public var proxy: Proxy

        /// Connections to one host at once; further transfers wait. 0, the default: any number.
        package var connectionsPerHost = 0

        /// A configuration with the defaults for what is not given.
        /// - Parameters:
        ///   - idleConnections: the most idle connections kept for reuse. Default: 64.
        ///   - proxy: the proxy. Default: none.
        public init(idleConnections: Int = 64, proxy: Proxy = .none) {
            self.init(connectTo: [:], idleConnections: idleConnections, proxy: proxy)
        }

        package init(connectTo: [String: String], idleConnections: Int = 64, proxy: Proxy = .none) {
            self.connectTo = connectTo
            self.idleConnections = idleConnections
            self.proxy = proxy
        }
    }

    private let configuration: Configuration
    private let startThread: BlockingThreads.Starter
    private let nextNumber = Atomic<Int>(0)
    /// The inboxes of the threads: one for transfers without address rules, and one for each set of rules. So
    /// connections are shared only under the same rules.
    private let inboxes = Lock<[AddressRules?: CurlInbox]>([:])

    /// A transport. The first transfer opens libcurl and starts the thread.
    /// - Parameter configuration: settings for all transfers.
    public convenience init(configuration: Configuration = Configuration()) {
        self.init(configuration: configuration) { name, body throws(ResourceShortage) in
            try BlockingThreads.startThread(name: name, body)
        }
    }

    /// - Parameter startThread: starts a thread.
    init(configuration: Configuration, startThread: @escaping BlockingThreads.Starter) {
        self.configuration = configuration
        self.startThread = startThread
    }

    deinit { for inbox in inboxes.withLock({ $0 }).values { inbox.close() } }

    /// Makes one request: see ``Transport``.
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
        let job = CurlJob(number: number, request: request, inbox: inbox)
        let outcome = await withTaskCancellationHandler {
            await job.outcome(into: receiver)
        } onCancel: {
            job.cancel()
        }
        return try outcome.get()
    }

    private static let proxyHidesAddresses =
        "a fetch guard cannot check addresses behind a proxy; use the guard without a proxy"

    /// The inbox of the thread for these rules. Starts the thread if there is none.
    private func runningInbox(_ addresses: AddressRules?) throws(ResourceShortage) -> CurlInbox {
        try inboxes.withLock { inboxes throws(ResourceShortage) in
            if let current = inboxes[addresses], !current.isClosed { return current }
            let inbox = try CurlInbox()
            let poller = try Poller()
            try startThread("LazyImages.curl") { [configuration] in
                CurlLoop(
                    inbox: inbox, poller: poller, configuration: configuration,
                    filtersAddresses: addresses != nil
                ).run()
            }
            inboxes[addresses] = inbox
            return inbox
        }
    }
}
