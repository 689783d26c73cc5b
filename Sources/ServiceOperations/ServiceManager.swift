internal import Glibc

/// Tells the service manager how far the service is (sd_notify(3)): a datagram to the socket that it names.
///
///     READY=1        STOPPING=1
package enum ServiceManager {
    package enum State: String, Sendable {
        case ready = "READY=1"
        case stopping = "STOPPING=1"
    }

    /// Tells it, if there is one. Losing an error is right: a service runs without a manager too.
    /// - Parameter socket: a path, or a name after `@` in the abstract namespace (unix(7)). Default: `NOTIFY_SOCKET`.
    package static func notify(_ state: State, socket: String? = environmentSocket) {
        guard let name = socket, name.hasPrefix("/") || name.hasPrefix("@") else { return }
        var bytes = Array(name.utf8)
        if bytes[0] == UInt8(ascii: "@") { bytes[0] = 0 }
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        let isWritten = unsafe withUnsafeMutableBytes(of: &address.sun_path) { place in
            // A path ends in a zero; an abstract name ends with the address.
            guard bytes.count < place.count else { return false }
            unsafe place.copyBytes(from: bytes)
            return true
        }
        guard isWritten else { return }
        let descriptor = Glibc.socket(
            AF_UNIX, Int32(SOCK_DGRAM.rawValue | SOCK_CLOEXEC.rawValue | SOCK_NONBLOCK.rawValue), 0)
        guard descriptor >= 0 else { return }
        defer { close(descriptor) }
        let message = Array(state.rawValue.utf8)
        let length = socklen_t(MemoryLayout<sa_family_t>.size + bytes.count)
        unsafe withUnsafePointer(to: address) { pointer in
            unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                _ = unsafe sendto(
                    descriptor, message, message.count, Int32(MSG_NOSIGNAL), $0,
                    // The zero that ends a path counts.
                    bytes[0] == 0 ? length : length + 1)
            }
        }
    }

    /// What the manager says, which started this program; nil where none did.
    package static var environmentSocket: String? {
        guard let text = unsafe getenv("NOTIFY_SOCKET") else { return nil }
        return unsafe String(cString: text)
    }
}
