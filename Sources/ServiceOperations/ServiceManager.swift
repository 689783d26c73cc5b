internal import HTTPServer
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
        guard let socket, let isAbstract = ["/": false, "@": true][socket.prefix(1)],
            let address = try? SocketAddress(
                path: isAbstract ? String(socket.dropFirst()) : socket, isAbstract: isAbstract)
        else { return }
        let descriptor = Glibc.socket(
            AF_UNIX, Int32(SOCK_DGRAM.rawValue | SOCK_CLOEXEC.rawValue | SOCK_NONBLOCK.rawValue), 0)
        guard descriptor >= 0 else { return }
        defer { close(descriptor) }
        address.send(Array(state.message.utf8), from: descriptor)
    }

    /// The socket of the manager that started this program; nil without one.
    package static var environmentSocket: String? {
        guard let text = unsafe getenv("NOTIFY_SOCKET") else { return nil }
        return unsafe String(cString: text)
    }
}
