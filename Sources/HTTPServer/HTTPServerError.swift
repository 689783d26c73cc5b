internal import SystemSupport

/// Why a server cannot start.
package enum HTTPServerError: Error, Sendable, Hashable {
    /// The text is not an IPv4 or IPv6 address.
    case invalidAddress(String)
    /// No interface of this machine has this address.
    case addressNotHere(String)
    /// Another program listens on this port.
    case portInUse(address: String, port: UInt16)
    /// Only the administrator may open this port.
    case portNotPermitted(port: UInt16)
    /// Another program listens at the path of a local socket.
    case pathInUse(String)
    /// The path of a local socket is empty or longer than the system's limit of 107 bytes.
    case invalidPath(String)
    /// The system refused a local socket at this path, with this error number.
    case pathRefused(String, errno: Int32)
    /// The system refused another call, with this error number.
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
            "\"\(path)\" is not a path for a local socket; give one of 1 to 107 bytes"
        case .pathRefused(let path, let errno):
            "the system refused a local socket at \(path): \(SystemError.text(errno)); choose another path"
        case .system(let call, let errno): "the system refused \(call): \(SystemError.text(errno))"
        }
    }
}
