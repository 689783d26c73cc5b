/// The network interfaces by rtnetlink: which are up, which have addresses, and which one a packet to the internet
/// takes.
struct NetworkTable: Equatable {
    struct Interface: Equatable {
        let name: String
        /// Its ARPHRD number: 1 for Ethernet.
        let type: UInt16
        /// Whether it is up and has a carrier, and is not loopback.
        let carries: Bool
    }

    /// By interface number.
    private(set) var interfaces: [UInt32: Interface] = [:]
    /// The numbers of the interfaces that have addresses.
    private(set) var addressed: Set<UInt32> = []
    /// The numbers of the interfaces that lead to the internet, the preferred one first.
    private(set) var internetInterfaces: [UInt32] = []

    /// Adds one message of an answer. A truncated message, or one of another type, changes nothing.
    mutating func take(_ message: NetlinkMessage) {
        let body = message.body
        switch message.type {
        case NetlinkMessage.newLink:
            // struct ifinfomsg: family 1, pad 1, type 2, index 4, flags 4, change 4.
            let (up, loopback, running): (UInt32, UInt32, UInt32) = (0x1, 0x8, 0x40)
            guard let type = body.number(UInt16.self, at: 2), let index = body.number(UInt32.self, at: 4),
                let flags = body.number(UInt32.self, at: 8), let name = message.attribute(3, after: 16)
            else { return }
            interfaces[index] = Interface(
                name: String(decoding: name.prefix { $0 != 0 }, as: UTF8.self), type: type,
                carries: flags & (up | loopback | running) == up | running)
        case NetlinkMessage.newAddress:
            // struct ifaddrmsg: family 1, prefix 1, flags 1, scope 1, index 4.
            guard let index = body.number(UInt32.self, at: 4) else { return }
            addressed.insert(index)
        case NetlinkMessage.newRoute:
            // struct rtmsg: family, two lengths, service, table, protocol, scope, type: 1 each, flags 4.
            let unicast: UInt8 = 1
            guard body.count >= 12, body[7] == unicast,
                let index = message.attribute(4, after: 12)?.number(UInt32.self, at: 0)
            else { return }
            internetInterfaces.append(index)
        default: break
        }
    }

    /// The path of packets to the internet, else to a local network. `link` finds the kind of an interface.
    func path(link: (Interface) -> NetworkPath.Link) -> NetworkPath {
        func usable(_ index: UInt32) -> Interface? {
            guard addressed.contains(index), let interface = interfaces[index], interface.carries else {
                return nil
            }
            return interface
        }
        if let interface = internetInterfaces.lazy.compactMap(usable).first {
            return NetworkPath(reach: .internet, link: link(interface), interface: interface.name)
        }
        if let interface = interfaces.keys.sorted().lazy.compactMap(usable).first {
            return NetworkPath(reach: .local, link: link(interface), interface: interface.name)
        }
        return NetworkPath(reach: .none)
    }
}
