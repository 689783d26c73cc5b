import CCurl
import FoundationEssentials

/// Makes libcurl handles with the settings that all transfers of a transport share.
enum CurlHandle {
    /// The size of libcurl's read buffer in bytes, which it allocates for each transfer. The allocator reuses a buffer
    /// of this size; one of 128 KiB would be mapped anew each time.
    private static let readSize = 64 * 1024

    /// A new handle; nil if libcurl fails to make one.
    static func make(
        _ configuration: CurlTransport.Configuration, filtersAddresses: Bool
    ) -> OpaquePointer? {
        guard let handle = unsafe ccurl_easy_init() else { return nil }
        _ = unsafe ccurl_easy_set_data_callback(handle, Int32(CCURLOPT_WRITEFUNCTION), bodyCallback)
        _ = unsafe ccurl_easy_set_data_callback(handle, Int32(CCURLOPT_HEADERFUNCTION), headerCallback)
        let numbers: [(Int, Int)] = [
            (CCURLOPT_PROTOCOLS, Int(CCURL_PROTOCOLS_HTTP_HTTPS)),
            (CCURLOPT_HTTP_VERSION, Int(CCURL_HTTP_VERSION_2TLS)),
            (CCURLOPT_NOSIGNAL, 1), (CCURLOPT_QUICK_EXIT, 1), (CCURLOPT_BUFFERSIZE, readSize),
            // The header of a proxy's answer to CONNECT is not part of the answer.
            (CCURLOPT_SUPPRESS_CONNECT_HEADERS, 1),
        ]
        for (option, value) in numbers { _ = unsafe ccurl_easy_set_long(handle, Int32(option), value) }
        if filtersAddresses, unsafe !CurlAddressFilter.install(in: handle) {
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

    /// The hosts that bypass the proxy, in libcurl's format. Setting them replaces the environment's `no_proxy`, so
    /// that list is included.
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

/// libcurl has received one header line.
private func headerCallback(
    _ bytes: UnsafeMutablePointer<CChar>?, _ size: Int, _ count: Int, _ context: UnsafeMutableRawPointer?
) -> Int {
    guard let context = unsafe context else { return 0 }
    let transfer = unsafe Unmanaged<CurlTransfer>.fromOpaque(context).takeUnretainedValue()
    let line = unsafe UnsafeRawBufferPointer(start: bytes, count: size * count)
    return unsafe transfer.receiveHeaderLine(line) ? size * count : -1
}

/// libcurl has received bytes of the body.
private func bodyCallback(
    _ bytes: UnsafeMutablePointer<CChar>?, _ size: Int, _ count: Int, _ context: UnsafeMutableRawPointer?
) -> Int {
    guard let context = unsafe context else { return 0 }
    let transfer = unsafe Unmanaged<CurlTransfer>.fromOpaque(context).takeUnretainedValue()
    return unsafe transfer.receiveBody(UnsafeRawBufferPointer(start: bytes, count: size * count))
}

/// A libcurl list of strings, freed with the object. Immutable.
@safe final class CurlList {
    /// Nil for an empty list.
    let first: OpaquePointer?

    init(_ lines: [String]) {
        var first: OpaquePointer?
        for line in lines { unsafe first = line.withCString { unsafe ccurl_list_append(first, $0) } }
        unsafe self.first = first
    }

    /// Header fields. libcurl marks a field without a value by a semicolon.
    /// - Parameter last: further lines, in libcurl's format.
    convenience init(_ fields: HeaderFields, _ last: String...) {
        self.init(fields.fields.map { $0.value.isEmpty ? "\($0.name);" : "\($0.name): \($0.value)" } + last)
    }

    deinit { unsafe ccurl_list_free(first) }
}
