internal import SystemSupport

/// Why a server cannot be started.
package enum HTTPServerError: Error, Sendable, Hashable {
    /// The text is not an IPv4 or IPv6 address.
    case invalidAddress(String)
    /// No interface of this machine has the address.
    case addressNotHere(String)
    /// Another program listens there.
    case portInUse(address: String, port: UInt16)
    /// The port is one that only the administrator may open.
    case portNotPermitted(port: UInt16)
    /// Another program listens at the path of a local socket.
    case pathInUse(String)
    /// The path of a local socket is empty or too long for the system, which takes 107 bytes.
    case invalidPath(String)
    /// The local socket cannot be made at this path: the system's error number.
    case pathRefused(String, errno: Int32)
    /// The system refused something else: which call, and its error number.
    case system(call: String, errno: Int32)
}

extension HTTPServerError: CustomStringConvertible {
    /// One line: what is wrong and what to do.
    package var description: String {
        switch self {
        case .invalidAddress(let address):
            "\(address) is not an IP address; use 127.0.0.1, ::1, or 0.0.0.0 for every interface"
        case .addressNotHere(let address): "this machine does not have the address \(address); use 127.0.0.1"
        case .portInUse(let address, let port):
            "port \(port) of \(address) is in use; choose another, or 0 for any that is free"
        case .portNotPermitted(let port):
            "port \(port) needs the administrator's rights; choose one above 1023, or 0 for any that is free"
        case .pathInUse(let path): "another program listens at \(path); choose another path"
        case .invalidPath(let path):
            "\"\(path)\" is no path for a local socket; give one of at most 107 bytes"
        case .pathRefused(let path, let errno):
            "the system refused a local socket at \(path): \(SystemError.text(errno)); choose another path"
        case .system(let call, let errno): "the system refused \(call): \(SystemError.text(errno))"
        }
    }
}
