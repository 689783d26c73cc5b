import Glibc

/// The socket of a service manager, as systemd's: it receives the datagrams of sd_notify(3).
package final class NotifySocket: Sendable {
    private let descriptor: Int32
    /// The limit only ends a service that never reports: it does not measure speed.
    private static let receiveTimeout = timeval(tv_sec: 300, tv_usec: 0)

    /// - Parameter name: a path, or a name after `@` in the abstract namespace (unix(7)).
    /// - Throws: the `errno` of a failed bind.
    package init(_ name: String) throws(Failure) {
        descriptor = socket(AF_UNIX, Int32(SOCK_DGRAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
        var timeout = Self.receiveTimeout
        _ = unsafe setsockopt(
            descriptor, SOL_SOCKET, SO_RCVTIMEO, &timeout, socklen_t(MemoryLayout<timeval>.size))
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        let bytes = name.hasPrefix("@") ? [0] + Array(name.utf8.dropFirst()) : Array(name.utf8) + [0]
        unsafe withUnsafeMutableBytes(of: &address.sun_path) { unsafe $0.copyBytes(from: bytes) }
        let bound = unsafe withUnsafePointer(to: address) { pointer in
            unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                unsafe bind(descriptor, $0, socklen_t(MemoryLayout<sa_family_t>.size + bytes.count))
            }
        }
        if bound != 0 { throw Failure(errno: errno) }
    }

    deinit { close(descriptor) }

    package struct Failure: Error {
        let errno: Int32
    }

    /// The next datagram. Blocks.
    package func message() -> String {
        var bytes = [UInt8](repeating: 0, count: 200)
        let count = unsafe recv(descriptor, &bytes, bytes.count, 0)
        return String(decoding: bytes.prefix(max(0, count)), as: UTF8.self)
    }
}
