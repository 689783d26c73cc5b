import CMarqueeSystem
import SystemSupport

/// A socket that the kernel sends a message to when links, addresses or routes change (rtnetlink(7)).
final class RouteSocket {
    /// The multicast groups for changes of links, addresses and routes, IPv4 and IPv6.
    private static let changes: UInt32 = 0x1 | 0x10 | 0x40 | 0x100 | 0x400

    private let socket: Descriptor
    var descriptor: Int32 { socket.number }

    /// Nil if this process may not use rtnetlink.
    init?() {
        let descriptor = csystem_open_route_socket(Self.changes)
        if descriptor < 0 { return nil }
        socket = Descriptor(descriptor)
    }

    /// Discards the messages.
    func drain() {
        var message = [UInt8](repeating: 0, count: 64 * 1024)
        while unsafe recv(descriptor, &message, message.count, 0) > 0 {}
    }
}

/// The network interfaces that have addresses, and which of them lead to the internet. Made in about 0.1 ms.
struct NetworkTable {
    struct Interface {
        let name: String
        /// Whether it is up and has a carrier, and is not loopback.
        let carries: Bool
        /// One of its addresses: 4 or 16 bytes.
        let address: [UInt8]
    }

    /// Each interface with each of its addresses, in the system's order.
    var interfaces: [Interface] = []
    /// The own addresses of packets to the internet, by IPv4 and by IPv6.
    var sources: [[UInt8]] = []

    /// The present state (getifaddrs(3)); nil if the system does not tell it.
    static func current() -> NetworkTable? {
        var first: UnsafeMutablePointer<ifaddrs>?
        guard unsafe getifaddrs(&first) == 0 else { return nil }
        defer { unsafe freeifaddrs(first) }
        var table = NetworkTable()
        var next = unsafe first
        while let entry = unsafe next?.pointee {
            unsafe next = entry.ifa_next
            guard let socket = unsafe entry.ifa_addr, let address = unsafe address(socket) else { continue }
            let (up, loopback, running): (UInt32, UInt32, UInt32) = (0x1, 0x8, 0x40)
            let carries = unsafe entry.ifa_flags & (up | loopback | running) == up | running
            table.interfaces.append(
                Interface(
                    name: unsafe String(cString: entry.ifa_name), carries: carries, address: address))
        }
        table.sources = [rootServer4, rootServer6].compactMap(source)
        return table
    }

    /// The addresses of two root name servers. Nothing is sent to them.
    private static let (rootServer4, rootServer6): ([UInt8], [UInt8]) = (
        [198, 41, 0, 4], [0x20, 0x01, 0x05, 0x03, 0xBA, 0x3E, 0, 0, 0, 0, 0, 0, 0, 2, 0, 0x30]
    )

    /// The own address of packets to a server: the kernel chooses it with the route when a datagram socket is connected,
    /// which sends nothing. Nil without a route.
    private static func source(to server: [UInt8]) -> [UInt8]? {
        let family = server.count == 4 ? AF_INET : AF_INET6
        let descriptor = Descriptor(socket(family, Int32(SOCK_DGRAM.rawValue | SOCK_CLOEXEC.rawValue), 0))
        guard descriptor.number >= 0 else { return nil }
        // sockaddr_in: family 2, port 2, address 4, unused 8. sockaddr_in6: family 2, port 2, label 4, address 16, scope 4.
        let label = [UInt8](repeating: 0, count: server.count == 4 ? 0 : 4)
        var name = [UInt8(family), 0, 0, 53] + label + server + [UInt8](repeating: 0, count: 8)
        return unsafe name.withUnsafeMutableBytes { bytes in
            guard let start = bytes.baseAddress else { return nil }
            var length = socklen_t(bytes.count)
            let socket = unsafe start.assumingMemoryBound(to: sockaddr.self)
            guard unsafe connect(descriptor.number, socket, length) == 0,
                unsafe getsockname(descriptor.number, socket, &length) == 0
            else { return nil }
            return unsafe address(socket)
        }
    }

    /// The address in a `sockaddr_in` or `sockaddr_in6`; nil for another family.
    @unsafe private static func address(_ socket: UnsafePointer<sockaddr>) -> [UInt8]? {
        let range: Range<Int>
        switch unsafe Int32(socket.pointee.sa_family) {
        case AF_INET: range = 4..<8
        case AF_INET6: range = 8..<24
        default: return nil
        }
        let start = unsafe UnsafeRawPointer(socket)
        return range.map { unsafe start.load(fromByteOffset: $0, as: UInt8.self) }
    }

    /// The path of packets to the internet, else to a local network. `link` finds the kind of an interface.
    func path(link: (String) -> NetworkPath.Link) -> NetworkPath {
        let usable = interfaces.filter(\.carries)
        let internet = sources.lazy.compactMap { source in usable.first { $0.address == source } }.first
        guard let name = (internet ?? usable.first)?.name else { return NetworkPath(reach: .none) }
        return NetworkPath(reach: internet == nil ? .local : .internet, link: link(name), interface: name)
    }
}
