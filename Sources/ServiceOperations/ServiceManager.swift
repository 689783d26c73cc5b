package import HTTPServer
internal import SystemSupport

/// Reports the service's state to the service manager (sd_notify(3)): a datagram to the socket in `NOTIFY_SOCKET`.
///
///     READY=1        STOPPING=1        RELOADING=1\nMONOTONIC_USEC=8123456
package enum ServiceManager {
    package enum State: Sendable {
        case ready, stopping
        /// The service serves. A manager that hears nothing for the time of its watchdog starts it anew.
        case alive
        /// The service reads its files anew; `ready` follows. The time tells the manager that it is the answer to its
        /// own signal (systemd.service(5), `notify-reload`).
        case reloading

        var message: String {
            switch self {
            case .ready: return "READY=1"
            case .stopping: return "STOPPING=1"
            case .alive: return "WATCHDOG=1"
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

    /// How often the manager wants to hear of a program that is alive (sd_watchdog_enabled(3)); nil if it does not.
    package static func watchdog(_ environment: [String: String]) -> Duration? {
        guard isForThisProcess(environment["WATCHDOG_PID"]),
            let time = environment["WATCHDOG_USEC"].flatMap({ Int($0) }), time > 0
        else { return nil }
        return .microseconds(time)
    }

    /// The sockets that the manager has opened (sd_listen_fds(3)), by their names; empty without any.
    package static func sockets(_ environment: [String: String]) -> [(name: String, address: ListenAddress)] {
        guard environment["LISTEN_PID"] != nil, isForThisProcess(environment["LISTEN_PID"]),
            let count = environment["LISTEN_FDS"].flatMap({ Int32($0) }), (1...64).contains(count)
        else { return [] }
        let names =
            environment["LISTEN_FDNAMES"]?.split(separator: ":", omittingEmptySubsequences: false) ?? []
        return (0..<count).compactMap { index in
            ListenAddress.passed(3 + index).map { address in
                (names.indices.contains(Int(index)) ? String(names[Int(index)]) : "", address)
            }
        }
    }

    private static func isForThisProcess(_ text: String?) -> Bool { text.map { $0 == "\(getpid())" } ?? true }

    /// The socket of the manager that started this program; nil without one.
    package static var environmentSocket: String? {
        guard let text = unsafe getenv("NOTIFY_SOCKET") else { return nil }
        return unsafe String(cString: text)
    }
}
