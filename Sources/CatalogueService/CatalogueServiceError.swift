internal import SystemSupport

/// Why a service cannot be started.
public enum CatalogueServiceError: Error, Sendable, Hashable {
    /// There is no folder at this path.
    case noSuchFolder(path: String)
    /// There is something at this path that is not a folder.
    case notAFolder(path: String)
    /// The folder may not be read.
    case folderNotReadable(path: String)
    /// The text is not an IPv4 or IPv6 address.
    case invalidAddress(String)
    /// No interface of this machine has the address.
    case addressNotHere(String)
    /// Another program listens there.
    case portInUse(address: String, port: UInt16)
    /// The port is one that only the administrator may open.
    case portNotPermitted(port: UInt16)
    /// The system refused something else: which call, and its error number.
    case system(call: String, errno: Int32)
}

extension CatalogueServiceError: CustomStringConvertible {
    /// One line: what is wrong and what to do.
    public var description: String {
        switch self {
        case .noSuchFolder(let path): "there is no folder \(path); name the folder that holds the catalogue"
        case .notAFolder(let path): "\(path) is not a folder; name the folder that holds the catalogue"
        case .folderNotReadable(let path): "the folder \(path) may not be read; change its permissions"
        case .invalidAddress(let address):
            "\(address) is not an IP address; use 127.0.0.1, ::1, or 0.0.0.0 for every interface"
        case .addressNotHere(let address): "this machine does not have the address \(address); use 127.0.0.1"
        case .portInUse(let address, let port):
            "port \(port) of \(address) is in use; choose another, or 0 for any that is free"
        case .portNotPermitted(let port):
            "port \(port) needs the administrator's rights; choose one above 1023, or 0 for any that is free"
        case .system(let call, let errno): "the system refused \(call): \(SystemError.text(errno))"
        }
    }
}
