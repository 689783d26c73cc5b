import CMarqueeCurl
import FoundationEssentials
import SystemSupport

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
        for (option, value) in numbers { unsafe set(option, .number(value), in: handle) }
        if filtersAddresses, unsafe !CurlAddressFilter.install(in: handle) {
            unsafe ccurl_easy_cleanup(handle)
            return nil
        }
        switch configuration.proxy {
        case .none: unsafe set(CCURLOPT_PROXY, .text(""), in: handle)
        case .environment: break
        case .url(let url):
            unsafe set(CCURLOPT_PROXY, .text(url), in: handle)
            // The environment's `no_proxy` is not for this proxy.
            unsafe set(CCURLOPT_NOPROXY, .text(""), in: handle)
        }
        return unsafe handle
    }

    /// The value of a setting. libcurl copies a text; nil resets the setting.
    enum Value {
        case number(Int)
        case text(String?)
    }

    /// Sets an option of a handle.
    /// - Returns: whether this libcurl supports that.
    @discardableResult
    static func set(_ option: Int, _ value: Value, in handle: OpaquePointer) -> Bool {
        let result =
            switch value {
            case .number(let number): unsafe ccurl_easy_set_long(handle, Int32(option), number)
            case .text(nil): unsafe ccurl_easy_set_pointer(handle, Int32(option), nil)
            case .text(let text?):
                unsafe text.withCString { unsafe ccurl_easy_set_pointer(handle, Int32(option), $0) }
            }
        return result == CCURLE_OK
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

/// Sets the TLS requirements of a libcurl handle. libcurl is built with one of several TLS libraries. If that library
/// cannot enforce a requirement, the transfer fails; a requirement is never ignored.
enum CurlSecurity {
    /// Cipher suites with forward secrecy for TLS 1.2 and older, in OpenSSL's format. TLS 1.3 has no others (RFC 8446
    /// section 1.2).
    private static let forwardSecrecy = "ECDHE+HIGH:!aNULL:!eNULL:!3DES:!MD5"

    /// Sets everything anew, since the handle may have served another server. Authorities and client certificates
    /// cannot be reset: a handle with those is not reused (`CurlTransfer.leavesHandleReusable`). Returns the reason why
    /// a requirement cannot be set, or nil.
    static func apply(_ security: TransportSecurity, to handle: OpaquePointer) -> String? {
        var oldest = security.minimumTLSVersion
        var ciphers: String?
        if security.requiresForwardSecrecy {
            if CurlLibrary.choosesCiphers {
                ciphers = forwardSecrecy
            } else {
                // This TLS library has no cipher setting. TLS 1.3 has only cipher suites with forward secrecy.
                oldest = .v1_3
            }
        }
        var file: String?
        var key: String?
        switch security.trust {
        case .authorities(let authorities): file = authorities
        case .publicKey(let sha256): key = "sha256//\(sha256)"
        }
        // A pinned public key needs no authority and no host name.
        var settings: [(option: Int, value: CurlHandle.Value)] = [
            (CCURLOPT_SSLVERSION, .number(Int(CCURL_SSLVERSION_TLSV1_0) + oldest.rawValue)),
            (CCURLOPT_SSL_CIPHER_LIST, .text(ciphers)),
            (CCURLOPT_SSL_VERIFYPEER, .number(key == nil ? 1 : 0)),
            (CCURLOPT_SSL_VERIFYHOST, .number(key == nil ? 2 : 0)),
            (CCURLOPT_PINNEDPUBLICKEY, .text(key)),
        ]
        if let file {
            // Without the second, the system's folder of authorities would be trusted too.
            settings += [(CCURLOPT_CAINFO, .text(file)), (CCURLOPT_CAPATH, .text(nil))]
        }
        if let own = security.clientCertificate {
            settings += [
                (CCURLOPT_SSLCERT, .text(own.certificateFile)),
                (CCURLOPT_SSLKEY, .text(own.keyFile ?? own.certificateFile)),
                // Without this OpenSSL would ask for a password on the terminal, and every transfer would wait.
                (CCURLOPT_KEYPASSWD, .text("")),
            ]
        }
        let missing = settings.filter { option, value in unsafe !CurlHandle.set(option, value, in: handle) }
        guard let first = missing.first else { return nil }
        let name =
            switch first.option {
            case CCURLOPT_SSLVERSION: "the oldest version of TLS"
            case CCURLOPT_SSL_CIPHER_LIST: "the key exchanges"
            case CCURLOPT_PINNEDPUBLICKEY: "the server's public key"
            case CCURLOPT_SSLCERT, CCURLOPT_SSLKEY, CCURLOPT_KEYPASSWD: "the client's certificate"
            default: "the certificate authorities"
            }
        return "\(CurlLibrary.name) does not support a setting for \(name)"
    }
}

/// Checks the addresses to which libcurl connects for one transfer. libcurl calls twice: before it opens a socket for
/// an address, and before it sends a request on a connection, which may be a reused one. The second call exists only
/// since libcurl 7.80; older versions are safe too, since connections are shared only under the same rules. Used on the
/// transport's thread only.
@safe final class CurlAddressFilter {
    private let rules: AddressRules
    /// The last refused address, and the reason.
    private var refused: String?
    private var hasOpenedSocket = false

    init(_ rules: AddressRules) { self.rules = rules }

    /// Installs the callbacks in a handle. False if libcurl refuses them.
    static func install(in handle: OpaquePointer) -> Bool {
        // libcurl before 7.80 does not know this option.
        _ = unsafe ccurl_easy_set_request_callback(handle, Int32(CCURLOPT_PREREQFUNCTION), requestCallback)
        return unsafe ccurl_easy_set_socket_callback(
            handle, Int32(CCURLOPT_OPENSOCKETFUNCTION), openSocketCallback) == CCURLE_OK
    }

    /// Connects a handle's callbacks with this object.
    func attach(to handle: OpaquePointer) {
        let context = unsafe Unmanaged.passUnretained(self).toOpaque()
        _ = unsafe ccurl_easy_set_pointer(handle, Int32(CCURLOPT_OPENSOCKETDATA), context)
        _ = unsafe ccurl_easy_set_pointer(handle, Int32(CCURLOPT_PREREQDATA), context)
    }

    /// Why the rules prevented a connection; nil if they did not: a name may have several addresses, and an allowed one
    /// may have failed to answer.
    var refusal: String? { hasOpenedSocket ? nil : refused }

    /// Opens a socket for an address, if the rules allow it.
    fileprivate func openSocket(for wanted: UnsafePointer<ccurl_socket_address>) -> Int32 {
        let offset = MemoryLayout<ccurl_socket_address>.offset(of: \.address) ?? 0
        let bytes = unsafe UnsafeRawBufferPointer(
            start: UnsafeRawPointer(wanted) + offset, count: Int(wanted.pointee.length))
        guard unsafe isAllowed(IPAddress(socketAddress: bytes)) else { return Int32(CCURL_SOCKET_BAD) }
        hasOpenedSocket = true
        return unsafe socket(
            wanted.pointee.family, wanted.pointee.kind | Int32(SOCK_CLOEXEC.rawValue), wanted.pointee.protocol
        )
    }

    /// Whether the rules allow a request on a connection to this address.
    func allowsRequest(to text: String) -> Bool {
        if isAllowed(IPAddress(text)) { return true }
        hasOpenedSocket = false
        return false
    }

    private func isAllowed(_ address: IPAddress?) -> Bool {
        let reason = address.map { rules.refusal(of: $0) } ?? "the address is neither IPv4 nor IPv6"
        guard let reason else { return true }
        refused = reason
        return false
    }
}

/// libcurl needs a socket for an address.
private func openSocketCallback(
    _ context: UnsafeMutableRawPointer?, _ purpose: Int32,
    _ wanted: UnsafeMutablePointer<ccurl_socket_address>?
) -> Int32 {
    guard let context = unsafe context, let wanted = unsafe wanted else { return Int32(CCURL_SOCKET_BAD) }
    let filter = unsafe Unmanaged<CurlAddressFilter>.fromOpaque(context).takeUnretainedValue()
    return unsafe filter.openSocket(for: wanted)
}

/// libcurl is about to send a request.
private func requestCallback(
    _ context: UnsafeMutableRawPointer?, _ remote: UnsafeMutablePointer<CChar>?,
    _ local: UnsafeMutablePointer<CChar>?, _ remotePort: Int32, _ localPort: Int32
) -> Int32 {
    guard let context = unsafe context, let remote = unsafe remote else { return Int32(CCURL_REQUEST_ABORT) }
    let filter = unsafe Unmanaged<CurlAddressFilter>.fromOpaque(context).takeUnretainedValue()
    let isAllowed = filter.allowsRequest(to: unsafe String(cString: remote))
    return Int32(isAllowed ? CCURL_REQUEST_OK : CCURL_REQUEST_ABORT)
}
