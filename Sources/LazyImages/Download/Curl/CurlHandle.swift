import CCurl
import FoundationEssentials

/// Makes libcurl's handles, with the settings that are the same for every transfer of a transport.
enum CurlHandle {
    /// How much libcurl reads from a socket at once, in bytes. It takes such a buffer for each transfer anew: one of 128 KiB
    /// would come from the system each time, page by page, and one of this size is what the last transfer left.
    private static let readSize = 64 * 1024

    /// A handle, or nil if libcurl gives none.
    static func make(
        _ configuration: CurlTransport.Configuration, judgesAddresses: Bool
    ) -> OpaquePointer? {
        guard let handle = unsafe ccurl_easy_init() else { return nil }
        _ = unsafe ccurl_easy_set_data_callback(handle, Int32(CCURLOPT_WRITEFUNCTION), bodyCallback)
        _ = unsafe ccurl_easy_set_data_callback(handle, Int32(CCURLOPT_HEADERFUNCTION), headerCallback)
        let numbers: [(Int, Int)] = [
            (CCURLOPT_PROTOCOLS, Int(CCURL_PROTOCOLS_HTTP_HTTPS)),
            (CCURLOPT_HTTP_VERSION, Int(CCURL_HTTP_VERSION_2TLS)),
            (CCURLOPT_NOSIGNAL, 1), (CCURLOPT_QUICK_EXIT, 1), (CCURLOPT_BUFFERSIZE, readSize),
            // What a proxy says while it connects is no part of an answer.
            (CCURLOPT_SUPPRESS_CONNECT_HEADERS, 1),
        ]
        for (option, value) in numbers { _ = unsafe ccurl_easy_set_long(handle, Int32(option), value) }
        if judgesAddresses, unsafe !CurlAddressJudge.install(in: handle) {
            unsafe ccurl_easy_cleanup(handle)
            return nil
        }
        switch configuration.proxy {
        case .none: unsafe set(CCURLOPT_PROXY, "", handle)
        case .environment: unsafe set(CCURLOPT_NOPROXY, exceptions(configuration, environment: true), handle)
        case .url(let url):
            unsafe set(CCURLOPT_PROXY, url, handle)
            unsafe set(CCURLOPT_NOPROXY, exceptions(configuration, environment: false), handle)
        }
        return unsafe handle
    }

    /// The hosts that are reached directly all the same, as libcurl takes them; setting any makes it forget the
    /// environment's own.
    private static func exceptions(_ configuration: CurlTransport.Configuration, environment: Bool) -> String
    {
        var hosts = configuration.connectTo.keys.compactMap {
            $0.split(separator: ":").first.map(String.init)
        }
        if environment {
            let variables = ProcessInfo.processInfo.environment
            hosts += [variables["no_proxy"] ?? variables["NO_PROXY"]].compactMap(\.self)
        }
        return hosts.joined(separator: ",")
    }

    private static func set(_ option: Int, _ text: String, _ handle: OpaquePointer) {
        _ = unsafe text.withCString { unsafe ccurl_easy_set_pointer(handle, Int32(option), $0) }
    }
}

/// libcurl hands over one header line.
private func headerCallback(
    _ bytes: UnsafeMutablePointer<CChar>?, _ size: Int, _ count: Int, _ context: UnsafeMutableRawPointer?
) -> Int {
    guard let context = unsafe context else { return 0 }
    let transfer = unsafe Unmanaged<CurlTransfer>.fromOpaque(context).takeUnretainedValue()
    let line = unsafe UnsafeRawBufferPointer(start: bytes, count: size * count)
    return unsafe transfer.receiveHeaderLine(line) ? size * count : -1
}

/// libcurl hands over bytes of the body.
private func bodyCallback(
    _ bytes: UnsafeMutablePointer<CChar>?, _ size: Int, _ count: Int, _ context: UnsafeMutableRawPointer?
) -> Int {
    guard let context = unsafe context else { return 0 }
    let transfer = unsafe Unmanaged<CurlTransfer>.fromOpaque(context).takeUnretainedValue()
    let body = unsafe UnsafeRawBufferPointer(start: bytes, count: size * count)
    return unsafe transfer.receiveBody(body) ? size * count : -1
}

/// A list of lines as libcurl takes them, freed with the object. It does not change.
@safe final class CurlList {
    /// Nil for an empty one.
    let first: OpaquePointer?

    init(_ lines: [String]) {
        var first: OpaquePointer?
        for line in lines { unsafe first = line.withCString { unsafe ccurl_list_append(first, $0) } }
        unsafe self.first = first
    }

    /// Header fields; one without a value is written in a way of libcurl's own.
    /// - Parameter last: lines behind them, as libcurl takes them.
    convenience init(_ fields: HTTPFields, _ last: String...) {
        self.init(fields.fields.map { $0.value.isEmpty ? "\($0.name);" : "\($0.name): \($0.value)" } + last)
    }

    deinit { unsafe ccurl_list_free(first) }
}
