import CCurl
import Glibc

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
