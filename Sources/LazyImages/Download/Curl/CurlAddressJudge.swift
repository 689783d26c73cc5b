import CCurl
import Glibc

/// Judges the addresses that libcurl connects to for one transfer. libcurl asks twice: before it opens a socket for an
/// address that it has looked up, and before it sends a request on a connection, which may be one that was used before. The
/// second is only there from libcurl 7.80 on; older ones send nothing elsewhere either, since connections are shared under
/// the same rules alone. Used on the transport's thread only.
@safe final class CurlAddressJudge {
    private let rules: AddressRules
    /// The last address that was refused, and why.
    private var refused: String?
    private var hasOpenedSocket = false

    init(_ rules: AddressRules) { self.rules = rules }

    /// Has a handle ask. False if it does not.
    static func install(in handle: OpaquePointer) -> Bool {
        // An older libcurl does not know it.
        _ = unsafe ccurl_easy_set_request_callback(handle, Int32(CCURLOPT_PREREQFUNCTION), requestCallback)
        return unsafe ccurl_easy_set_socket_callback(
            handle, Int32(CCURLOPT_OPENSOCKETFUNCTION), openSocketCallback) == CCURLE_OK
    }

    /// Has a handle, in which it is installed, ask this judge.
    func attach(to handle: OpaquePointer) {
        let context = unsafe Unmanaged.passUnretained(self).toOpaque()
        _ = unsafe ccurl_easy_set_pointer(handle, Int32(CCURLOPT_OPENSOCKETDATA), context)
        _ = unsafe ccurl_easy_set_pointer(handle, Int32(CCURLOPT_PREREQDATA), context)
    }

    /// Why the transfer had no connection; nil if the rules are not to blame: a name may have several addresses, of which
    /// some are allowed and do not answer.
    var refusal: String? { hasOpenedSocket ? nil : refused }

    /// Opens a socket for an address, if it is allowed.
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

    /// Whether a request may be sent on a connection to this address.
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

/// libcurl wants a socket for an address.
private func openSocketCallback(
    _ context: UnsafeMutableRawPointer?, _ purpose: Int32,
    _ wanted: UnsafeMutablePointer<ccurl_socket_address>?
) -> Int32 {
    guard let context = unsafe context, let wanted = unsafe wanted else { return Int32(CCURL_SOCKET_BAD) }
    let judge = unsafe Unmanaged<CurlAddressJudge>.fromOpaque(context).takeUnretainedValue()
    return unsafe judge.openSocket(for: wanted)
}

/// libcurl is about to send a request.
private func requestCallback(
    _ context: UnsafeMutableRawPointer?, _ remote: UnsafeMutablePointer<CChar>?,
    _ local: UnsafeMutablePointer<CChar>?, _ remotePort: Int32, _ localPort: Int32
) -> Int32 {
    guard let context = unsafe context, let remote = unsafe remote else { return Int32(CCURL_REQUEST_ABORT) }
    let judge = unsafe Unmanaged<CurlAddressJudge>.fromOpaque(context).takeUnretainedValue()
    let isAllowed = judge.allowsRequest(to: unsafe String(cString: remote))
    return Int32(isAllowed ? CCURL_REQUEST_OK : CCURL_REQUEST_ABORT)
}
