internal import SystemSupport

/// Reports the service's state to the service manager (sd_notify(3)): a datagram to the socket in `NOTIFY_SOCKET`.
///
///     READY=1        STOPPING=1        RELOADING=1\nMONOTONIC_USEC=8123456
package enum ServiceManager {
    package enum State: Sendable {
        case ready, stopping
        /// The service reads its files anew; `ready` follows. The time tells the manager that it is the answer to its
        /// own signal (systemd.service(5), `notify-reload`).
        case reloading

        var message: String {
            switch self {
            case .ready: return "READY=1"
            case .stopping: return "STOPPING=1"
            case .reloading:
                return "RELOADING=1\nMONOTONIC_USEC=\(MonotonicClock.nanoseconds / 1000)"
            }
        }
    }

    /// Reports the state, if there is a manager. Ignored: a service runs without a manager too.
    /// - Parameter socket: a path, or a name after `@` in the abstract namespace (unix(7)). Default: `NOTIFY_SOCKET`.
    package static func notify(_ state: State, socket: String? = environmentSocket) {
        guard let name = socket, name.hasPrefix("/") || name.hasPrefix("@") else { return }
        var bytes = Array(name.utf8)
        if bytes[0] == UInt8(ascii: "@") { bytes[0] = 0 }
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        let isWritten = unsafe withUnsafeMutableBytes(of: &address.sun_path) { place in
            // A path ends with a zero byte; an abstract name ends with the address.
            guard bytes.count < place.count else { return false }
            unsafe place.copyBytes(from: bytes)
            return true
        }
        guard isWritten else { return }
        let descriptor = Glibc.socket(
            AF_UNIX, Int32(SOCK_DGRAM.rawValue | SOCK_CLOEXEC.rawValue | SOCK_NONBLOCK.rawValue), 0)
        guard descriptor >= 0 else { return }
        defer { close(descriptor) }
        let message = Array(state.message.utf8)
        let length = socklen_t(MemoryLayout<sa_family_t>.size + bytes.count)
        unsafe withUnsafePointer(to: address) { pointer in
            unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                _ = unsafe sendto(
                    descriptor, message, message.count, Int32(MSG_NOSIGNAL), $0,
                    // The zero byte at the end of a path counts.
                    bytes[0] == 0 ? length : length + 1)
            }
        }
    }

    /// The socket of the manager that started this program; nil without one.
    package static var environmentSocket: String? {
        guard let text = unsafe getenv("NOTIFY_SOCKET") else { return nil }
        return unsafe String(cString: text)
    }
}
