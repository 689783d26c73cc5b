import CSystem
import Glibc
import SystemSupport

/// A socket that listens.
final class Listener: Sendable {
    /// The port it listens on, which the system chose if 0 was asked for.
    let port: UInt16
    /// Connections the system keeps for us until they are accepted.
    private static let backlog: Int32 = 512
    private let descriptor: Lock<Int32?>

    init(address: String, port: UInt16) throws(CatalogueServiceError) {
        var socketAddress = try SocketAddress(address, port: port)
        let descriptor = socket(
            socketAddress.family,
            Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue | SOCK_NONBLOCK.rawValue), 0)
        guard descriptor >= 0 else { throw .system(call: "socket", errno: errno) }
        do {
            self.port = try Self.listen(descriptor, at: &socketAddress, address, port)
        } catch {
            close(descriptor)
            throw error
        }
        self.descriptor = Lock(descriptor)
    }

    deinit { stop() }

    /// The descriptor to wait on; nil once stopped.
    var waitable: Int32? { descriptor.withLock { $0 } }

    /// Lets go of the port; connections not yet accepted are reset.
    func stop() {
        guard let descriptor = descriptor.withLock({ $0.take() }) else { return }
        // A program that is being started has a copy of the descriptor for a moment, which would go on listening.
        _ = shutdown(descriptor, Int32(SHUT_RDWR))
        close(descriptor)
    }

    /// The next connection, or the error number of the call that gave none.
    func accept() -> Result<Int32, AcceptFailure> {
        guard let descriptor = waitable else { return .failure(AcceptFailure(errno: EBADF)) }
        let connection = csystem_accept(descriptor, nil, nil)
        return connection >= 0 ? .success(connection) : .failure(AcceptFailure(errno: errno))
    }

    struct AcceptFailure: Error {
        let errno: Int32

        /// Whether no connection can be accepted until others end: descriptors or memory are used up.
        var isExhaustion: Bool { [EMFILE, ENFILE, ENOBUFS, ENOMEM].contains(errno) }
    }

    private static func listen(
        _ descriptor: Int32, at socketAddress: inout SocketAddress, _ address: String, _ port: UInt16
    ) throws(CatalogueServiceError) -> UInt16 {
        var yes: Int32 = 1
        // Without it a port stays in use for a minute after the connections of the last run.
        _ = unsafe setsockopt(descriptor, SOL_SOCKET, SO_REUSEADDR, &yes, socklen_t(MemoryLayout<Int32>.size))
        guard unsafe socketAddress.withPointer({ unsafe bind(descriptor, $0, $1) }) == 0 else {
            throw bindError(errno, address, port)
        }
        guard Glibc.listen(descriptor, backlog) == 0 else { throw bindError(errno, address, port) }
        return try SocketAddress.port(of: descriptor)
    }

    private static func bindError(_ errno: Int32, _ address: String, _ port: UInt16) -> CatalogueServiceError
    {
        switch errno {
        case EADDRINUSE: .portInUse(address: address, port: port)
        case EACCES, EPERM: .portNotPermitted(port: port)
        case EADDRNOTAVAIL: .addressNotHere(address)
        default: .system(call: "bind", errno: errno)
        }
    }
}
