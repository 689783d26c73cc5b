import Glibc

/// Socket calls for the tests' servers.
enum LoopbackSocket {
    struct Failure: Error {
        let call: String
        let errno: Int32
    }

    /// A socket on a free port of 127.0.0.1, and that port. With a nil `backlog` it does not listen.
    static func bound(backlog: Int32?) throws -> (descriptor: Int32, port: UInt16) {
        let descriptor = stream(flags: 0)
        var address = self.address(port: 0)
        var length = socklen_t(MemoryLayout<sockaddr_in>.size)
        let result = unsafe withUnsafeMutablePointer(to: &address) { pointer in
            unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { pointer -> Int32 in
                guard unsafe bind(descriptor, pointer, length) == 0 else { return -1 }
                if let backlog, listen(descriptor, backlog) != 0 { return -1 }
                return unsafe getsockname(descriptor, pointer, &length)
            }
        }
        guard result == 0 else { throw Failure(call: "bind, listen or getsockname", errno: errno) }
        return (descriptor, UInt16(bigEndian: address.sin_port))
    }

    /// A socket that listens on one port of every address of this machine, IPv4 and IPv6, and that port.
    static func boundToAllAddresses(backlog: Int32) throws -> (descriptor: Int32, port: UInt16) {
        let descriptor = socket(AF_INET6, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
        // All zeros is the unspecified address, `::`.
        var address = sockaddr_in6()
        address.sin6_family = sa_family_t(AF_INET6)
        var length = socklen_t(MemoryLayout<sockaddr_in6>.size)
        var isOff: Int32 = 0
        unsafe setsockopt(
            descriptor, Int32(IPPROTO_IPV6), IPV6_V6ONLY, &isOff, socklen_t(MemoryLayout<Int32>.size))
        let result = unsafe withUnsafeMutablePointer(to: &address) { pointer in
            unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { pointer -> Int32 in
                guard unsafe bind(descriptor, pointer, length) == 0 else { return -1 }
                guard listen(descriptor, backlog) == 0 else { return -1 }
                return unsafe getsockname(descriptor, pointer, &length)
            }
        }
        guard result == 0 else { throw Failure(call: "bind, listen or getsockname", errno: errno) }
        return (descriptor, UInt16(bigEndian: address.sin6_port))
    }

    /// Starts to connect to a port, without waiting.
    static func beginConnecting(to port: UInt16) -> Int32 {
        let descriptor = stream(flags: SOCK_NONBLOCK.rawValue)
        var address = self.address(port: port)
        _ = unsafe withUnsafePointer(to: &address) { pointer in
            unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                unsafe connect(descriptor, $0, socklen_t(MemoryLayout<sockaddr_in>.size))
            }
        }
        return descriptor
    }

    /// Waits until a descriptor is ready. Returns false if the gate opened first.
    static func wait(for descriptor: Int32, _ events: Int32, or stop: Gate) -> Bool {
        var polled = [
            pollfd(fd: descriptor, events: Int16(events), revents: 0),
            pollfd(fd: stop.descriptor, events: Int16(POLLIN), revents: 0),
        ]
        while unsafe poll(&polled, 2, -1) < 0, errno == EINTR {}
        return polled[1].revents == 0
    }

    /// Makes `close` send a reset.
    static func resetOnClose(_ descriptor: Int32) {
        var option = linger(l_onoff: 1, l_linger: 0)
        unsafe setsockopt(descriptor, SOL_SOCKET, SO_LINGER, &option, socklen_t(MemoryLayout<linger>.size))
    }

    private static func stream(flags: UInt32) -> Int32 {
        socket(AF_INET, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue | flags), 0)
    }

    private static func address(port: UInt16) -> sockaddr_in {
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = port.bigEndian
        address.sin_addr.s_addr = UInt32(INADDR_LOOPBACK).bigEndian
        return address
    }
}

/// A port whose connections are never accepted: its backlog is full.
public final class BlackHolePort: Sendable {
    private let listening: Int32
    private let queued: [Int32]
    /// The port.
    public let port: UInt16

    /// Listens, and fills the backlog.
    public init() throws {
        let port: UInt16
        (listening, port) = try LoopbackSocket.bound(backlog: 0)
        self.port = port
        queued = (0..<4).map { _ in LoopbackSocket.beginConnecting(to: port) }
    }

    deinit {
        for descriptor in queued { close(descriptor) }
        close(listening)
    }
}

/// A port where no server listens, reserved until the object is released.
public final class ClosedPort: Sendable {
    private let descriptor: Int32
    /// The port.
    public let port: UInt16

    /// Reserves a free port.
    public init() throws { (descriptor, port) = try LoopbackSocket.bound(backlog: nil) }

    deinit { close(descriptor) }
}
