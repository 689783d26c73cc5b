import CMarqueeCurl
import FoundationEssentials
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
        self.init(configuration: configuration, startThread: BlockingThreads.startThread(name:_:))
    }

    /// - Parameter startThread: starts a thread.
    init(configuration: Configuration, startThread: @escaping BlockingThreads.Starter) {
        self.configuration = configuration
        self.startThread = startThread
    }

    // Ends the threads. No transfer can be running: each one retains the transport.
    deinit { for inbox in inboxes.withLock({ $0 }).values { inbox.mailbox.close() } }

    /// Makes one request: see ``Transport``.
    /// - Parameters:
    ///   - request: what to send, and its limits.
    ///   - receiver: takes the head and the body as they arrive.
    public func perform(
        _ request: TransportRequest, into receiver: any BodyReceiver
    ) async throws(ImageLoadingError) -> ResponseHead {
        // A program may give it a request of its own.
        try request.check()
        if request.addresses != nil, configuration.proxy != .none {
            throw .transportUnavailable(reason: Self.proxyHidesAddresses)
        }
        _ = try CurlLibrary.open(for: request.urlText)
        let inbox: CurlInbox
        do {
            inbox = try runningInbox(request.addresses)
        } catch {
            throw ImageLoadingError(error, url: request.urlText)
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
            if let current = inboxes[addresses], !current.mailbox.isClosed { return current }
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

/// The system's libcurl, opened once per process, at the first transfer.
enum CurlLibrary {
    /// The library names to try, in order. Debian installs the first with Swift's dependencies; the second is the same
    /// library with another TLS library. The environment variable `MARQUEE_LIBCURL`, a path, replaces them.
    static let names = ["libcurl.so.4", "libcurl-gnutls.so.4"]

    private static let opened = Lock<String?>(nil)

    /// Opens the library, if it is not open yet, and returns its version, such as `libcurl/7.88.1 OpenSSL/3.0.19`.
    /// - Parameter url: the URL of the transfer, for errors.
    /// - Throws: `.transportUnavailable`; `.resourcesShort` for lack of file descriptors or memory. The next call tries
    ///   again.
    static func open(for url: @autoclosure () -> String = "libcurl") throws(ImageLoadingError) -> String {
        try opened.withLock { opened throws(ImageLoadingError) in
            if let opened { return opened }
            let version = try load(for: url())
            opened = version
            return version
        }
    }

    private static func load(for url: String) throws(ImageLoadingError) -> String {
        let chosen = ProcessInfo.processInfo.environment["MARQUEE_LIBCURL"]
        var firstReason: String?
        for name in chosen.map({ [$0] }) ?? names {
            var reason = [CChar](repeating: 0, count: 512)
            if unsafe ccurl_open(name, &reason, reason.count) == 0 {
                return unsafe String(cString: ccurl_version())
            }
            firstReason = firstReason ?? text(reason)
        }
        // The dynamic linker gives no error number, but its message ends with the system's text for it.
        for code in [EMFILE, ENFILE, ENOMEM] where firstReason?.hasSuffix(SystemError.text(code)) == true {
            if let shortage = ResourceShortage(code: code) { throw ImageLoadingError(shortage, url: url) }
        }
        throw .transportUnavailable(
            reason: "libcurl cannot be opened (\(firstReason ?? "not found")); "
                + "install it, on Debian and Ubuntu with: apt-get install libcurl4")
    }

    /// The library by name and TLS, such as `libcurl/7.88.1 over OpenSSL/3.0.19`.
    static let name: String = {
        // Ignored: callers have opened the library before.
        guard let version = try? open() else { return "libcurl" }
        return version.split(separator: " ").prefix(2).joined(separator: " over ")
    }()

    /// Whether its TLS library accepts OpenSSL's names of cipher suites. Others ignore them or use other names.
    static let choosesCiphers = ["OpenSSL/", "LibreSSL/", "BoringSSL", "quictls/", "AWS-LC/"].contains {
        name.contains($0)
    }

    /// libcurl's text for a result code.
    static func text(ofResult result: Int32) -> String {
        guard let words = unsafe ccurl_easy_strerror(result) else { return "error \(result)" }
        return unsafe String(cString: words)
    }

    private static func text(_ characters: [CChar]) -> String {
        String(decoding: characters.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }
}

extension CurlTransport {
    /// The versions of the system's libcurl and of its libraries, such as `libcurl/7.88.1 OpenSSL/3.0.19`.
    package static func libraryVersion() throws(ImageLoadingError) -> String { try CurlLibrary.open() }
}
